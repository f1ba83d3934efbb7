"""Kernels that hash features, compute scores, and update weights."""
