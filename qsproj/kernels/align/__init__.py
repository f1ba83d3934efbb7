"""Kernels of word alignment."""
