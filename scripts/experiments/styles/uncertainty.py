"""Criteria by which a word may be uncertain: that of `qsproj suggest`, and others measured beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.storage import Parser


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Belief of one parser about the tree of one sentence."""

    marginals: Scores  # float64[n+1, n+1], [head, dependent]; columns 1..n sum to one
    tree_entropy: float  # of the distribution over whole trees, in nats


def belief(parser: Parser, sentence: Sentence) -> Belief:
    """Ask a parser for its distribution over the trees of a sentence.

    Of another parser than an :class:`ArcParser` only arc probabilities are known. The entropy of the tree is
    then taken to be the sum of those of the heads: never less than it is.
    """
    if not isinstance(parser, ArcParser):
        marginals = parser.arc_probabilities(sentence)
        return Belief(marginals, float(head_entropies(marginals).sum()))
    scores = parser.scores(sentence) / parser.temperature
    log_z, marginals = parser.inference.infer(scores)
    possible = marginals > 0.0
    return Belief(marginals, max(log_z - float(marginals[possible] @ scores[possible]), 0.0))


def head_entropies(marginals: Scores) -> NDArray[np.float64]:
    """Return float64[n], the entropy of the head of each word 1..n in nats."""
    columns = marginals[:, 1:]
    logs = np.log(columns, where=columns > 0.0, out=np.zeros_like(columns))
    return np.asarray(-(columns * logs).sum(axis=0))


def _errors(beliefs: Sequence[Belief]) -> NDArray[np.float64]:
    """Return the probability that the likeliest head is wrong."""
    return np.asarray(1.0 - _consensus(beliefs)[:, 1:].max(axis=0))


def _margin(beliefs: Sequence[Belief]) -> NDArray[np.float64]:
    """Return how close the second head comes to the first: 1 less the difference of their probabilities."""
    second, first = np.sort(_consensus(beliefs)[:, 1:], axis=0)[-2:]
    return np.asarray(1.0 - (first - second))


def _entropy(beliefs: Sequence[Belief]) -> NDArray[np.float64]:
    """Share the entropy of the tree among its words in the proportions of the entropies of their heads."""
    shares = np.zeros(len(beliefs[0].marginals) - 1)
    for one in beliefs:
        heads = head_entropies(one.marginals)
        shares += heads * (one.tree_entropy / max(float(heads.sum()), np.finfo(np.float64).tiny))
    return shares / len(beliefs)


def _committee(beliefs: Sequence[Belief]) -> NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of the members' distributions of each head."""
    own = sum(head_entropies(one.marginals) for one in beliefs) / len(beliefs)
    return np.maximum(head_entropies(_consensus(beliefs)) - own, 0.0)


def _consensus(beliefs: Sequence[Belief]) -> Scores:
    return np.asarray(sum(one.marginals for one in beliefs) / len(beliefs))


CRITERIA: dict[str, Callable[[Sequence[Belief]], NDArray[np.float64]]] = {
    "errors": _errors,
    "entropy": _entropy,
    "margin": _margin,
    "committee": _committee,
}


def uncertainties_by(parsers: Sequence[Parser], sentence: Sentence, *, criterion: str) -> NDArray[np.float64]:
    """Return float64[n], how unsure several parsers are of each word, by a criterion in CRITERIA; at least 0.

    ``errors`` and ``margin`` are at most 1 and read the mean of the parsers' arc probabilities; ``entropy``
    is the mean over the parsers, in nats; ``committee`` is in nats.

    *Source*: Settles 2009, Active Learning Literature Survey, 3.1 and 3.2; Hwa 2004, Sample Selection for
    Statistical Parsing (tree entropy).
    """
    return CRITERIA[criterion]([belief(parser, sentence) for parser in parsers])
