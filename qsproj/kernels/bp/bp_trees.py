"""Factors over all arcs of a sentence, TREE and PTREE, or over those into two words, NOCROSS.

NOCROSS is over the candidate heads of words j and l and allows exactly one of each, in O(n). For every head
of the one it needs the total weight of the heads of the other whose arcs cross, and of those whose arcs do
not. Both are contiguous ranges of positions, computed by running totals from either end and from the word
outwards. Unlike the differences of prefix sums in the thesis (3.4.2, eq. 3.23), these do not cancel.
"""

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import others_totals, plus, settle_forced, total
from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.copying import copy_into
from qsproj.kernels.trees.eisner import eisner_posterior


@njit(cache=True, error_model="numpy", fastmath=FAST)
def tree_scores(incoming, heads, dependents, size):
    """Return arc scores of log-odds, -inf without a variable; a certain arc forbids others."""
    by_dependent = np.full((size, size), -np.inf)
    for e in range(incoming.shape[0]):
        by_dependent[dependents[e], heads[e]] = incoming[e]
    settled = np.empty((size, size))
    for d in range(size):
        settle_forced(by_dependent[d], settled[d])
    return settled.T.copy()


@njit(cache=True, error_model="numpy", fastmath=FAST)
def tree_messages(incoming, heads, dependents, with_arc, maximise):
    """Return the outgoing log-odds from log-marginals, or best scores, ``with_arc``.

    The weight of "not this arc" is the total over the word's other heads (design section 4).
    """
    by_dependent = with_arc.T.copy()
    others = np.full(with_arc.shape, -np.inf)
    before = np.empty(with_arc.shape[0])
    for d in range(1, with_arc.shape[0]):
        others_totals(by_dependent[d], before, others[d], maximise)
    outgoing = np.empty(incoming.shape[0])
    for e in range(incoming.shape[0]):
        if abs(incoming[e]) == np.inf:
            possible = by_dependent[dependents[e], heads[e]] if incoming[e] > 0.0 else 0.0
            outgoing[e] = np.nan if possible == -np.inf else incoming[e]
        else:
            outgoing[e] = (
                by_dependent[dependents[e], heads[e]] - others[dependents[e], heads[e]] - incoming[e]
            )
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def projective_messages(incoming, heads, dependents, size, single_root, outgoing):
    """Write PTREE's messages float64[E]; False where an arc is in no tree or sums are inexact."""
    scores = tree_scores(incoming, heads, dependents, size)
    _, _, derivatives, shifts, in_range = eisner_posterior(scores, single_root)
    if not in_range:
        return False
    with_arc = np.full(scores.shape, -np.inf)
    for e in range(incoming.shape[0]):
        h, d = heads[e], dependents[e]
        if derivatives[h, d] > 0.0:
            with_arc[h, d] = np.log(derivatives[h, d]) + scores[h, d] - shifts[d]
        elif scores[h, d] > -np.inf:
            return False
    copy_into(outgoing, tree_messages(incoming, heads, dependents, with_arc, False))
    return True


@njit(cache=True, error_model="numpy", fastmath=FAST)
def forest_messages(incoming, heads, dependents, counts, sizes, single_root, outgoing, done):
    """Write :func:`projective_messages` of concatenated sentences; ``done`` bool[S] has its results."""
    begin = 0
    for sentence in range(sizes.shape[0]):
        own = slice(begin, begin + counts[sentence])
        done[sentence] = projective_messages(
            incoming[own], heads[own], dependents[own], sizes[sentence], single_root, outgoing[own]
        )
        begin = own.stop


# Rows of the workspace.
UP_TO, FROM, OUTWARD, CROSSING, CLEAR = 0, 1, 2, 3, 4


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _split(word, other, weights, work, maximise):
    """Fill, for every head of ``word``, the totals of the heads of ``other`` that cross it and that do not.

    ``weights`` float64[n+1]: -inf where ``other`` has no such head.
    """
    size = weights.shape[0]
    up_to, from_, outward = work[UP_TO], work[FROM], work[OUTWARD]
    # up_to[t + 1] covers the positions 0..t, from_[t] the positions t..n; outward[t] those strictly after
    # (before) the word up to t, and the word itself has none.
    up_to[0] = -np.inf
    from_[size] = -np.inf
    outward[word] = -np.inf
    for t in range(size):
        up_to[t + 1] = plus(up_to[t], weights[t], maximise)
    for t in range(size - 1, -1, -1):
        from_[t] = plus(from_[t + 1], weights[t], maximise)
    for t in range(word + 1, size):
        outward[t] = plus(outward[t - 1], weights[t], maximise)
    for t in range(word - 1, -1, -1):
        outward[t] = plus(outward[t + 1], weights[t], maximise)
    for head in range(size):
        low, high = min(head, word), max(head, word)
        if head == other:
            work[CROSSING, head] = -np.inf
            work[CLEAR, head] = from_[0]
        elif low < other < high:
            work[CROSSING, head] = plus(up_to[low], from_[high + 1], maximise)
            work[CLEAR, head] = plus(outward[head], weights[word], maximise)
        else:
            work[CROSSING, head] = outward[head + 1 if head < word else head - 1]
            work[CLEAR, head] = plus(up_to[low + 1], from_[high], maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _spread(messages, heads, weights):
    """Write the messages of one word's candidate heads to their positions, resolving certain ones."""
    settled = np.empty(messages.shape[0])
    settle_forced(messages, settled)
    weights[:] = -np.inf
    for e in range(messages.shape[0]):
        weights[heads[e]] = settled[e]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _answer(own, own_heads, rivals, rival_heads, word, other, score, work, outgoing, maximise):
    """Fill the messages to the heads of one word; ``own``, ``rivals``: their log-odds."""
    weights = np.empty(work.shape[1] - 2)
    totals, before, others = np.empty(own.shape[0]), np.empty(own.shape[0]), np.empty(own.shape[0])
    _spread(rivals, rival_heads, weights)
    _split(word, other, weights, work, maximise)
    for e in range(own.shape[0]):
        value = plus(work[CROSSING, own_heads[e]] + score, work[CLEAR, own_heads[e]], maximise)
        outgoing[e] = value
        totals[e] = value + own[e] if value > -np.inf else -np.inf
    others_totals(totals, before, others, maximise)
    for e in range(own.shape[0]):
        outgoing[e] -= others[e]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def no_cross_messages(incoming, heads, starts, dependents, scores, size, maximise):
    """Return the log-odds float64[E] of arcs into each factor's first word, then its second.

    ``starts`` int64[2 F + 1]: the start of the arcs into each word. ``scores`` float64[F]: where arcs cross.
    """
    outgoing = np.empty(incoming.shape[0])
    work = np.empty((5, size + 2))
    for f in range(scores.shape[0]):
        for side in range(2):
            mine, theirs = 2 * f + side, 2 * f + 1 - side
            own, own_heads = incoming[starts[mine] : starts[mine + 1]], heads[starts[mine] : starts[mine + 1]]
            rivals = incoming[starts[theirs] : starts[theirs + 1]]
            rival_heads = heads[starts[theirs] : starts[theirs + 1]]
            answer = outgoing[starts[mine] : starts[mine + 1]]
            word, other = dependents[f, side], dependents[f, 1 - side]
            _answer(own, own_heads, rivals, rival_heads, word, other, scores[f], work, answer, maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def no_cross_beliefs(incoming, heads, starts, dependents, scores, size):
    """Return the sum of log partitions and float64[F], the probability of a crossing; arguments as above."""
    weights, own = np.empty(size), np.empty(size)
    work = np.empty((5, size + 2))
    fired = np.empty(scores.shape[0])
    log_partition = 0.0
    for f in range(scores.shape[0]):
        first, middle, last = starts[2 * f], starts[2 * f + 1], starts[2 * f + 2]
        _spread(incoming[middle:last], heads[middle:last], weights)
        _split(dependents[f, 0], dependents[f, 1], weights, work, False)
        _spread(incoming[first:middle], heads[first:middle], own)
        crossing = total(own + work[CROSSING, :size], False) + scores[f]
        partition = plus(crossing, total(own + work[CLEAR, :size], False), False)
        log_partition += partition
        fired[f] = np.exp(crossing - partition)
    return log_partition, fired
