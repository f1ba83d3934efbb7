"""Trees that come of a source tree when some of its arcs are turned round: guesses at the target tree."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

# Whether other dependents of a word stay with it or move to the topmost word turned over it; the other two
# have a fan where the first two have a chain, and a chain where they have a fan.
TREES = ("stay", "move", "other-stay", "other-move")


@njit(cache=True, error_model="numpy")
def chains_above(heads, turned, innermost, outermost, outwards):
    """Put the words turned over each word in order.

    From inside out, those on its right come first, the nearest innermost, then those on its left.

    ``heads`` int32[n+1]. ``turned`` bool[n+1]. ``innermost``, ``outermost`` int32[n+1]: filled with the first
    and the last word of the chain over each word; -1 where there is none. ``outwards`` int32[n+1]: filled
    with the word after each turned word on its chain; -1 for the last.
    """
    n = heads.shape[0] - 1
    innermost[:] = -1
    outermost[:] = -1
    outwards[:] = -1
    for k in range(2 * n):
        on_right = k < n
        word = k + 1 if on_right else 2 * n - k
        head = heads[word]
        if not turned[word] or (head < word) != on_right:
            continue
        if innermost[head] < 0:
            innermost[head] = word
        else:
            outwards[outermost[head]] = word
        outermost[head] = word


@njit(cache=True, error_model="numpy")
def turned_trees(heads, turned, nests, trees):
    """Write the heads of the trees of TREES, in which each turned word stands above its source head.

    The words turned over a word are a chain, in which each heads the one inside it, or a fan, in which the
    outermost heads the word and all others. The outermost stands where the word stood.

    ``heads`` int32[n+1]: the source tree, without cycles; -1 where a head is missing. ``turned`` bool[n+1]:
    False for words without a head and for dependents of the root. ``nests`` bool[n+1]: whether the words over
    each word are a chain in the first two trees. ``trees`` int32[4, n+1]: filled.
    """
    size = heads.shape[0]
    innermost, outermost, outwards = (
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    chains_above(heads, turned, innermost, outermost, outwards)
    top = np.empty(size, np.int32)
    for word in range(size):
        above = word
        while outermost[above] >= 0:
            above = outermost[above]
        top[word] = above
    trees[:, 0] = -1
    for word in range(1, size):
        if innermost[word] >= 0:
            for tree in range(4):
                trees[tree, word] = innermost[word] if nests[word] == (tree < 2) else top[word]
            continue
        # The word is the topmost of the phrases of some of its source ancestors; it stands for the highest.
        phrase = word
        while heads[phrase] > 0 and top[heads[phrase]] == word:
            phrase = heads[phrase]
        head = heads[phrase]
        for tree in range(4):
            if head < 0:
                trees[tree, word] = -1
            elif turned[phrase]:
                trees[tree, word] = outwards[phrase] if nests[head] == (tree < 2) else top[head]
            else:
                trees[tree, word] = top[head] if tree % 2 else head
