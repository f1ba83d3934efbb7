"""Scores of candidate arcs, and of turning source arcs round, from where their ends stand in a source tree.

Nothing is stored for a sentence: the features of an arc are hashed again whenever they are needed. A template
is a row of operations, each ``place << 8 | column`` of kernels.source_paths; -1 fills the row. An arc whose
path is too long to be told fires the first template alone, with nothing in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.adaptation.source_paths import PLACES, pair_atoms, workspace
from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import MULTIPLIER, mix

PAIR_PLACE = len(PLACES) - 1
# A gradient (a difference of probabilities) smaller than this does not step the weights.
NEGLIGIBLE = 1e-3


class Templates(NamedTuple):
    """What features ask, as integer programs.

    Attributes
    ----------
    operations : int32[T, W]
    seeds : uint64[T]
        Where the hash of each template starts.
    shift : uint64
        A 64-bit hash shifted right by this is a bucket.
    """

    operations: NDArray[np.int32]
    seeds: NDArray[np.uint64]
    shift: np.uint64


@njit(cache=True, error_model="numpy")
def arc_buckets(source, templates, head, dependent, room, out):
    """Write the buckets of the features of one arc into ``out`` uint64[T]; return how many there are."""
    if not pair_atoms(source, head, dependent, room):
        out[0] = (templates.seeds[0] * MULTIPLIER) >> templates.shift
        return 1
    nodes, pair = room[3], room[4]
    operations = templates.operations
    for t in range(operations.shape[0]):
        state = templates.seeds[t]
        for k in range(operations.shape[1]):
            operation = operations[t, k]
            if operation < 0:
                break
            place, column = operation >> 8, operation & 0xFF
            value = pair[column] if place == PAIR_PLACE else source.atoms[nodes[place], column]
            state = mix(state, value)
        out[t] = (state * MULTIPLIER) >> templates.shift
    return operations.shape[0]


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def add_scores(source, templates, weights, share, scores):
    """Add ``share`` times the score of every arc to ``scores`` float64[n+1, n+1].

    Column 0 and the diagonal are left as they are. ``weights`` is float32[buckets]. O(n^2 (n + T)) time.
    """
    room = workspace()
    out = np.empty(templates.operations.shape[0], np.uint64)
    size = scores.shape[0]
    for head in range(size):
        for dependent in range(1, size):
            if head == dependent:
                continue
            total = 0.0
            for k in range(arc_buckets(source, templates, head, dependent, room, out)):
                total += weights[out[k]]
            scores[head, dependent] += share * total


@njit(cache=True, error_model="numpy")
def add_prior(source, amount, scores):
    """Add ``amount`` to ``scores`` float64[n+1, n+1] for each of the first two turned trees with the arc."""
    for dependent in range(1, scores.shape[0]):
        for tree in range(2):
            head = source.turned_heads[tree, dependent]
            if head >= 0:
                scores[head, dependent] += amount


@njit(cache=True, error_model="numpy")
def add_to_gradient(source, templates, head, dependent, slope, room, out, state, touched, used):
    """Add ``slope`` to the gradient of every feature of one arc; see :func:`add_gradient`."""
    for k in range(arc_buckets(source, templates, head, dependent, room, out)):
        bucket = out[k]
        if state[bucket, 2] == 0.0:
            touched[used] = bucket
            used += 1
        state[bucket, 2] += slope
    return used


@njit(cache=True, error_model="numpy")
def add_gradient(source, templates, gradient, share, state, touched, used):
    """Add the gradient of one sentence by the weights of its features to ``state[:, 2]``.

    Parameters
    ----------
    source : SourceNodes
    templates : Templates
    gradient : float64[n+1, n+1]
        Derivative of the loss by each arc score; entries below NEGLIGIBLE are skipped.
    share : float
        What the scores of this tree were multiplied by.
    state : float32[buckets, 3]
        See kernels.adagrad. Mutated.
    touched : uint64[capacity]
        The buckets that have a gradient, from ``used`` on: room for T times the entries not skipped. Mutated.
    used : int
        How much of ``touched`` is filled.

    Returns
    -------
    int
        How much of ``touched`` is filled now.
    """
    room = workspace()
    out = np.empty(templates.operations.shape[0], np.uint64)
    for head in range(gradient.shape[0]):
        for dependent in range(1, gradient.shape[0]):
            slope = gradient[head, dependent]
            if head != dependent and abs(slope) >= NEGLIGIBLE:
                slope *= share
                used = add_to_gradient(
                    source, templates, head, dependent, slope, room, out, state, touched, used
                )
    return used


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def turn_scores(source, templates, weights, scores):
    """Write into ``scores`` float64[n+1] the score of turning each word's source arc round.

    Words without a head and dependents of the root get -inf: there is nothing to turn.
    """
    room = workspace()
    out = np.empty(templates.operations.shape[0], np.uint64)
    scores[:] = -np.inf
    for word in range(1, scores.shape[0]):
        # Not the int32 of the heads themselves: arc_buckets would be compiled twice.
        head = np.int64(source.heads[word])
        if head > 0:
            total = 0.0
            for k in range(arc_buckets(source, templates, head, word, room, out)):
                total += weights[out[k]]
            scores[word] = total


@njit(cache=True, error_model="numpy")
def add_turn_gradient(source, templates, gradient, state, touched):
    """As :func:`add_gradient` for :func:`turn_scores`: ``gradient`` float64[n+1], by each word's score."""
    room = workspace()
    out = np.empty(templates.operations.shape[0], np.uint64)
    used = 0
    for word in range(1, gradient.shape[0]):
        head = np.int64(source.heads[word])
        if head > 0 and abs(gradient[word]) >= NEGLIGIBLE:
            slope = gradient[word]
            used = add_to_gradient(source, templates, head, word, slope, room, out, state, touched, used)
    return used
