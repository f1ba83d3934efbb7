"""Kernels of tree inference: projective, non-projective, second order."""
