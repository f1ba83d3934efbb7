"""Log-marginals from the derivatives of log Z: accurate where the marginal is too small for a float."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def log_marginals(scores, shifts, derivatives):
    """Return log(derivative) + score - shift for every arc, and whether an allowed arc came out as zero.

    ``shifts`` float64[n+1]: what was subtracted from each column before exponentials were taken;
    ``shifts[0]`` from row 0, beside the shifts of its columns. ``derivatives``: d log Z / d weight, the
    weight being exp(score - shift). Zero for an allowed arc: either no tree has it, or its probability has
    underflowed.
    """
    size = scores.shape[0]
    logs = np.full((size, size), -np.inf)
    lost = False
    for h in range(size):
        for d in range(1, size):
            if h != d and scores[h, d] > -np.inf:
                if derivatives[h, d] > 0.0:
                    shift = shifts[d] + shifts[0] if h == 0 else shifts[d]
                    logs[h, d] = np.log(derivatives[h, d]) + scores[h, d] - shift
                else:
                    lost = True
    return logs, lost
