"""Kernels of the dependency model with valence, monolingual and quasi-synchronous."""
