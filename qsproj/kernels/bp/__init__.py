"""Kernels of belief propagation: one file for the messages of each factor."""
