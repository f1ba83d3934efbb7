"""Kernels over trees: sums, maxima, samples.

``scores`` are float64[n+1, n+1] natural-log arc scores [head, dependent], C-contiguous, finite or -inf;
column 0 and the diagonal are not read. ``single_root``: whether the root must have exactly one dependent.
Heads are int32[n+1], ``heads[0] == -1``.
"""
