"""Arcs, reversed arcs and relations of a target tree, scored by the words' positions in a source tree.

Features are not stored but hashed again whenever they are needed. A template is a row of operations, each
``place << 8 | column`` of kernels.source_paths; -1 fills the row. An arc with too long a path fires only the
first template, without contents.

Relations are a softmax for each arc. In addition to one outcome for each known relation, two outcomes copy a
source relation, that of the word itself and that of its branch (the highest node below the common ancestor of
the word and its new head): so unseen relations can be kept, and a promoted word can take its phrase's.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.adaptation.source_paths import PLACES, pair_atoms, path_between, workspace
from qsproj.kernels.compilation import FAST, njit
from qsproj.kernels.features.arc_features import MULTIPLIER, mix
from qsproj.kernels.features.sparse_gradient import DONE, adagrad_outcomes, add_slopes

PAIR_PLACE = len(PLACES) - 1
# A gradient (a difference of probabilities) smaller than this does not move the weights.
NEGLIGIBLE = 1e-3


class Templates(NamedTuple):
    """Programs of features int32[T, W], initial hashes uint64[T]; a hash >> ``shift`` is a bucket."""

    operations: NDArray[np.int32]
    seeds: NDArray[np.uint64]
    shift: np.uint64


@njit(cache=True, error_model="numpy")
def arc_buckets(source, templates, head, dependent, room, out):
    """Write the buckets of the features of one arc into ``out`` uint64[T]; return their number."""
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_scores(source, templates, weights, share, scores):
    """Add ``share`` times every arc's score to ``scores`` float64[n+1, n+1]; O(n^2 (n + T))."""
    room, out = workspace(templates.operations.shape[0])
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
def gather_arcs(source, templates, slopes, share, gradient, touched, used, begin):
    """Add the gradient of one sentence to those of its features; see kernels.features.sparse_gradient.

    ``slopes`` float64[n+1, n+1]: derivative of the loss by each arc score; entries below NEGLIGIBLE are
    skipped. ``share``: the factor on the scores of this tree.
    """
    room, out = workspace(templates.operations.shape[0])
    size = slopes.shape[0]
    for arc in range(begin, size * size):
        head, dependent = arc // size, arc % size
        slope = slopes[head, dependent]
        if dependent == 0 or head == dependent or abs(slope) < NEGLIGIBLE:
            continue
        if used + out.shape[0] > touched.shape[0]:
            return used, arc
        slope *= share
        count = arc_buckets(source, templates, head, dependent, room, out)
        used = add_slopes(out, count, slope, gradient, touched, used)
    return used, DONE


@njit(cache=True, error_model="numpy", fastmath=FAST)
def turn_scores(source, templates, weights, scores):
    """Write the score of reversing each word's source arc into float64[n+1]; -inf without such an arc."""
    room, out = workspace(templates.operations.shape[0])
    scores[:] = -np.inf
    for word in range(1, scores.shape[0]):
        # int64 instead of the heads' int32: otherwise arc_buckets would be compiled twice.
        head = np.int64(source.heads[word])
        if head > 0:
            total = 0.0
            for k in range(arc_buckets(source, templates, head, word, room, out)):
                total += weights[out[k]]
            scores[word] = total


@njit(cache=True, error_model="numpy")
def gather_turns(source, templates, slopes, gradient, touched, used, begin):
    """As :func:`gather_arcs` for :func:`turn_scores`: ``slopes`` float64[n+1], by each word's score."""
    room, out = workspace(templates.operations.shape[0])
    for word in range(max(begin, 1), slopes.shape[0]):
        head = np.int64(source.heads[word])
        if head <= 0 or abs(slopes[word]) < NEGLIGIBLE:
            continue
        if used + out.shape[0] > touched.shape[0]:
            return used, word
        count = arc_buckets(source, templates, head, word, room, out)
        used = add_slopes(out, count, slopes[word], gradient, touched, used)
    return used, DONE


COPY_OWN, COPY_BRANCH = 0, 1
COPIES = 2


@njit(cache=True, error_model="numpy")
def branches(source, heads, found):
    """Write each word's branch seen from its head, itself if there is none, into ``found`` int32[n+1]."""
    up, down = workspace(0)[0][:2]
    for word in range(heads.shape[0]):
        found[word] = word
        if word == 0 or heads[word] < 0:
            continue
        ups, _, ancestor = path_between(source.heads, source.depths, np.int64(heads[word]), word, up, down)
        if ancestor >= 0 and 0 < ups <= up.shape[0]:
            found[word] = up[ups - 1]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def score_relations(source, templates, heads, weights, scores):
    """Write the score of every outcome for the arc into each word into ``scores`` float64[n+1, COPIES + L].

    ``heads`` int32[n+1] is the target tree, ``weights`` float32[buckets, COPIES + L]; rows of words without a
    head (and row 0) become zero.
    """
    room, out = workspace(templates.operations.shape[0])
    scores[:] = 0.0
    for word in range(1, heads.shape[0]):
        head = np.int64(heads[word])
        if head < 0:
            continue
        for k in range(arc_buckets(source, templates, head, word, room, out)):
            row = weights[out[k]]
            for outcome in range(row.shape[0]):
                scores[word, outcome] += row[outcome]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def step_relations(source, templates, heads, gradient, weights, state, rate, step):
    """Take one AdaGrad step for each arc of a sentence, by ``gradient`` float64[n+1, COPIES + L]."""
    room, out = workspace(templates.operations.shape[0])
    for word in range(1, heads.shape[0]):
        head = np.int64(heads[word])
        if head < 0:
            continue
        count = arc_buckets(source, templates, head, word, room, out)
        adagrad_outcomes(weights, state, out[:count], gradient[word], rate, step)
