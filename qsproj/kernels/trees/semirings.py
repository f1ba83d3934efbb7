"""Three semirings for one set of charts: probabilities, their natural logs, and maxima of natural logs.

A chart kernel takes ``semiring`` as a number and calls these functions, so that a recursion is written once.
The choice is made once for each row, not within it. Numbers may be complex: if imaginary parts of weights are
slopes times a tiny step, so are those of results (Squire and Trapp 1998).

Also log-marginals from the derivatives of log Z, accurate where the marginal is too small for a float.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit

PROBABILITY, LOG, MAXIMUM = 0, 1, 2

# The exponential of a lower number is 0.
LEAST = -746.0
# "nnan" lets maxima use vector instructions; it is safe where scores are finite or -inf, since
# the kernels that have it only ever add and compare.
MAXIMUM_FLAGS = {"reassoc", "contract", "nsz", "arcp", "nnan"}


@njit(cache=True, error_model="numpy", fastmath=FAST)
def zero(semiring):
    """Return the neutral element of addition: 0, or -inf on the log scale."""
    return 0.0 if semiring == PROBABILITY else -np.inf


@njit(cache=True, error_model="numpy", fastmath=FAST)
def one(semiring):
    """Return the neutral element of multiplication: 1, or 0 on the log scale."""
    return 1.0 if semiring == PROBABILITY else 0.0


@njit(cache=True, error_model="numpy", fastmath=FAST)
def times(x, y, semiring):
    return x * y if semiring == PROBABILITY else x + y


@njit(cache=True, error_model="numpy", fastmath=FAST)
def plus(x, y, semiring):
    if semiring == PROBABILITY:
        return x + y
    high, low = (x, y) if x.real > y.real else (y, x)
    if semiring == MAXIMUM or low.real <= high.real + LEAST:
        return high
    return high + logarithm(1.0 + exponential(low - high))


@njit(cache=True, error_model="numpy", fastmath=FAST)
def exponential(x):
    """Return exp(x) of a finite number; of a complex one to first order in its tiny imaginary part."""
    return np.exp(x.real) * (x - x.real + 1.0)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def logarithm(x):
    """Return the natural log of a number; of a complex one to first order in its tiny imaginary part."""
    return np.log(x.real) + (x - x.real) * (1.0 / x.real)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def product(left, right):
    total = 0.0
    for k in range(left.shape[0]):
        total += left[k] * right[k]
    return total


@njit(cache=True, error_model="numpy", fastmath=FAST)
def inner(left, right, semiring):
    """Return the inner product of two rows of the same length; zero when they are empty."""
    if semiring == PROBABILITY:
        return product(left, right)
    best = -np.inf
    for k in range(left.shape[0]):
        value = left[k].real + right[k].real
        # Not max(), which is slower without "nnan".
        if value > best:
            best = value
    if semiring == MAXIMUM or best == -np.inf:
        return best
    mass = 0.0
    for k in range(left.shape[0]):
        value = left[k] + right[k] - best
        if value.real > LEAST:
            mass += exponential(value)
    return best + logarithm(mass)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_multiple(target, factor, row, semiring):
    """Add ``factor`` times ``row`` to ``target``, in place."""
    if factor == zero(semiring):
        return
    if semiring == PROBABILITY:
        for k in range(row.shape[0]):
            target[k] += factor * row[k]
    else:
        for k in range(row.shape[0]):
            target[k] = plus(target[k], factor + row[k], semiring)


@njit(cache=True, error_model="numpy")
def log_marginals(scores, shifts, derivatives):
    """Return log(derivative) + score - shift for every arc, and whether the result of an allowed arc is zero.

    ``shifts`` float64[n+1]: subtracted from each column before the exponential; ``shifts[0]`` from row 0, in
    addition to the shifts of its columns. ``derivatives``: d log Z / d weight, the
    weight being exp(score - shift). Zero for an allowed arc: no tree has it, or it has underflowed.
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
