"""Scores of arcs: sums of the weights of hashed features, for all arcs of a sentence or for some.

Features are those of :mod:`.arc_features`. Memory is asked for the weights of an arc while those of the arc
before are summed.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import (
    arc_lines,
    between_workspace,
    bucket_workspace,
    direction_and_distance,
    extend_between,
    hash_between,
    look_between,
    nothing_between,
)
from qsproj.kernels.prefetch import prefetch_rows


@njit(cache=True, borrows=True, error_model="numpy")
def total_of_lines(features, weights, buckets, place):
    """Return the sum of the weights of an arc's features, also of those without direction and distance.

    ``buckets`` are those that :func:`arc_lines` wrote.
    """
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


@njit(cache=True, borrows=True, error_model="numpy")
def _score_arcs(features, weights, first, scores, between, room):
    """Do what :func:`score_arcs` does; ``room`` uint64[2, B] is for lines of this arc and the last."""
    n = scores.shape[0] - 1
    row, lines = 0, 0
    previous_head = previous_dependent = 0
    for head in range(n + 1):
        for direction in (1, -1):
            nothing_between(features, between)
            dependent = head + direction
            while 1 <= dependent <= n:
                ahead = arc_lines(features, first + head, first + dependent, between, room[row])
                prefetch_rows(weights, room[row], ahead)
                if lines:
                    place = direction_and_distance(previous_head, previous_dependent)
                    total = total_of_lines(features, weights, room[1 - row, :lines], place)
                    scores[previous_head, previous_dependent] = total
                row, lines = 1 - row, ahead
                previous_head, previous_dependent = head, dependent
                if extend_between(features.tags[first + dependent], between):
                    hash_between(features, between)
                dependent += direction
    if lines:
        place = direction_and_distance(previous_head, previous_dependent)
        total = total_of_lines(features, weights, room[1 - row, :lines], place)
        scores[previous_head, previous_dependent] = total


@njit(cache=True, error_model="numpy")
def score_arcs(features, weights, first, scores):
    """Write the score of every arc, the sum of its features' weights, into ``scores`` float64[n+1, n+1].

    ``weights`` float32[buckets] holds zero for a feature that does not exist. Column 0 and the diagonal of
    ``scores`` are left as they are. The root is at position ``first`` of the features. O(n^2 T) time.
    """
    room = np.empty((2, bucket_workspace(features).shape[0]), np.uint64)
    _score_arcs(features, weights, first, scores, between_workspace(features), room)


@njit(cache=True, error_model="numpy")
def score_block(features, weights, starts, sizes, scores):
    """Score the arcs of several sentences, encoded as one; those of one follow those of another.

    ``starts`` and ``sizes`` int64[S] are as of :class:`qsproj.features.atoms.EncodedBlock`; ``scores``
    float64[sum of sizes squared] holds zeros and is filled.
    """
    begin = 0
    for sentence in range(starts.shape[0]):
        size = sizes[sentence]
        own = scores[begin : begin + size * size].reshape((size, size))
        score_arcs(features, weights, starts[sentence], own)
        begin += size * size


@njit(cache=True, borrows=True, error_model="numpy")
def _score_chosen(features, weights, heads, dependents, between, room, scores):
    """Do what :func:`score_chosen_arcs` does; see :func:`_score_arcs`."""
    lines = 0
    for arc in range(heads.shape[0] + 1):
        row, ahead = arc % 2, 0
        if arc < heads.shape[0]:
            head, dependent = np.int64(heads[arc]), np.int64(dependents[arc])
            look_between(features, head, dependent, between)
            ahead = arc_lines(features, head, dependent, between, room[row])
            prefetch_rows(weights, room[row], ahead)
        if arc > 0:
            place = direction_and_distance(np.int64(heads[arc - 1]), np.int64(dependents[arc - 1]))
            scores[arc - 1] = total_of_lines(features, weights, room[1 - row, :lines], place)
        lines = ahead


@njit(cache=True, error_model="numpy")
def score_chosen_arcs(features, weights, heads, dependents):
    """Score some arcs alone, ``heads[a]`` to ``dependents[a]``, int32[A]: what :func:`score_arcs` gives them.

    Returns float64[A]. O(A (T + n)) time.
    """
    scores = np.empty(heads.shape[0])
    room = np.empty((2, bucket_workspace(features).shape[0]), np.uint64)
    _score_chosen(features, weights, heads, dependents, between_workspace(features), room, scores)
    return scores
