"""Kernels of converters between annotation styles."""
