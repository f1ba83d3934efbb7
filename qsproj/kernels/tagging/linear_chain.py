"""Linear-chain conditional random field, trained on tags or on sets of tags.

Arrays throughout, with n words and T tags: ``emissions`` float64[n, T] and ``transitions`` float64[T+1, T]
are natural-log potentials, finite; row t of ``transitions`` scores [previous tag, tag] and row T the first
tag of a sentence. Forward and backward run in probability space, each word's potentials divided by their
largest and each forward vector by its sum, which cannot underflow while transitions spread less than 700.

Source: Lafferty, McCallum and Pereira (2001); scaling as in Rabiner (1989), section V.A.

With sets of tags, a word may have several, weighted or not: its evidence is a natural-log weight for each
tag: 0 for a possible one, -inf for an impossible one, anything between for a doubtful one.

Source: Taeckstroem, Das, McDonald, Petrov and Nivre (2013), section 3; there weights are 0 and -inf only.
"""

import numpy as np

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.features.sparse_gradient import move, prefetch_columns

# Number of features by which rows are prefetched. Number of float32 weights in a cache line.
AHEAD, LINE = 12, 16


@njit(cache=True, error_model="numpy", fastmath=FAST)
def posterior(emissions, transitions, marginals, pair_counts):
    """Fill the tag posteriors float64[n, T] of one sentence and add its expected tag pairs; return log Z.

    O(n T^2) time. ``emissions`` are overwritten by the forward probabilities; to ``pair_counts``, laid out as
    ``transitions``, expected counts are added.
    """
    n, n_tags = emissions.shape
    forward = emissions
    weights = np.exp(transitions)
    local = np.empty((n, n_tags))
    scales = np.empty(n)
    log_z = 0.0
    for i in range(n):
        highest = emissions[i].max()
        for t in range(n_tags):
            local[i, t] = np.exp(emissions[i, t] - highest)
            forward[i, t] = weights[n_tags, t] if i == 0 else 0.0
        if i > 0:
            for s in range(n_tags):
                mass = forward[i - 1, s]
                for t in range(n_tags):
                    forward[i, t] += mass * weights[s, t]
        total = 0.0
        for t in range(n_tags):
            forward[i, t] *= local[i, t]
            total += forward[i, t]
        for t in range(n_tags):
            forward[i, t] /= total
        scales[i] = total
        log_z += np.log(total) + highest
    marginals[n - 1] = forward[n - 1]
    # Invariant: backward[t] is p(words after i | tag t at i), divided by the scales of those words, so
    # that forward * backward is the normalised posterior.
    backward = np.ones(n_tags)
    reached = np.empty(n_tags)
    for i in range(n - 1, 0, -1):
        for t in range(n_tags):
            reached[t] = backward[t] * local[i, t] / scales[i]
        for s in range(n_tags):
            before = forward[i - 1, s]
            total = 0.0
            for t in range(n_tags):
                flow = weights[s, t] * reached[t]
                total += flow
                pair_counts[s, t] += before * flow
            backward[s] = total
            marginals[i - 1, s] = before * total
    for t in range(n_tags):
        pair_counts[n_tags, t] += marginals[0, t]
    return log_z


@njit(cache=True, error_model="numpy", fastmath=FAST)
def viterbi(emissions, transitions, tags):
    """Fill ``tags`` int32[n] with the best sequence, lower tags first, and return its score; O(n T^2)."""
    n, n_tags = emissions.shape
    back = np.empty((n, n_tags), np.int32)
    score = transitions[n_tags] + emissions[0]
    following = np.empty(n_tags)
    for i in range(1, n):
        for t in range(n_tags):
            best = score[0] + transitions[0, t]
            origin = 0
            for s in range(1, n_tags):
                candidate = score[s] + transitions[s, t]
                if candidate > best:
                    best = candidate
                    origin = s
            following[t] = best + emissions[i, t]
            back[i, t] = origin
        score, following = following, score
    tags[n - 1] = np.argmax(score)
    for i in range(n - 1, 0, -1):
        tags[i - 1] = back[i, tags[i]]
    return score.max()


@njit(cache=True, error_model="numpy", fastmath=FAST)
def k_best(emissions, transitions, tags, scores):
    """Fill the k best sequences int32[k, n], and their scores, -inf for none, best first; O(n T^2 k)."""
    k, n = tags.shape
    n_tags = emissions.shape[1]
    # The previous tag, and the rank there, of the r-th best sequence up to word i that ends in tag t.
    origins = np.zeros((n, n_tags, k), np.int32)
    ranks = np.zeros((n, n_tags, k), np.int32)
    score = np.full((n_tags, k), -np.inf)
    score[:, 0] = transitions[n_tags] + emissions[0]
    following = np.empty((n_tags, k))
    taken = np.empty(n_tags, np.int64)
    for i in range(1, n):
        for t in range(n_tags):
            taken[:] = 0
            # Invariant: the first taken[s] sequences of each tag s before are extended, in order of score.
            for r in range(k):
                best = _next_best(score, transitions[:, t], taken)
                following[t, r] = score[best, taken[best]] + transitions[best, t] + emissions[i, t]
                origins[i, t, r] = best
                ranks[i, t, r] = taken[best]
                taken[best] += 1
        score, following = following, score
    taken[:] = 0
    for r in range(k):
        tag = _next_best(score, np.zeros(n_tags), taken)
        rank = taken[tag]
        taken[tag] += 1
        scores[r] = score[tag, rank]
        for i in range(n - 1, -1, -1):
            tags[r, i] = tag
            tag, rank = origins[i, tag, rank], ranks[i, tag, rank]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _next_best(score, transitions, taken):
    """Return the tag whose next sequence, ``score`` float64[T, k], is best; the lowest of equal ones."""
    best = -1
    for s in range(len(taken)):
        if taken[s] < score.shape[1] and (
            best < 0 or score[s, taken[s]] + transitions[s] > score[best, taken[best]] + transitions[best]
        ):
            best = s
    return best


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_emissions(rows, weights, emissions):
    """Fill ``emissions`` with the sums of the ``rows`` int32[n, K] of ``weights`` that fire, -1 for none."""
    n, n_templates = rows.shape
    emissions[:] = 0.0
    for i in range(n):
        for k in range(n_templates):
            row = rows[i, k]
            if row >= 0:
                for t in range(weights.shape[1]):
                    emissions[i, t] += weights[row, t]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def gradient(rows, gold, weights, transitions, residuals, pair_residuals):
    """Fill the gradient of log p(gold tags) of one sentence and return that log-likelihood.

    ``rows`` int32[n, K]: the rows of ``weights`` float32[R, T] that fire at each word, -1 for none. ``gold``
    int32[n]. ``residuals``, ``pair_residuals`` float64[n, T], float64[T+1, T], written: gold minus expected.
    """
    n, n_tags = residuals.shape
    emissions = np.empty((n, n_tags))
    add_emissions(rows, weights, emissions)
    score = 0.0
    previous = n_tags
    for i in range(n):
        score += emissions[i, gold[i]] + transitions[previous, gold[i]]
        previous = gold[i]
    pair_residuals[:] = 0.0
    log_z = posterior(emissions, transitions, residuals, pair_residuals)
    residuals *= -1.0
    pair_residuals *= -1.0
    previous = n_tags
    for i in range(n):
        residuals[i, gold[i]] += 1.0
        pair_residuals[previous, gold[i]] += 1.0
        previous = gold[i]
    return score - log_z


@njit(cache=True, error_model="numpy", fastmath=FAST)
def step_rows(rows, slopes, weights, state, rate, step):
    """Take a step of AdaGrad in the rows that fire at each word, by ``slopes`` float64[n, T] of the loss.

    Words whose slopes are all 0 are passed over.
    """
    width = weights.shape[1]
    every_line = np.minimum(np.arange(0, width + LINE - 1, LINE), width - 1)
    tables = weights.reshape(-1), state[0].reshape(-1), state[1].reshape(-1)
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1] if slopes[i].any() else 0):
            prefetch_ahead(tables, width, rows, i, k, every_line)
            row = rows[i, k]
            if row >= 0:
                for t in range(width):
                    move(weights, state, row, t, slopes[i, t], rate, step)


@njit(cache=True, borrows=True, error_model="numpy")
def prefetch_ahead(tables, width, rows, i, k, columns):
    """Prefetch some columns of the row that fires AHEAD places after ``rows[i, k]``, in flat tables."""
    k += AHEAD
    if k >= rows.shape[1]:
        i, k = i + 1, k - rows.shape[1]
    if i < rows.shape[0] and k < rows.shape[1] and rows[i, k] >= 0:
        for table in tables:
            prefetch_columns(table, np.int64(rows[i, k]) * width, columns)


# Smaller slopes move no weight; nearly all are smaller once a word's tags are learned.
FLAT = 1e-4


@njit(cache=True, error_model="numpy", fastmath=FAST)
def set_gradient(rows, log_evidence, weights, transitions, residuals, pair_residuals):
    """Fill the gradient of log sum over tag sequences of p(sequence) evidence(sequence); return that value.

    As :func:`gradient`, but for ``log_evidence`` float32[n, T]: at most 0, -inf forbids, at least one of a
    word finite; residuals are posteriors with the evidence less those without. O(n (K T + T^2)) time.
    """
    n, n_tags = residuals.shape
    emissions = np.empty((n, n_tags))
    add_emissions(rows, weights, emissions)
    supported = emissions + log_evidence
    free = np.empty((n, n_tags))
    free_pairs = np.zeros((n_tags + 1, n_tags))
    pair_residuals[:] = 0.0
    log_supported = posterior(supported, transitions, residuals, pair_residuals)
    log_z = posterior(emissions, transitions, free, free_pairs)
    residuals -= free
    pair_residuals -= free_pairs
    return log_supported - log_z


@njit(cache=True, error_model="numpy", fastmath=FAST)
def step_steep_rows(rows, slopes, weights, state, rate, step):
    """Apply :func:`step_rows` to slopes above FLAT alone: faster where these are few of many columns."""
    width = weights.shape[1]
    every = np.empty(width, np.int64)
    tables = weights.reshape(-1), state[0].reshape(-1), state[1].reshape(-1)
    for i in range(rows.shape[0]):
        steep = every[: _steep(slopes[i], every)]
        for k in range(rows.shape[1] if len(steep) else 0):
            prefetch_ahead(tables, width, rows[i : i + 1], 0, k, steep)
            row = rows[i, k]
            if row >= 0:
                for t in steep:
                    move(weights, state, row, t, slopes[i, t], rate, step)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _steep(slopes, steep):
    """List the tags with slopes above FLAT in ``steep`` int64[T]; return their number."""
    count = 0
    for t in range(len(slopes)):
        if abs(slopes[t]) > FLAT:
            steep[count] = t
            count += 1
    return count


@njit(cache=True)
def _steep_alone(slopes):
    return np.where(np.abs(slopes) > FLAT, slopes, 0.0)


@njit(cache=True)
def every_row(weights):
    return np.arange(weights.shape[0], dtype=np.int32).reshape(-1, 1)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def learn_tags(rows, gold, strength, transitions, pair_state, fixed, weights, state, rate, step):
    """Take a step of AdaGrad up the :func:`gradient` of a sentence, times ``strength``; return its loss.

    ``state``, ``pair_state``: as for :func:`step_rows`. ``fixed``: whether the transitions stay.
    """
    slopes, pair_slopes = np.empty((rows.shape[0], weights.shape[1])), np.empty_like(transitions)
    likelihood = gradient(rows, gold, weights, transitions, slopes, pair_slopes)
    slopes *= -strength
    step_rows(rows, slopes, weights, state, rate, step)
    if not fixed:
        pair_slopes *= -strength
        step_rows(every_row(transitions), pair_slopes, transitions, pair_state, rate, step)
    return -strength * likelihood


@njit(cache=True, error_model="numpy", fastmath=FAST)
def learn_sets(rows, log_evidence, strength, transitions, pair_state, fixed, weights, state, rate, step):
    """Take a step like :func:`learn_tags`, up the :func:`set_gradient`, along slopes above FLAT alone."""
    slopes, pair_slopes = np.empty((rows.shape[0], weights.shape[1])), np.empty_like(transitions)
    likelihood = set_gradient(rows, log_evidence, weights, transitions, slopes, pair_slopes)
    slopes *= -strength
    step_rows(rows, _steep_alone(slopes), weights, state, rate, step)
    if not fixed:
        pair_slopes *= -strength
        step_rows(every_row(transitions), _steep_alone(pair_slopes), transitions, pair_state, rate, step)
    return -strength * likelihood
