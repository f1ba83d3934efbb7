"""What stands near a word in its tree: which dependents it has, and where it stands among its siblings."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

# The largest number of siblings on one side that is told from more.
MOST_SIBLINGS = 2


@njit(cache=True, error_model="numpy")
def find_relatives(heads, tags, classes, nominals, nodes, ranks):
    """Find some relatives of each word, and how many bare nominal siblings are on either side of it.

    A nominal is bare where no adposition depends on it: these are the dependents whose order tells subject
    from object. ``heads`` int32[n+1]: -1 where missing. ``tags`` uint8[n+1]: numbers of UPOS. ``classes``
    int64[C]: bits of the tags of each class of dependents, adpositions first; ``nominals``: those of
    nominals. Written: ``nodes`` int32[n+1, C+3]: by class its first dependent, then the first and the last
    dependent, then the head; -1 for none. ``ranks`` int64[n+1]: MOST_SIBLINGS + 1 times the siblings to the
    left, plus those to the right, each at most MOST_SIBLINGS.
    """
    count, first = heads.shape[0], classes.shape[0]
    nodes[:] = -1
    ranks[:] = 0
    for word in range(1, count):
        head = heads[word]
        if head < 0:
            continue
        nodes[word, first + 2] = head
        nodes[head, first + 1] = word
        if nodes[head, first] < 0:
            nodes[head, first] = word
        for k in range(first):
            if nodes[head, k] < 0 and (classes[k] >> tags[word]) & 1:
                nodes[head, k] = word
    seen = np.empty(count, np.int64)
    for side in (MOST_SIBLINGS + 1, 1):
        seen[:] = 0
        for step in range(1, count):
            word = step if side > 1 else count - step
            head = heads[word]
            if head < 0:
                continue
            ranks[word] += side * min(seen[head], MOST_SIBLINGS)
            if (nominals >> tags[word]) & 1 and nodes[word, 0] < 0:
                seen[head] += 1
