"""Conventions of all layers: indices, dtypes and their checks.

Words are 1..n and 0 is the artificial root. A heads array has shape (n+1,), dtype int32, and
``heads[0] == NO_HEAD``. Arc scores have shape (n+1, n+1), dtype float64, axes [head, dependent],
natural-log scale; ``-inf`` is the only way to say "forbidden"; column 0 and the diagonal are ignored.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROOT = 0
NO_HEAD = -1
MAX_WORDS = 1000  # the parsers' limit: time grows with the cube of the length

Heads = NDArray[np.int32]
Scores = NDArray[np.float64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Numbers = NDArray[np.int32]  # of words, tags, relations, variables
Hashes = NDArray[np.uint64]  # of features and what they are made of
Weights = NDArray[np.float32]
Rng = np.random.Generator  # what random draws come from


def frozen_heads(heads: ArrayLike) -> Heads:
    """Return ``heads`` as a read-only int32[n+1] array with ``heads[0] == NO_HEAD``.

    Raises ValueError if it is not one-dimensional or empty, gives the root a head, or one is out of range.
    """
    array = np.array(heads, dtype=np.int32)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"heads have shape {array.shape}, expected (n+1,)")
    if array[0] != NO_HEAD:
        raise ValueError(f"heads[0] is {array[0]}, expected {NO_HEAD}: the root has no head")
    if array.min() < NO_HEAD or array.max() >= array.size:
        raise ValueError(f"a head is outside {NO_HEAD}..{array.size - 1}")
    array.flags.writeable = False
    return array


def spawned(rng: Rng, count: int) -> list[Rng]:
    """Return generators that are independent of ``rng`` and leave its stream as it is."""
    # NumPy 1.25 has public names for this.
    seeds: np.random.SeedSequence = getattr(rng.bit_generator, "_seed_seq")  # noqa: B009
    return list(map(np.random.default_rng, seeds.spawn(count)))


def is_whole(heads: Heads) -> bool:
    """Return whether every word has a head."""
    return NO_HEAD not in heads[1:].tolist()


def starts_of(sizes: ArrayLike) -> NDArray[np.int64]:
    """Return where consecutive parts of these sizes int[k] begin, and the last one ends, int64[k+1]."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def check_scores(scores: ArrayLike) -> Scores:
    """Return ``scores`` as a C-contiguous float64[n+1, n+1] array, copied only where necessary.

    Raises ValueError if it is not square, has no word, or has NaN or +inf outside column 0 and the diagonal.
    """
    array = np.ascontiguousarray(scores, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise ValueError(f"arc scores have shape {array.shape}, expected (n+1, n+1) with n >= 1")
    # A quick first test: the maximum over the whole array is NaN if any entry is.
    if not np.maximum.reduce(array, axis=None) < np.inf:
        bad = np.argwhere(~(array[:, 1:] < np.inf))
        bad = bad[bad[:, 0] != bad[:, 1] + 1]
        if bad.size:
            h, d = int(bad[0, 0]), int(bad[0, 1]) + 1
            raise ValueError(
                f"scores[{h}, {d}] is {array[h, d]}, expected finite or -inf for an arc {h} -> {d}"
            )
    return array
