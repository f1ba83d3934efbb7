"""The order in which the matrix-tree kernels eliminate words, so that each word is once the last one left.

The head of word m, all other words summed out, can be read off without a subtraction when m is the last
word to remain. Doing that n times from scratch would cost O(n^4). Halving shares the work: of the words of
a block, eliminate the first half, treat the second half alike, go back, and exchange the halves; that is
T(n) = 2 T(n / 2) + O(n^3) = O(n^3).
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

ELIMINATE = 0
SUBSTITUTE = 1
_VISIT = 2


@njit(cache=True, error_model="numpy")
def _put(row, kind, level, start, stop, gone, left):
    """Write one step; assigning an array of literals would take seconds to compile."""
    row[0], row[1], row[2], row[3], row[4], row[5] = kind, level, start, stop, gone, left


@njit(cache=True, error_model="numpy")
def leave_one_out_schedule(n):
    """List the steps for the words 1..n.

    Returns int64[4 (n - 1), 6]: rows (kind, level, start, stop, gone, left). ``start..stop-1`` are the words
    of a block, whose reduced weights lie at ``level``; ``gone`` is the first word of the half that is
    eliminated, ``left`` that of the half that stays. ELIMINATE copies the block to ``level + 1`` and
    eliminates there; SUBSTITUTE comes when the half that stays is done, and undoes it from the last word to
    the first; ``depth``: number of levels.
    """
    depth = 1
    while (1 << (depth - 1)) < n:
        depth += 1
    steps = np.empty((max(4 * (n - 1), 1), 6), np.int64)
    stack = np.empty((6 * depth + 6, 6), np.int64)
    _put(stack[0], _VISIT, 0, 1, n + 1, 0, 0)
    top, count = 1, 0
    while top > 0:
        top -= 1
        kind, level, start, stop = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if kind != _VISIT:
            _put(steps[count], kind, level, start, stop, stack[top, 4], stack[top, 5])
            count += 1
        elif stop - start > 1:
            middle = (start + stop) // 2
            # The stack gives back last in first out: these six lines read from the last step to the first.
            _put(stack[top], SUBSTITUTE, level, start, stop, middle, start)
            _put(stack[top + 1], _VISIT, level + 1, start, middle, 0, 0)
            _put(stack[top + 2], ELIMINATE, level, start, stop, middle, start)
            _put(stack[top + 3], SUBSTITUTE, level, start, stop, start, middle)
            _put(stack[top + 4], _VISIT, level + 1, middle, stop, 0, 0)
            _put(stack[top + 5], ELIMINATE, level, start, stop, start, middle)
            top += 6
    return steps[:count], depth
