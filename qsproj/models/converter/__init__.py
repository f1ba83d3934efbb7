"""Converters between annotation styles."""
