"""Kernels that hash features, score with them, and step their weights."""
