"""Features of arcs, hashed on the fly: their buckets, scores and gradients.

Features are not stored but hashed again whenever they are needed. The hash of a feature combines three parts:
the template's attributes of the head, of the dependent (both computed once for each position), and of the arc
(direction, distance, the tags between). Direction and distance change only the low four bits of a bucket. So
a feature with and without direction and distance is in one block of 16 buckets, which in float32 is a cache
line: an arc costs one memory access for each template, not two, and collisions are as frequent as under any
other hash.

The kernels share ``atoms`` uint64[n + 1 + 2 * PAD, A]: hash of attribute a at position p (0 is the root) in
row ``p + PAD``; the PAD rows before and after are outside the sentence. Operations int32[T, W]: the
attributes of either end in each template, packed as ``column << 8 | (offset + 128)``; -1 fills the row.
``seeds`` uint64[T]: initial hash of each template.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.copying import copy_into
from qsproj.kernels.features.sparse_gradient import DONE, add_slopes
from qsproj.kernels.prefetch import prefetch_rows

PAD = 2

EACH, SET, VERBS, PUNCTUATION, COORDINATORS = 1, 2, 4, 8, 16

# Numbers in features.atoms of the tags that are counted between head and dependent.
TAG_VERB, TAG_PUNCTUATION, TAG_COORDINATOR = 1, 2, 3

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
BETWEEN_SEED = np.uint64(0xD6E8FEB86659FD93)
SHIFT = np.uint64(29)
ONE = np.uint64(1)
# For a literal, numba would compile the called functions once more.
ZERO: Any = np.int64(0)


class ArcFeatures(NamedTuple):
    """The parts of the hashes of a sentence's arc features.

    Templates form three runs: [0, plain) fire with and without direction and distance, [plain, directed)
    only with, [directed, T) read the tags between and fire with and without.
    """

    head_parts: NDArray[np.uint64]  # [n + 1, T]: hash of each template's attributes of a position as head
    dependent_parts: NDArray[np.uint64]  # [n + 1, T]: and as dependent
    tags: NDArray[np.uint8]  # [n + 1]: coarse tags below 63: one bit each of an int64, but the sign
    between: NDArray[np.int32]  # [T]: a sum of EACH, SET, VERBS, PUNCTUATION, COORDINATORS
    plain: int
    directed: int
    shift: np.uint64  # a 64-bit hash shifted right by this is a bucket


@njit(cache=True, error_model="numpy", inline="always")
def mix(state, value):
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> SHIFT)


@njit(cache=True, error_model="numpy")
def position_parts(atoms, operations, seeds, parts):
    """Write the hash of each template's attributes of each role and position, or its seed, into ``parts``."""
    for role in range(parts.shape[0]):
        for position in range(parts.shape[1]):
            for t in range(operations.shape[1]):
                state = seeds[role, t]
                for k in range(operations.shape[2]):
                    operation = operations[role, t, k]
                    if operation < 0:
                        break
                    state = mix(state, atoms[position + PAD + (operation & 0xFF) - 128, operation >> 8])
                parts[role, position, t] = state


@njit(cache=True, borrows=True, error_model="numpy")
def direction_and_distance(head, dependent):
    """Return direction and binned distance (1, 2, 3, 4, 5-9, 10+; McDonald et al. 2005) as 3 to 14."""
    gap = abs(head - dependent)
    binned_gap = gap if gap < 5 else 5 if gap < 10 else 6
    return np.uint64(2 * binned_gap + (2 if head < dependent else 1))


class Between(NamedTuple):
    """Tags of the words between a head and a dependent; widened word by word, and mutated so."""

    counts: NDArray[np.int64]  # [5]: tags seen (bits), verbs, punctuation, coordinators, different tags
    different: NDArray[np.uint64]  # [64]: the hashes of the different tags, in order of occurrence
    hashes: NDArray[np.uint64]  # [T - directed]: hash of the attributes in each template, except for EACH


@njit(cache=True, error_model="numpy")
def between_workspace(features):
    """Return the work arrays for the tags between, to be cleared by :func:`nothing_between`."""
    asking = features.between.shape[0] - features.directed
    return Between(np.empty(5, np.int64), np.empty(64, np.uint64), np.empty(asking, np.uint64))


@njit(cache=True, error_model="numpy")
def bucket_workspace(features):
    """Return an array for the buckets of an arc; templates may fire for every tag, with and without place."""
    asking = features.between.shape[0] - features.directed
    return np.empty(2 * (features.directed + 64 * asking), np.uint64)


@njit(cache=True, borrows=True, error_model="numpy")
def nothing_between(features, between):
    between.counts[:] = 0
    hash_between(features, between)


@njit(cache=True, borrows=True, error_model="numpy")
def extend_between(tag, between):
    """Add the tag of one more word; return whether the result of :func:`hash_between` changes."""
    counts = between.counts
    bit = np.int64(1) << np.int64(tag)
    is_new = (counts[0] & bit) == 0
    if is_new:
        counts[0] |= bit
        between.different[counts[4]] = np.uint64(tag) + ONE
        counts[4] += 1
    counts[1] += tag == TAG_VERB
    counts[2] += tag == TAG_PUNCTUATION
    counts[3] += tag == TAG_COORDINATOR
    return is_new or tag == TAG_VERB or tag == TAG_PUNCTUATION or tag == TAG_COORDINATOR


@njit(cache=True, borrows=True, error_model="numpy")
def hash_between(features, between):
    """Hash the attributes of the tags between in each template, except for EACH."""
    counts = between.counts
    for t in range(features.directed, features.between.shape[0]):
        asked, state = features.between[t], BETWEEN_SEED
        if asked & SET:
            state = mix(state, np.uint64(counts[0]))
        if asked & VERBS:
            state = mix(state, np.uint64(min(counts[1], 3)))
        if asked & PUNCTUATION:
            state = mix(state, np.uint64(min(counts[2], 3)))
        if asked & COORDINATORS:
            state = mix(state, np.uint64(min(counts[3], 3)))
        between.hashes[t - features.directed] = state


@njit(cache=True, borrows=True, error_model="numpy")
def arc_lines(features, head, dependent, between, out):
    """Write an arc's buckets with direction and distance, each in its own block; return their number."""
    head_part, dependent_part = features.head_parts[head], features.dependent_parts[dependent]
    directed, shift = features.directed, features.shift
    place = direction_and_distance(head, dependent)
    for t in range(directed):
        out[t] = (((head_part[t] ^ dependent_part[t]) * MULTIPLIER) >> shift) ^ place
    # Slices avoid a test for negative indices at each access.
    head_part, dependent_part = head_part[directed:], dependent_part[directed:]
    asked = features.between[directed:]
    end = np.uint64(directed)
    for t in range(asked.shape[0]):
        state = head_part[t] ^ dependent_part[t]
        if asked[t] != EACH:
            out[end] = (((state ^ between.hashes[t]) * MULTIPLIER) >> shift) ^ place
            end += ONE
            continue
        for k in range(between.counts[4]):
            out[end] = ((mix(state, between.different[k]) * MULTIPLIER) >> shift) ^ place
            end += ONE
    return np.int64(end)


@njit(cache=True, borrows=True, error_model="numpy")
def arc_buckets(features, head, dependent, between, out):
    """Write the buckets of an arc's features, blocks of 16; return the numbers in blocks and in all."""
    plain, directed = features.plain, features.directed
    place = direction_and_distance(head, dependent)
    lines = arc_lines(features, head, dependent, between, out)
    for t in range(plain):
        out[lines + t] = out[t] ^ place
    for t in range(directed, lines):
        out[lines + plain - directed + t] = out[t] ^ place
    return lines, 2 * lines - (directed - plain)


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FAST)
def total_weight(weights, buckets, count):
    total = 0.0
    for k in range(count):
        total += weights[buckets[k]]
    return total


@njit(cache=True, borrows=True, error_model="numpy")
def look_between(features, head, dependent, between):
    """Collect the tags between a head and a dependent from scratch. O(T + n) time."""
    between.counts[:] = 0
    for k in range(min(head, dependent) + 1, max(head, dependent)):
        extend_between(features.tags[k], between)
    hash_between(features, between)


@njit(cache=True, borrows=True, error_model="numpy")
def one_arc(features, head, dependent, between, out):
    """Apply :func:`arc_buckets` with ``between`` collected from scratch; return the count."""
    look_between(features, head, dependent, between)
    return arc_buckets(features, head, dependent, between, out)[1]


@njit(cache=True, borrows=True, error_model="numpy")
def total_of_lines(features, weights, buckets, place):
    """Return the sum of an arc's weights, with and without direction and distance, by :func:`arc_lines`."""
    near = buckets[: features.plain]
    alone = buckets[features.plain : features.directed]
    far = buckets[features.directed :]
    with_place = without = 0.0
    for k in range(near.shape[0]):
        with_place += weights[near[k]]
        without += weights[near[k] ^ place]
    for k in range(alone.shape[0]):
        with_place += weights[alone[k]]
    for k in range(far.shape[0]):
        with_place += weights[far[k]]
        without += weights[far[k] ^ place]
    return with_place + without


# Number of arcs whose weights are prefetched while those of earlier arcs are summed.
AHEAD = 4


@njit(cache=True, borrows=True, error_model="numpy")
def _score_arcs(features, weights, first, scores, between, room, waiting):
    """Compute :func:`score_arcs`; ``room`` uint64[AHEAD, B] is for the lines of the ``waiting`` arcs.

    ``waiting`` int64[AHEAD, 3]: their heads, dependents and numbers of lines.
    """
    n, begun = scores.shape[0] - 1, ZERO
    for head in range(n + 1):
        for direction in (1, -1):
            nothing_between(features, between)
            dependent = head + direction
            while 1 <= dependent <= n:
                row = begun % AHEAD
                if begun >= AHEAD:
                    _score_waiting(features, weights, scores, room[row], waiting[row])
                lines = arc_lines(features, first + head, first + dependent, between, room[row])
                prefetch_rows(weights, room[row], lines)
                waiting[row, 0], waiting[row, 1], waiting[row, 2] = head, dependent, lines
                begun += 1
                if extend_between(features.tags[first + dependent], between):
                    hash_between(features, between)
                dependent += direction
    for arc in range(max(begun - AHEAD, 0), begun):
        _score_waiting(features, weights, scores, room[arc % AHEAD], waiting[arc % AHEAD])


@njit(cache=True, borrows=True, error_model="numpy")
def _score_waiting(features, weights, scores, lines, arc):
    head, dependent = arc[0], arc[1]
    place = direction_and_distance(head, dependent)
    scores[head, dependent] = total_of_lines(features, weights, lines[: arc[2]], place)


@njit(cache=True, error_model="numpy")
def score_arcs(features, weights, first, scores):
    """Write the score of every arc into ``scores`` float64[n+1, n+1], but column 0 and the diagonal.

    ``weights`` float32[buckets] are zero for nonexistent features. O(n^2 T) time.
    """
    room = np.empty((AHEAD, bucket_workspace(features).shape[0]), np.uint64)
    waiting = np.empty((AHEAD, 3), np.int64)
    _score_arcs(features, weights, first, scores, between_workspace(features), room, waiting)


@njit(cache=True, error_model="numpy")
def score_block(features, weights, starts, sizes, scores):
    """Score the arcs of sentences encoded as one (:class:`~qsproj.features.atoms.EncodedBlock`)."""
    begin = 0
    for sentence in range(starts.shape[0]):
        size = sizes[sentence]
        own = scores[begin : begin + size * size].reshape((size, size))
        score_arcs(features, weights, starts[sentence], own)
        begin += size * size


@njit(cache=True, borrows=True, error_model="numpy")
def _score_chosen(features, weights, heads, dependents, between, room, counts, scores):
    for arc in range(heads.shape[0] + AHEAD):
        row, ready = arc % AHEAD, arc - AHEAD
        if ready >= 0:
            place = direction_and_distance(np.int64(heads[ready]), np.int64(dependents[ready]))
            scores[ready] = total_of_lines(features, weights, room[row, : counts[row]], place)
        if arc < heads.shape[0]:
            head, dependent = np.int64(heads[arc]), np.int64(dependents[arc])
            look_between(features, head, dependent, between)
            counts[row] = arc_lines(features, head, dependent, between, room[row])
            prefetch_rows(weights, room[row], counts[row])


@njit(cache=True, error_model="numpy")
def score_chosen_arcs(features, weights, heads, dependents):
    """Score only the arcs ``heads[a]`` to ``dependents[a]``, int32[A]: float64[A]; O(A (T + n))."""
    scores = np.empty(heads.shape[0])
    room = np.empty((AHEAD, bucket_workspace(features).shape[0]), np.uint64)
    counts = np.empty(AHEAD, np.int64)
    _score_chosen(features, weights, heads, dependents, between_workspace(features), room, counts, scores)
    return scores


# Smaller gradients (differences of probabilities) do not move the weights, so that most arcs need no second
# pass. Compared with 1e-4, training is a third faster and dev UAS the same.
NEGLIGIBLE = 5e-3


@njit(cache=True, error_model="numpy")
def count_features(features, arcs, counts, last, sentence):
    """Count the features that fire on arcs bool[n+1, n+1], in ``counts`` uint16[buckets], saturating.

    ``sentence``: its number, which counts once for each feature, noted in ``last``; -1: every arc counts.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    for head in range(arcs.shape[0]):
        for dependent in range(1, arcs.shape[0]):
            if head != dependent and arcs[head, dependent]:
                for k in range(one_arc(features, head, dependent, between, out)):
                    bucket = out[k]
                    if counts[bucket] < 65535 and (sentence < 0 or last[bucket] != sentence):
                        counts[bucket] += np.uint16(1)
                        last[bucket] = sentence


@njit(cache=True, borrows=True, error_model="numpy")
def keep_supported(buckets, count, support):
    """Move the buckets of existing features, of the first ``count``, to the front; return their number."""
    kept = np.int64(0)
    for k in range(count):
        bucket = buckets[k]
        buckets[kept] = bucket
        kept += np.int64((support[bucket >> np.uint64(6)] >> (bucket & np.uint64(63))) & ONE)
    return kept


@njit(cache=True, error_model="numpy")
def list_arcs(features, heads, dependents, support):
    """List the features of some arcs int32[A]: ``starts`` int64[A + 1], ``buckets`` uint64[starts[A]]."""
    between, out = between_workspace(features), bucket_workspace(features)
    starts = np.zeros(heads.shape[0] + 1, np.int64)
    buckets = np.empty(256 * (heads.shape[0] + 1), np.uint64)
    for arc in range(heads.shape[0]):
        count = one_arc(features, heads[arc], dependents[arc], between, out)
        count = keep_supported(out, count, support)
        first = starts[arc]
        if first + count > buckets.shape[0]:
            more = np.empty(2 * (first + count), np.uint64)
            copy_into(more, buckets[:first])
            buckets = more
        for k in range(count):
            buckets[first + k] = out[k]
        starts[arc + 1] = first + count
    return starts, buckets[: starts[-1]]


@njit(cache=True, borrows=True, error_model="numpy")
def _gather_arcs(features, slopes, support, where, gradient, touched, used, between, room):
    """Compute :func:`gather_arcs`; ``room`` uint64[2, B] is for the buckets of this arc and the last."""
    begin, negligible = where
    size = slopes.shape[0]
    row, waiting, steepness = 0, ZERO, 0.0
    for arc in range(begin, size * size):
        head, dependent = arc // size, arc % size
        slope = slopes[head, dependent]
        if dependent == 0 or head == dependent or abs(slope) <= negligible:
            continue
        count = one_arc(features, head, dependent, between, room[row])
        if used + waiting + count > touched.shape[0]:
            return add_slopes(room[1 - row], waiting, steepness, gradient, touched, used), arc
        supported = keep_supported(room[row], count, support)
        # The gradient of this arc is prefetched while that of the previous arc is updated.
        prefetch_rows(gradient, room[row], supported)
        used = add_slopes(room[1 - row], waiting, steepness, gradient, touched, used)
        row, waiting, steepness = 1 - row, supported, slope
    return add_slopes(room[1 - row], waiting, steepness, gradient, touched, used), DONE


@njit(cache=True, error_model="numpy")
def gather_arcs(features, slopes, support, negligible, gradient, touched, used, begin):
    """Add the gradient of one sentence to those of its features; see :mod:`.sparse_gradient`.

    ``slopes`` float64[n+1, n+1]: derivative of the loss by each arc score, skipped up to ``negligible``.
    ``support`` uint64[buckets / 64]: bit mask of the features that exist.
    """
    between = between_workspace(features)
    room = np.empty((2, bucket_workspace(features).shape[0]), np.uint64)
    where = (begin, negligible)
    return _gather_arcs(features, slopes, support, where, gradient, touched, used, between, room)


# Arcs in clusters have a row of weights for each bucket and are hashed once for all clusters. Weights and
# gradients are flat: cluster c of bucket b has index b C + c, so that the weights of a feature are adjacent.


@njit(cache=True, error_model="numpy")
def total_weights(weights, places, count, scores):
    """Write the sums of weights of an arc in each cluster into ``scores`` float64[C]; mutates ``places``."""
    for cluster in range(scores.shape[0]):
        scores[cluster] = total_weight(weights, places, count)
        for k in range(count):
            places[k] += ONE


@njit(cache=True, error_model="numpy")
def score_clusters(features, weights, scores):
    """Write the score of every arc in every cluster into float64[n+1, n+1, C]; O(n^2 T C) time."""
    n, clusters = scores.shape[0] - 1, scores.shape[2]
    between, out, ahead = between_workspace(features), bucket_workspace(features), bucket_workspace(features)
    previous_head = previous_dependent = previous_count = ZERO
    for head in range(n + 1):
        for direction in (1, -1):
            nothing_between(features, between)
            dependent = head + direction
            while 1 <= dependent <= n:
                count = arc_buckets(features, head, dependent, between, ahead)[1]
                for k in range(count):
                    ahead[k] *= np.uint64(clusters)
                prefetch_rows(weights, ahead, count)
                if previous_count:
                    total_weights(weights, out, previous_count, scores[previous_head, previous_dependent])
                out, ahead = ahead, out
                previous_head, previous_dependent, previous_count = head, dependent, count
                if extend_between(features.tags[dependent], between):
                    hash_between(features, between)
                dependent += direction
    if previous_count:
        total_weights(weights, out, previous_count, scores[previous_head, previous_dependent])


@njit(cache=True, error_model="numpy")
def gather_clusters(features, slopes, chances, support, negligible, gradient, touched, used, begin):
    """Add the gradient of one sentence, as :func:`gather_arcs` does.

    ``slopes``: the clusters summed out; ``chances`` float64[n+1, n+1, C]: probability of each cluster.
    """
    between, out = between_workspace(features), bucket_workspace(features)
    size, clusters = slopes.shape[0], chances.shape[2]
    for arc in range(begin, size * size):
        head, dependent = arc // size, arc % size
        slope = slopes[head, dependent]
        if dependent == 0 or head == dependent or abs(slope) <= negligible:
            continue
        count = one_arc(features, head, dependent, between, out)
        if used + count * clusters > touched.shape[0]:
            return used, arc
        supported = keep_supported(out, count, support)
        for k in range(supported):
            out[k] *= np.uint64(clusters)
        for cluster in range(clusters):
            share = slope * chances[head, dependent, cluster]
            used = add_slopes(out, supported, share, gradient, touched, used)
            for k in range(supported):
                out[k] += ONE
    return used, DONE
