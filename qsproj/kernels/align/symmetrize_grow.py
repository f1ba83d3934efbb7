"""Growing an alignment from the intersection of two directions towards their union."""

import numpy as np

from qsproj.kernels.compilation import njit

# Rows of steps to the eight neighbours of a link: adjacent ones first, then diagonal ones.
NEIGHBOURS = np.array([(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)])


@njit(cache=True)
def grow(links, union, sources, targets):
    """Add adjacent links of ``union`` that align a free word to ``links`` bool[m, n]; O(m n) a round."""
    m, n = links.shape
    grown = True
    while grown:
        grown = False
        for i in range(m):
            for j in range(n):
                if not links[i, j]:
                    continue
                for k in range(len(NEIGHBOURS)):
                    a, b = i + NEIGHBOURS[k, 0], j + NEIGHBOURS[k, 1]
                    inside = 0 <= a < m and 0 <= b < n
                    if inside and union[a, b] and not links[a, b] and not (sources[a] and targets[b]):
                        links[a, b] = sources[a] = targets[b] = True
                        grown = True


@njit(cache=True)
def add_between_free_words(links, candidates, sources, targets):
    """Add to ``links`` bool[m, n] each candidate whose two words have no link yet, row by row."""
    m, n = links.shape
    for i in range(m):
        for j in range(n):
            if candidates[i, j] and not sources[i] and not targets[j]:
                links[i, j] = sources[i] = targets[j] = True
