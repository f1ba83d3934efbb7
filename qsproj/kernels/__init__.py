"""Numeric kernels (numba): arrays in, arrays out; nothing of ours is imported here."""
