"""Trees of several sentences in one call, since Python's overhead between calls takes as long."""

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.copying import copy_into
from qsproj.kernels.features.label_features import best_relations, sum_relations
from qsproj.kernels.trees.eisner import eisner_best, eisner_posterior


@njit(cache=True, error_model="numpy")
def decode_block(scores, sizes, single_root, expected, heads, chances, done):
    """Find the best projective tree of each sentence.

    ``scores`` float64[sum of sizes squared]: arc scores of the sentences, concatenated; ``sizes`` int64[S]:
    n + 1 of each. ``expected``: the best tree is that of most expected correct heads. Written: ``heads``
    int32[sum of sizes]; with ``expected``, ``chances`` float64[sum of sizes], the probability of the arc into
    each word; ``done`` bool[S]: False where no tree is possible, or sums may be inexact.
    """
    begin, first = 0, 0
    for sentence in range(sizes.shape[0]):
        size = sizes[sentence]
        arcs = scores[begin : begin + size * size].reshape((size, size))
        if expected:
            _, arcs, _, _, done[sentence] = eisner_posterior(arcs, single_root)
        tree, score = eisner_best(arcs, single_root)
        if not expected:
            done[sentence] = score > -np.inf
        for word in range(1, size if expected else 0):
            chances[first + word] = arcs[tree[word], word]
        copy_into(heads[first : first + size], tree)
        begin += size * size
        first += size


@njit(cache=True, error_model="numpy")
def possible_arcs(scores, starts, sizes, single_root, least):
    """Choose the arcs with a probability of at least ``least``, and those of one tree.

    ``scores``, ``sizes`` as for :func:`decode_block`; ``starts`` int64[S]: position of each sentence's root.
    Returns heads and dependents int32[k], positions by sentence, head and dependent; the number of arcs of
    each sentence int64[S]; and False, with invalid results, when sums may be inexact.
    """
    heads, dependents = np.empty(scores.shape[0], np.int32), np.empty(scores.shape[0], np.int32)
    counts = np.zeros(sizes.shape[0], np.int64)
    begin, found = 0, 0
    for sentence in range(sizes.shape[0]):
        size, first = sizes[sentence], starts[sentence]
        arcs = scores[begin : begin + size * size].reshape((size, size))
        begin += size * size
        _, marginals, _, _, exact = eisner_posterior(arcs, single_root)
        if not exact:
            return heads, dependents, counts, False
        tree, _ = eisner_best(marginals, single_root)
        for head in range(size):
            for dependent in range(1, size):
                chosen = marginals[head, dependent] >= least or tree[dependent] == head
                if chosen and head != dependent:
                    heads[found] = first + head
                    dependents[found] = first + dependent
                    found += 1
                    counts[sentence] += 1
    return heads[:found], dependents[:found], counts, True


@njit(cache=True, error_model="numpy")
def decode_labelled_block(
    scores, starts, sizes, single_root, heads, dependents, counts, relations, chances, trees, places
):
    """Find the projective tree with most expected correct labelled arcs of each sentence.

    ``relations`` float64[k, L]: score of each relation of the k arcs from :func:`possible_arcs`, natural log,
    -inf for no candidate. Written: ``chances`` float64[k, L], the probability of each relation given the arc;
    ``trees`` int32[positions], the position of each word's head, -1 for roots, unchanged outside sentences;
    ``places`` int64[words], the index of each tree arc among the k. Returns as :func:`possible_arcs`.
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
        _, marginals, _, _, exact = eisner_posterior(summed, single_root)
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
