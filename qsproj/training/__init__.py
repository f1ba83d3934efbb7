"""Objectives, optimisers and training loops over arrays."""
