"""Relations of the arcs of a target tree, given a source tree: a softmax for each arc.

Beside one outcome for each known relation there are two that copy a source relation, that of the word itself
and that of its branch (the highest node below the common ancestor of the word and its new head): a relation
that was never seen can so be kept, and a promoted word can take over the relation of its phrase.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.adaptation.adaptation_features import arc_buckets
from qsproj.kernels.adaptation.source_paths import path_between, workspace
from qsproj.kernels.compilation import njit
from qsproj.kernels.features.adagrad import adagrad_outcomes

COPY_OWN, COPY_BRANCH = 0, 1
COPIES = 2


@njit(cache=True, error_model="numpy")
def branches(source, heads, found):
    """Write each word's branch, seen from its head in ``heads``, into ``found`` int32[n+1].

    It is the word itself where the word is the ancestor, has no head, or stands in another tree.
    """
    up, down = workspace()[:2]
    for word in range(heads.shape[0]):
        found[word] = word
        if word == 0 or heads[word] < 0:
            continue
        ups, _, ancestor = path_between(source.heads, source.depths, np.int64(heads[word]), word, up, down)
        if ancestor >= 0 and 0 < ups <= up.shape[0]:
            found[word] = up[ups - 1]


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def score_relations(source, templates, heads, weights, scores):
    """Write the score of every outcome for the arc into each word into ``scores`` float64[n+1, COPIES + L].

    ``heads`` int32[n+1] is the target tree, ``weights`` float32[buckets, COPIES + L]; rows of words without a
    head (and row 0) become zero.
    """
    room = workspace()
    out = np.empty(templates.operations.shape[0], np.uint64)
    scores[:] = 0.0
    for word in range(1, heads.shape[0]):
        head = np.int64(heads[word])
        if head < 0:
            continue
        for k in range(arc_buckets(source, templates, head, word, room, out)):
            row = weights[out[k]]
            for outcome in range(row.shape[0]):
                scores[word, outcome] += row[outcome]


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def step_relations(source, templates, heads, gradient, weights, state, rate, step):
    """Take one AdaGrad step for each arc of a sentence.

    ``gradient`` float64[n+1, COPIES + L]: derivative of the loss by each score. ``weights``, ``state``,
    ``rate``, ``step``: see :func:`qsproj.kernels.features.adagrad.adagrad_outcomes`.
    """
    room = workspace()
    out = np.empty(templates.operations.shape[0], np.uint64)
    for word in range(1, heads.shape[0]):
        head = np.int64(heads[word])
        if head < 0:
            continue
        count = arc_buckets(source, templates, head, word, room, out)
        adagrad_outcomes(weights, state, out[:count], gradient[word], rate, step)
