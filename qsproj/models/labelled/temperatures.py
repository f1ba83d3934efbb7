"""Probabilities that keep what they promise: temperatures fitted on sentences that were not trained on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from qsproj.conventions import NO_HEAD
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.models.labelled.labelled_parser import LabelledParser, best_chances
from qsproj.models.tree_inference import of_tree

# Between these a temperature is looked for.
LEAST, MOST = 0.5, 8.0
# No probability is held to be nearer to 0 or 1 than this.
DOUBT = 1e-4


def calibrated(parser: LabelledParser, sentences: Sequence[Sentence]) -> LabelledParser:
    """Return a parser with the temperatures under which its probabilities fit what is right best.

    The loss is that of the statement, for each word of the trees that it finds, that the arc is right, and
    then, that arc and relation are: the negative log of the probability of what is the case.

    Parameters
    ----------
    parser : LabelledParser
        Not changed; trained on other sentences.
    sentences : sequence of Sentence
        With trees.

    *Source*: Guo et al. 2017, 4.2 (temperature scaling); the binary loss is ours, as arcs are pruned.
    """
    posteriors = [parser.posterior(sentence) for sentence in sentences]
    trees = [parser.heads(posterior) for posterior in posteriors]
    scores = [
        parser.relation_scores(parser.encode(sentence), posterior, heads)
        for sentence, posterior, heads in zip(sentences, posteriors, trees, strict=True)
    ]
    gold = np.concatenate([sentence.heads[1:] for sentence in sentences])
    wanted = np.concatenate([sentence.deprels for sentence in sentences])
    right = np.concatenate([heads[1:] for heads in trees]) == gold
    names = np.array(parser.relations.relations)
    named = right & (np.concatenate([names[matrix.argmax(axis=1)] for matrix in scores]) == wanted)
    known = gold != NO_HEAD
    labelled = known & (wanted != UNSPECIFIED)
    if not labelled.any():
        return parser

    def arcs(temperature: float) -> NDArray[np.float64]:
        believed = (parser.believed(one.scores.tempered(temperature)) for one in posteriors)
        return np.concatenate(
            [of_tree(one.marginals, heads) for one, heads in zip(believed, trees, strict=True)]
        )

    def relations(temperature: float) -> NDArray[np.float64]:
        return np.concatenate([best_chances(matrix, temperature=temperature) for matrix in scores])

    temperature = _best_temperature(lambda one: surprise(arcs(one)[known], right[known]))
    stated = arcs(temperature)
    return replace(
        parser,
        temperature=temperature,
        relation_temperature=_best_temperature(
            lambda one: surprise((stated * relations(one))[labelled], named[labelled])
        ),
    )


def surprise(stated: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the negative log of the probability of what is the case, in nats, mean over statements."""
    sure = np.clip(stated, DOUBT, 1.0 - DOUBT)
    return float(-np.log(np.where(right, sure, 1.0 - sure)).mean())


def _best_temperature(loss: Callable[[float], float]) -> float:
    bounds = math.log(LEAST), math.log(MOST)
    found = minimize_scalar(
        lambda log: loss(math.exp(log)), bounds=bounds, method="bounded", options={"xatol": 0.01}
    )
    return math.exp(found.x)
