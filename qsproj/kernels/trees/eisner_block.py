"""Trees of several sentences in one call, since what Python does between calls takes as long."""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.label_features import best_relations, sum_relations
from qsproj.kernels.trees.eisner import eisner_best, eisner_posterior


@njit(cache=True, error_model="numpy")
def decode_block(scores, sizes, single_root, expected, heads, done):
    """Find the best projective tree of each sentence.

    ``scores`` float64[sum of sizes squared]: arc scores of one sentence after the other, as ``eisner_best``
    takes them. ``sizes`` int64[S]: n + 1 of each. ``expected``: whether a tree is best that has most expected
    right heads, or that is most probable. ``heads`` int32[sum of sizes], written: the trees. ``done``
    bool[S], written: False where no tree is possible, or where sums leave the range in which they are exact;
    the heads are then meaningless.
    """
    begin, first = 0, 0
    for sentence in range(sizes.shape[0]):
        size = sizes[sentence]
        arcs = scores[begin : begin + size * size].reshape((size, size))
        tree, score = eisner_best(arcs, single_root)
        done[sentence] = score > -np.inf
        if expected and done[sentence]:
            _, marginals, _, done[sentence] = eisner_posterior(arcs, tree, single_root)
            tree, _ = eisner_best(marginals, single_root)
        for word in range(size):
            heads[first + word] = tree[word]
        begin += size * size
        first += size


@njit(cache=True, error_model="numpy")
def possible_arcs(scores, starts, sizes, single_root, least, heads, dependents, counts):
    """Choose the arcs that are probable enough, and those of one tree.

    ``scores`` float64[sum of sizes squared]: arc scores of one sentence after the other, as ``eisner_best``
    takes them. ``starts``, ``sizes`` int64[S]: position of each sentence's root, and n + 1. ``least``: an arc
    of this probability or more is chosen. ``heads``, ``dependents`` int32[sum of sizes squared], written:
    positions, ordered by sentence, head and dependent. ``counts`` int64[S], written: how many arcs each
    sentence has. Returns False when some sums left the range in which they are exact; what is written is then
    meaningless.
    """
    begin, found = 0, 0
    for sentence in range(sizes.shape[0]):
        size, first = sizes[sentence], starts[sentence]
        arcs = scores[begin : begin + size * size].reshape((size, size))
        begin += size * size
        tree, _ = eisner_best(arcs, single_root)
        _, marginals, _, exact = eisner_posterior(arcs, tree, single_root)
        if not exact:
            return False
        tree, _ = eisner_best(marginals, single_root)
        before = found
        for head in range(size):
            for dependent in range(1, size):
                chosen = marginals[head, dependent] >= least or tree[dependent] == head
                if chosen and head != dependent:
                    heads[found] = first + head
                    dependents[found] = first + dependent
                    found += 1
        counts[sentence] = found - before
    return True


@njit(cache=True, error_model="numpy")
def decode_labelled_block(
    scores, starts, sizes, single_root, heads, dependents, counts, relations, chances, trees, places
):
    """Find the projective tree of most expected right labelled arcs of each sentence.

    ``scores``, ``starts``, ``sizes``, ``single_root``, ``heads``, ``dependents``, ``counts`` as of
    :func:`possible_arcs`, of k arcs in all. ``relations`` float64[k, L]: what each relation of each arc adds,
    natural log; -inf for what is no candidate. ``chances`` float64[k, L], written: the probability of each
    relation given the arc. ``trees`` int32[positions], written: the position of each word's head; -1 for
    roots, and left as it is outside of sentences. ``places`` int64[words], written: which of the k arcs is in
    the tree, word by word. Returns as of :func:`possible_arcs`.
    """
    begin, arc, word = 0, 0, 0
    for sentence in range(sizes.shape[0]):
        size, first = sizes[sentence], starts[sentence]
        arcs = scores[begin : begin + size * size].reshape((size, size))
        begin += size * size
        last = arc + counts[sentence]
        own_heads, own_dependents = heads[arc:last] - first, dependents[arc:last] - first
        summed, best = np.empty((size, size)), np.empty((size, size))
        sum_relations(arcs, own_heads, own_dependents, relations[arc:last], summed, chances[arc:last])
        tree, _ = eisner_best(summed, single_root)
        _, marginals, _, exact = eisner_posterior(summed, tree, single_root)
        if not exact:
            return False
        best_relations(marginals, own_heads, own_dependents, chances[arc:last], best)
        tree, _ = eisner_best(best, single_root)
        trees[first] = -1
        for k in range(last - arc):
            if tree[own_dependents[k]] == own_heads[k]:
                trees[first + own_dependents[k]] = first + own_heads[k]
                places[word + own_dependents[k] - 1] = arc + k
        arc, word = last, word + size - 1
    return True
