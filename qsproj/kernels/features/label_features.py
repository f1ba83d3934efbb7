"""Relations of arcs: a softmax over all, and scores of an arc's possible ones.

Features are those of :mod:`.arc_features`; weights are one row of L for each feature, so that all relations
are scored in one sweep of contiguous memory.

For scoring candidates, an arc is given by its two ends, int32 each. Its candidates are the possible relations
of the coarse tags of its ends: those of pair ``p = head's tag * TAGS + dependent's tag`` are
``relations[starts[p] : starts[p + 1]]``, int32.

Some features of relations read a word's relatives in the tree: :func:`find_relatives`.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.features.arc_features import ZERO, between_workspace, bucket_workspace, one_arc
from qsproj.kernels.features.sparse_gradient import DONE, adagrad_outcomes
from qsproj.kernels.prefetch import prefetch

# Minimum probability in reported losses.
TINY = 1e-300
# Number of float32 weights in a cache line.
LINE = 16


@njit(cache=True, error_model="numpy", fastmath=FAST)
def score_labels(features, heads, weights, scores):
    """Write the score of every relation of the arc into each word into ``scores``; 0 without a head."""
    between, out, ahead = between_workspace(features), bucket_workspace(features), bucket_workspace(features)
    scores[:] = 0.0
    # The weights of an arc are prefetched while those of the previous arc are summed.
    previous, previous_count = ZERO, ZERO
    for dependent in range(1, heads.shape[0]):
        head = heads[dependent]
        if head < 0:
            continue
        count = one_arc(features, np.int64(head), dependent, between, ahead)
        ask_for_rows(weights, ahead, count)
        add_rows(weights, out, previous_count, scores[previous])
        out, ahead = ahead, out
        previous, previous_count = dependent, count
    add_rows(weights, out, previous_count, scores[previous])


@njit(cache=True, borrows=True, error_model="numpy")
def ask_for_rows(weights, rows, count):
    flat, width = weights.reshape(-1), weights.shape[1]
    for k in range(count):
        for place in range(0, width, LINE):
            prefetch(flat, rows[k] * np.uint64(width) + np.uint64(place))


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FAST)
def add_rows(weights, rows, count, sums):
    odd = count % 4
    for k in range(odd):
        row = weights[rows[k]]
        for label in range(row.shape[0]):
            sums[label] += row[label]
    # Four rows at a time, so that each sum is loaded and stored once for them.
    for k in range(odd, count, 4):
        a, b, c, d = weights[rows[k]], weights[rows[k + 1]], weights[rows[k + 2]], weights[rows[k + 3]]
        for label in range(a.shape[0]):
            first = np.float64(a[label]) + np.float64(b[label])
            sums[label] += first + (np.float64(c[label]) + np.float64(d[label]))


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FAST)
def softmax_of_rows(weights, rows, chances):
    """Write the softmax of the sum of some rows of weights into ``chances`` float64[L]."""
    chances[:] = 0.0
    add_rows(weights, rows, rows.shape[0], chances)
    top, total = -np.inf, 0.0
    for label in range(chances.shape[0]):
        top = max(top, chances[label])
    for label in range(chances.shape[0]):
        chances[label] = np.exp(chances[label] - top)
        total += chances[label]
    for label in range(chances.shape[0]):
        chances[label] /= total


@njit(cache=True, error_model="numpy", fastmath=FAST)
def step_labels(features, heads, labels, weights, state, rate, step):
    """Step for each arc with a label int32[n+1], -1 where unknown; return the loss before, in nats."""
    between, out = between_workspace(features), bucket_workspace(features)
    slope = np.empty(weights.shape[1])
    loss = 0.0
    for dependent in range(1, heads.shape[0]):
        head, gold = heads[dependent], labels[dependent]
        if head < 0 or gold < 0:
            continue
        count = one_arc(features, np.int64(head), dependent, between, out)
        ask_for_rows(weights, out, count)
        softmax_of_rows(weights, out[:count], slope)
        loss -= np.log(max(slope[gold], TINY))
        slope[gold] -= 1.0
        adagrad_outcomes(weights, state, out[:count], slope, rate, step)
    return loss


@njit(cache=True, error_model="numpy", fastmath=FAST)
def step_label_evidence(features, heads, evidence, weights, state, rate, step):
    """Step for each arc with evidence for its relation; return the loss before, in nats.

    The loss: minus the log of the mean of exp(evidence float64[n+1, L]) over the relations of an arc.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    chances, slope = np.empty(weights.shape[1]), np.empty(weights.shape[1])
    loss = 0.0
    for dependent in range(1, heads.shape[0]):
        if heads[dependent] < 0 or not np.any(evidence[dependent]):
            continue
        count = one_arc(features, np.int64(heads[dependent]), dependent, between, out)
        ask_for_rows(weights, out, count)
        softmax_of_rows(weights, out[:count], chances)
        seen = chances * np.exp(evidence[dependent])
        total = seen.sum()
        loss -= np.log(max(total, TINY))
        for label in range(slope.shape[0]):
            slope[label] = chances[label] - seen[label] / total
        adagrad_outcomes(weights, state, out[:count], slope, rate, step)
    return loss


# Tags are numbers below this.
TAGS = 63


@njit(cache=True, borrows=True, error_model="numpy")
def _ask_for_candidates(weights, labels, buckets, count, candidates):
    first, last = np.int64(candidates[0]), np.int64(candidates[-1])
    for k in range(count):
        start = np.int64(buckets[k]) * labels
        for cell in range(start + first, start + last, LINE):
            prefetch(weights, cell)
        prefetch(weights, start + last)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _add_candidates(weights, labels, buckets, count, candidates, scores):
    sums = np.zeros(candidates.shape[0])
    for k in range(count):
        start = np.int64(buckets[k]) * labels
        for j in range(candidates.shape[0]):
            sums[j] += weights[start + candidates[j]]
    for j in range(candidates.shape[0]):
        scores[candidates[j]] = sums[j]


@njit(cache=True, error_model="numpy")
def score_relations(features, heads, dependents, starts, relations, weights, scores):
    """Write the score of each candidate relation of each arc into float64[k, L], else -inf; O(k C T)."""
    between, out, ahead = between_workspace(features), bucket_workspace(features), bucket_workspace(features)
    labels = scores.shape[1]
    scores[:] = -np.inf
    before, count = relations[:0], ZERO
    for arc in range(heads.shape[0] + 1):
        candidates, coming = relations[:0], 0
        if arc < heads.shape[0]:
            pair = np.int64(features.tags[heads[arc]]) * TAGS + np.int64(features.tags[dependents[arc]])
            candidates = relations[starts[pair] : starts[pair + 1]]
            coming = one_arc(features, heads[arc], dependents[arc], between, ahead)
            _ask_for_candidates(weights, labels, ahead, coming, candidates)
        if arc > 0:
            _add_candidates(weights, labels, out, count, before, scores[arc - 1])
        out, ahead = ahead, out
        before, count = candidates, coming


@njit(cache=True, error_model="numpy")
def sum_relations(arcs, heads, dependents, relations, summed, chances):
    """Sum out the relations of each arc, and compute the probability of each given the arc.

    ``arcs`` float64[n+1, n+1]: score of each arc without its relation. ``relations`` float64[k, L]: score of
    each relation; -inf for no candidate, at least one of a row is finite. Written: ``summed``
    float64[n+1, n+1], -inf for others than the k; ``chances`` float64[k, L], whose rows sum to one.
    """
    summed[:] = -np.inf
    for arc in range(heads.shape[0]):
        top = -np.inf
        for label in range(relations.shape[1]):
            top = max(top, relations[arc, label])
        total = 0.0
        for label in range(relations.shape[1]):
            score = relations[arc, label]
            chances[arc, label] = np.exp(score - top) if score > -np.inf else 0.0
            total += chances[arc, label]
        for label in range(relations.shape[1]):
            chances[arc, label] /= total
        summed[heads[arc], dependents[arc]] = arcs[heads[arc], dependents[arc]] + top + np.log(total)


@njit(cache=True, error_model="numpy")
def best_relations(marginals, heads, dependents, chances, best):
    """Write the chance of the likeliest labelled arc between two words into ``best``; -inf for none or 0."""
    best[:] = -np.inf
    for arc in range(heads.shape[0]):
        top = 0.0
        for label in range(chances.shape[1]):
            top = max(top, chances[arc, label])
        if marginals[heads[arc], dependents[arc]] * top > 0.0:
            best[heads[arc], dependents[arc]] = marginals[heads[arc], dependents[arc]] * top


@njit(cache=True, error_model="numpy")
def gather_relations(features, heads, dependents, slopes, negligible, gradient, touched, used, begin):
    """Add the gradient of one sentence by ``slopes`` float64[k, L]; see :mod:`.sparse_gradient`."""
    between, out = between_workspace(features), bucket_workspace(features)
    labels = slopes.shape[1]
    steep = np.empty(labels, np.int64)
    for arc in range(begin, heads.shape[0]):
        some = 0
        for label in range(labels):
            if abs(slopes[arc, label]) > negligible:
                steep[some] = label
                some += 1
        if some == 0:
            continue
        count = one_arc(features, heads[arc], dependents[arc], between, out)
        if used + count * some > touched.shape[0]:
            return used, arc
        for k in range(count):
            first = np.int64(out[k]) * labels
            for j in range(some):
                cell = first + steep[j]
                if gradient[cell] == 0.0:
                    touched[used] = cell
                    used += 1
                gradient[cell] += slopes[arc, steep[j]]
    return used, DONE


# Larger numbers of siblings on one side are not distinguished.
MOST_SIBLINGS = 2


@njit(cache=True, error_model="numpy")
def find_relatives(heads, tags, classes, nominals, nodes, ranks):
    """Find some relatives of each word, and the number of bare nominal siblings on either side of it.

    A nominal without a dependent adposition is bare: the order of such dependents distinguishes subjects from
    objects. ``heads`` int32[n+1]: -1 where missing. ``tags`` uint8[n+1]: numbers of UPOS. ``classes``
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
