"""How unsure parsers are of each word of a sentence: of its head, or of its share of the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, unknown_name
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.storage import Parser


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What one parser believes of the tree of one sentence.

    Attributes
    ----------
    marginals : float64[n+1, n+1]
        Probability of each arc [head, dependent]; columns 1..n sum to one.
    tree_entropy : float
        Entropy of the distribution over whole trees, in nats.
    """

    marginals: Scores
    tree_entropy: float


def belief(parser: Parser, sentence: Sentence) -> Belief:
    """Ask a parser for its distribution over the trees of a sentence.

    Of another parser than an :class:`ArcParser` only arc probabilities are known. The entropy of the tree is
    then taken to be the sum of the entropies of the heads: what it would be were they independent, and never
    less than it is.

    Raises
    ------
    SentenceLengthError
        When the sentence is longer than the parser takes.
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


def check_criterion(criterion: str, parsers: int) -> None:
    """Raise unless ``criterion`` is one of CRITERIA and this many parsers are enough for it.

    Raises
    ------
    UsageError
    """
    if criterion not in CRITERIA:
        raise unknown_name("criterion", criterion, list(CRITERIA))
    if criterion == "committee" and parsers < 2:
        raise UsageError("a committee has at least two members; give -m again with another model")


def word_uncertainties(
    parsers: Sequence[Parser], sentence: Sentence, *, criterion: str
) -> NDArray[np.float64]:
    """Return float64[n], how unsure the parsers are of each word, by a criterion in CRITERIA.

    Each is at least 0. ``errors`` and ``margin`` are at most 1 and read the mean of the parsers' arc
    probabilities; ``entropy`` is the mean over the parsers, in nats; ``committee`` is in nats.

    Raises
    ------
    SentenceLengthError
        When the sentence is longer than a parser takes.
    UsageError
        As :func:`check_criterion`.

    *Source*: Settles 2009, Active Learning Literature Survey, 3.1 and 3.2; Hwa 2004, Sample Selection for
    Statistical Parsing (tree entropy).
    """
    check_criterion(criterion, len(parsers))
    return CRITERIA[criterion]([belief(parser, sentence) for parser in parsers])
