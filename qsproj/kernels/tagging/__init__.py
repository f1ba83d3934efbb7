"""Kernels of taggers: the linear chain, its features, word classes."""
