"""Factors over all links of a sentence pair.

ALIGNHMM: forward-backward over the target words, in O(n m c) for c candidates a word. Every target word takes
one of its candidate links or none (NULL). The state after word j is the last linked source position, 0 at the
start; NULL keeps it (Och and Ney 2003). Scores, natural log, depend on the jump from there: entry ``jump +
W`` of ``2 W + 2``, jumps clipped to -W..W, NULL in the last entry.

ALIGNITG: sums, or maxima, over all alignments of two sentences that bracketing generates: each word has one
link at most, and the order of links arises from joining neighbours, straight or inverted. Each alignment has
one derivation: a block begins, on either side, with a linked word (words without a link belong to the linked
word before them; those before the first link to none), and the first block of a straight join is not itself
a straight join, and that of an inverted join not an inverted one. So blocks are joined from the right. A
block of source words s..t-1, target words u..v-1 is at [s, t, u, v] of a chart, in a semiring.
"""

import numpy as np

from qsproj.kernels.bp.bp_arithmetic import others_totals, plus, settle_forced
from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.trees.semirings import PROBABILITY, one, times, zero
from qsproj.kernels.trees.semirings import plus as add


@njit(cache=True, error_model="numpy", fastmath=FAST)
def jump_place(scores, before, position):
    widest = (scores.shape[0] - 2) // 2
    return min(max(position - before, -widest), widest) + widest


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _null_weight(messages, scores):
    """Return the log weight of no link, -inf where one is certain."""
    for e in range(messages.shape[0]):
        if messages[e] == np.inf:
            return -np.inf
    return scores[scores.shape[0] - 1]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _forward(incoming, settled, starts, positions, scores, reached, maximise):
    """Fill ``reached`` float64[n+1, m+1]: total of the choices up to word j with this last position."""
    reached[:] = -np.inf
    reached[0, 0] = 0.0
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        null = _null_weight(incoming[first:last], scores)
        for p in range(reached.shape[1]):
            reached[j + 1, p] = reached[j, p] + null
        for e in range(first, last):
            total = -np.inf
            for p in range(reached.shape[1]):
                step = scores[jump_place(scores, p, positions[e])]
                total = plus(total, reached[j, p] + step, maximise)
            here = positions[e]
            reached[j + 1, here] = plus(reached[j + 1, here], total + settled[e], maximise)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _backward(incoming, settled, starts, positions, scores, ahead, maximise):
    """Fill ``ahead`` float64[n+1, m+1]: total of the choices after word j, from a position on."""
    n = starts.shape[0] - 1
    ahead[n] = 0.0
    for j in range(n - 1, -1, -1):
        first, last = starts[j], starts[j + 1]
        null = _null_weight(incoming[first:last], scores)
        for p in range(ahead.shape[1]):
            total = ahead[j + 1, p] + null
            for e in range(first, last):
                step = scores[jump_place(scores, p, positions[e])]
                total = plus(total, step + settled[e] + ahead[j + 1, positions[e]], maximise)
            ahead[j, p] = total


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _charts(incoming, starts, positions, scores, n_source, maximise):
    n = starts.shape[0] - 1
    settled = np.empty(incoming.shape[0])
    for j in range(n):
        settle_forced(incoming[starts[j] : starts[j + 1]], settled[starts[j] : starts[j + 1]])
    reached = np.empty((n + 1, n_source + 1))
    ahead = np.empty((n + 1, n_source + 1))
    _forward(incoming, settled, starts, positions, scores, reached, maximise)
    _backward(incoming, settled, starts, positions, scores, ahead, maximise)
    return settled, reached, ahead


@njit(cache=True, error_model="numpy", fastmath=FAST)
def align_hmm_messages(incoming, starts, positions, scores, n_source, maximise):
    """Return the outgoing log-odds float64[E] of the candidate links, target word after target word.

    ``starts`` int64[n+1]: the start of each word's candidates. ``positions`` int32[E]: source word of each,
    1..``n_source``. ``scores`` float64[2 W + 2].
    """
    _, reached, ahead = _charts(incoming, starts, positions, scores, n_source, maximise)
    outgoing = np.empty(incoming.shape[0])
    weighed = np.empty(incoming.shape[0])
    workspace = np.empty(incoming.shape[0])
    others = np.empty(incoming.shape[0])
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        null = -np.inf
        for p in range(n_source + 1):
            null = plus(null, reached[j, p] + scores[-1] + ahead[j + 1, p], maximise)
        for e in range(first, last):
            taken = -np.inf
            for p in range(n_source + 1):
                taken = plus(taken, reached[j, p] + scores[jump_place(scores, p, positions[e])], maximise)
            outgoing[e] = taken + ahead[j + 1, positions[e]]
            weighed[e] = -np.inf if outgoing[e] == -np.inf else outgoing[e] + incoming[e]
        others_totals(weighed[first:last], workspace[first:last], others[first:last], maximise)
        for e in range(first, last):
            outgoing[e] -= plus(null, others[e], maximise)
    return outgoing


@njit(cache=True, error_model="numpy", fastmath=FAST)
def align_hmm_beliefs(incoming, starts, positions, scores, n_source):
    """Return log partition and float64[2 W + 2], the expected count of each score."""
    settled, reached, ahead = _charts(incoming, starts, positions, scores, n_source, False)
    partition = ahead[0, 0]
    expected = np.zeros(scores.shape[0])
    if partition == -np.inf:
        return partition, expected
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        null = _null_weight(incoming[first:last], scores)
        for p in range(n_source + 1):
            expected[-1] += np.exp(reached[j, p] + null + ahead[j + 1, p] - partition)
            for e in range(first, last):
                place = jump_place(scores, p, positions[e])
                weight = reached[j, p] + scores[place] + settled[e] + ahead[j + 1, positions[e]]
                expected[place] += np.exp(weight - partition)
    return partition, expected


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _may_be_unlinked(must, begin, end):
    """Return whether none of the words begin..end-1 must be linked; ``must`` has cumulative counts."""
    return end <= begin or must[end] == must[begin]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _halves(u, y, v, turn):
    """Return the target spans of the first and the other block of a straight (0) or inverted join (1)."""
    return (u, y, y, v) if turn == 0 else (y, v, u, y)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def itg_inside(links, must_source, must_target, semiring):
    """Return the sums over the derivations of each block, float64[m+1, m+1, n+1, n+1]; O(m^3 n^3).

    ``links`` float64[m, n]: weight of each link relative to none. ``must_source``, ``must_target``
    int64[m+1], int64[n+1]: number of words before each position that must be linked. Also returned, with a
    first axis: of those that may be the first block of a straight join, or of an inverted one.
    """
    m, n = links.shape
    whole = np.full((m + 1, m + 1, n + 1, n + 1), zero(semiring))
    firsts = np.full((2, m + 1, m + 1, n + 1, n + 1), zero(semiring))
    joined = np.empty(2)
    for width in range(1, m + 1):
        for s in range(m - width + 1):
            t = s + width
            for u in range(n):
                for v in range(u + 1, n + 1):
                    link = zero(semiring)
                    if _may_be_unlinked(must_source, s + 1, t) and _may_be_unlinked(must_target, u + 1, v):
                        link = links[s, u]
                    for turn in range(2):
                        joined[turn] = zero(semiring)
                        for x in range(s + 1, t):
                            for y in range(u + 1, v):
                                a, b, c, d = _halves(u, y, v, turn)
                                first = firsts[turn, s, x, a, b]
                                if first != zero(semiring):
                                    both = times(first, whole[x, t, c, d], semiring)
                                    joined[turn] = add(joined[turn], both, semiring)
                    firsts[0, s, t, u, v] = add(link, joined[1], semiring)
                    firsts[1, s, t, u, v] = add(link, joined[0], semiring)
                    whole[s, t, u, v] = add(firsts[0, s, t, u, v], joined[0], semiring)
    return whole, firsts


@njit(cache=True, error_model="numpy", fastmath=FAST)
def itg_total(whole, must_source, must_target, semiring):
    m, n = whole.shape[0] - 1, whole.shape[2] - 1
    total = one(semiring) if must_source[m] == 0 and must_target[n] == 0 else zero(semiring)
    for s in range(m):
        for u in range(n):
            if must_source[s] == 0 and must_target[u] == 0:
                total = add(total, whole[s, m, u, n], semiring)
    return total


@njit(cache=True, error_model="numpy", fastmath=FAST)
def itg_outside(whole, firsts, must_source, must_target, semiring):
    """Return the outside sums of each single-link block, in the shape of ``whole``; O(m^3 n^3)."""
    m, n = whole.shape[0] - 1, whole.shape[2] - 1
    # Outside sums of a block of any kind; of a first block of a straight, or of an inverted join.
    around = np.full(whole.shape, zero(semiring))
    around_firsts = np.full(firsts.shape, zero(semiring))
    for s in range(m):
        for u in range(n):
            if must_source[s] == 0 and must_target[u] == 0:
                around[s, m, u, n] = one(semiring)
    for width in range(m, 0, -1):
        for s in range(m - width + 1):
            t = s + width
            for u in range(n):
                for v in range(u + 1, n + 1):
                    for turn in range(2):
                        # Outside sums of this block as a straight, or as an inverted join.
                        own = add(around[s, t, u, v], around_firsts[1 - turn, s, t, u, v], semiring)
                        if own == zero(semiring):
                            continue
                        for x in range(s + 1, t):
                            for y in range(u + 1, v):
                                a, b, c, d = _halves(u, y, v, turn)
                                around_firsts[turn, s, x, a, b] = add(
                                    around_firsts[turn, s, x, a, b],
                                    times(own, whole[x, t, c, d], semiring),
                                    semiring,
                                )
                                around[x, t, c, d] = add(
                                    around[x, t, c, d],
                                    times(own, firsts[turn, s, x, a, b], semiring),
                                    semiring,
                                )
                    # From here on it is the outside sum of a link.
                    straight = add(around[s, t, u, v], around_firsts[1, s, t, u, v], semiring)
                    around[s, t, u, v] = add(straight, around_firsts[0, s, t, u, v], semiring)
    return around


@njit(cache=True, error_model="numpy", fastmath=FAST)
def itg_sums(links, must_source, must_target, semiring):
    """Return the total over all alignments, and its parts by source word.

    ``without`` float64[m, n]: total of the alignments with each link, without the link's own weight;
    ``unlinked`` float64[m]: of those where a source word has no link. Arguments as of :func:`itg_inside`.
    """
    m, n = links.shape
    whole, firsts = itg_inside(links, must_source, must_target, semiring)
    around = itg_outside(whole, firsts, must_source, must_target, semiring)
    without = np.full((m, n), zero(semiring))
    empty = one(semiring) if must_source[m] == 0 and must_target[n] == 0 else zero(semiring)
    unlinked = np.full(m, empty)
    for s in range(m):
        for t in range(s + 1, m + 1):
            if not _may_be_unlinked(must_source, s + 1, t):
                continue
            behind = zero(semiring)
            for u in range(n):
                for v in range(u + 1, n + 1):
                    if _may_be_unlinked(must_target, u + 1, v):
                        without[s, u] = add(without[s, u], around[s, t, u, v], semiring)
                        behind = add(behind, times(links[s, u], around[s, t, u, v], semiring), semiring)
            for word in range(s + 1, t):
                unlinked[word] = add(unlinked[word], behind, semiring)
        if must_source[s] == 0:
            for u in range(n):
                if must_target[u] == 0:
                    for word in range(s):
                        unlinked[word] = add(unlinked[word], whole[s, m, u, n], semiring)
    return itg_total(whole, must_source, must_target, semiring), without, unlinked


@njit(cache=True, error_model="numpy", fastmath=FAST)
def itg_messages(links, without, unlinked, of_source, of_target, semiring):
    """Return the log-odds float64[E] of links from the results of :func:`itg_sums`.

    The weight of "not this link" is that of the source word's other links and of none: nothing is subtracted.
    """
    n = links.shape[1]
    outgoing = np.empty(of_source.shape[0])
    for e in range(of_source.shape[0]):
        i, j = of_source[e], of_target[e]
        others = unlinked[i]
        for other in range(n):
            if other != j:
                others = add(others, times(links[i, other], without[i, other], semiring), semiring)
        if semiring == PROBABILITY:
            outgoing[e] = np.log(without[i, j]) - np.log(others)
        else:
            outgoing[e] = without[i, j] - others
    return outgoing
