"""Features of words in context as 64-bit keys, and the table of the keys seen in training.

A word is a row of attribute codes (uint64, 0 for a missing one); a template joins one or two attributes of
words at given distances. Keys are stored whole, not folded into buckets: features of the tagger never share a
weight, and features unseen in training have no cost.
"""

import numpy as np

from qsproj.kernels.compilation import njit

# The code of every attribute of positions outside a sentence.
BOUNDARY = np.uint64(0x5851F42D4C957F2D)


@njit(cache=True)
def mixed(value):
    """Return 64 well-mixed bits of a uint64 (the finaliser of splitmix64, Steele et al. 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True)
def feature_keys(attributes, words, templates, keys):
    """Fill ``keys`` uint64[n, K] with the features of words, 0 for none, from their types' attributes.

    ``words`` int32[n]: types; -1 between sentences, in as many places as templates reach.
    """
    n = len(words)
    for i in range(n):
        for k in range(len(templates)):
            key = np.uint64(k + 1) * np.uint64(0x9E3779B97F4A7C15)
            fires = words[i] >= 0
            for part in range(2):
                attribute = templates[k, 2 * part]
                if attribute < 0:
                    continue
                place = i + templates[k, 2 * part + 1]
                inside = 0 <= place < n and words[place] >= 0
                code = attributes[words[place], attribute] if inside else BOUNDARY
                fires = fires and code != np.uint64(0)
                key = mixed(key + code)
            keys[i, k] = max(key, np.uint64(1)) if fires else np.uint64(0)


@njit(cache=True)
def find_rows(keys, slots, rows, found):
    """Fill ``found`` int32[n, K] with the row of each key in the table of :func:`fill_table`, or -1."""
    mask = np.uint64(len(slots) - 1)
    for i in range(keys.shape[0]):
        for k in range(keys.shape[1]):
            key = keys[i, k]
            found[i, k] = -1
            if key == np.uint64(0):
                continue
            slot = key & mask
            while slots[slot] != np.uint64(0):
                if slots[slot] == key:
                    found[i, k] = rows[slot]
                    break
                slot = (slot + np.uint64(1)) & mask


@njit(cache=True)
def fill_table(keys, slots, rows):
    """Insert distinct non-zero ``keys`` uint64[R] as rows 0..R-1 into an empty table of 2^b > R slots."""
    mask = np.uint64(len(slots) - 1)
    for row in range(len(keys)):
        slot = keys[row] & mask
        while slots[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = keys[row]
        rows[slot] = row
