"""Numeric kernels (numba) over arrays; they import no other part of qsproj."""
