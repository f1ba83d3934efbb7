"""Suggest the sentences to annotate next: those that a parser would learn most from, best first.

An uncertain word stands for all words of its kind, so it counts as often as its kind occurs; and what was
annotated before, or is suggested farther up, is known already, so that kind counts less.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, unknown_name
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.converter.converter import Converter
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


def check_criterion(criterion: str, parsers: int) -> None:
    """Raise UsageError unless ``criterion`` is one of CRITERIA and this many parsers are enough for it."""
    if criterion not in CRITERIA:
        raise unknown_name("criterion", criterion, list(CRITERIA))
    if criterion == "committee" and parsers < 2:
        raise UsageError("a committee has at least two members; give -m again with another model")


def word_uncertainties(
    parsers: Sequence[Parser], sentence: Sentence, *, criterion: str
) -> NDArray[np.float64]:
    """Return float64[n], how unsure the parsers are of each word, by a criterion in CRITERIA; at least 0.

    ``errors`` and ``margin`` are at most 1 and read the mean of the parsers' arc probabilities; ``entropy``
    is the mean over the parsers, in nats; ``committee`` is in nats.

    *Source*: Settles 2009, Active Learning Literature Survey, 3.1 and 3.2; Hwa 2004, Sample Selection for
    Statistical Parsing (tree entropy).
    """
    check_criterion(criterion, len(parsers))
    return CRITERIA[criterion]([belief(parser, sentence) for parser in parsers])


UNCERTAINTY_KEY = "uncertainty"

Kind = tuple[str, str, str]


def tag_kinds(sentence: Sentence) -> list[Kind]:
    """Return the kind of each word for a parser: the tags of the word before, the word, the word after."""
    tags = ("", *sentence.upos, "")
    return list(zip(tags, tags[1:], tags[2:], strict=False))


def source_kinds(sentence: Sentence) -> list[Kind]:
    """Return the kind of each word for a converter: in the source tree its head's tag, relation and tag."""
    tags = ("", *sentence.upos)
    heads = [tags[max(head, ROOT)] for head in sentence.heads.tolist()[1:]]
    return list(zip(heads, sentence.deprels, sentence.upos, strict=True))


def kinds_for(parser: Parser) -> Callable[[Sentence], list[Kind]]:
    """Return :func:`source_kinds` for a converter, which reads trees, and :func:`tag_kinds` for others."""
    return source_kinds if isinstance(parser, Converter) else tag_kinds


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence without a trusted tree, and float64[n], the uncertainty of each word, at least 0."""

    sentence: Sentence
    uncertainties: NDArray[np.float64]

    @property
    def uncertainty(self) -> float:
        """The mean over the words."""
        return float(self.uncertainties.mean())


def rank(
    candidates: Sequence[Candidate],
    *,
    annotated: Iterable[Sentence] = (),
    count: int | None = None,
    words: int | None = None,
    sentence_cost: float = 2.0,
    kinds: Callable[[Sentence], list[Kind]] | None = tag_kinds,
) -> Iterator[Candidate]:
    """Yield the candidates in the order in which they are best annotated.

    Each next one is that with the largest sum over its words of uncertainty x occurrences of the kind among
    the candidates / (1 + occurrences in what is annotated or was yielded), per word of cost. The earlier of
    equals comes first. Only values at the top are brought up to date: they can but fall.

    ``annotated``: what the parser was trained on. ``count``, ``words``: at most so many sentences, and words
    in all; one that is too long for what is left is passed over. ``sentence_cost``: fixed annotation cost per
    sentence, in words; the larger, the more are long sentences preferred. ``kinds``: :func:`tag_kinds` or
    :func:`source_kinds`; None: ranked by uncertainty alone. Raises UsageError for a limit out of range.

    *Source*: Settles and Craven 2008 (information density, here by words); the greedy order and its lazy
    search: Minoux 1978.
    """
    for name, limit in (("count", count), ("words", words)):
        if limit is not None and limit < 1:
            raise UsageError(f"{name} is {limit}, expected at least 1")
    if not sentence_cost >= 0.0:
        raise UsageError(f"the cost of a sentence is {sentence_cost}, expected at least 0")
    shortest = min((len(candidate.sentence) for candidate in candidates), default=0)
    if words is not None and shortest > words:
        raise UsageError(f"words is {words}, expected at least {shortest}, as the shortest sentence has")
    counts = _KindCounts(candidates, annotated, kinds) if kinds else None

    def gain(index: int) -> float:
        candidate = candidates[index]
        weights = 1.0 if counts is None else counts.weights(index)
        return float((candidate.uncertainties * weights).sum()) / (len(candidate.sentence) + sentence_cost)

    heap = [(-gain(index), index) for index in range(len(candidates))]
    heapq.heapify(heap)
    count_left = len(candidates) if count is None else count
    words_left = np.inf if words is None else words
    while heap and count_left:
        _, index = heapq.heappop(heap)
        entry = (-gain(index), index)
        if heap and entry > heap[0]:
            heapq.heappush(heap, entry)
            continue
        if len(candidates[index].sentence) > words_left:
            continue
        count_left -= 1
        words_left -= len(candidates[index].sentence)
        if counts is not None:
            counts.add(index)
        yield candidates[index]


class _KindCounts:
    """Counts of the kinds of words among the candidates and in what is annotated. Mutable; final."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        annotated: Iterable[Sentence],
        kinds_in: Callable[[Sentence], list[Kind]],
    ) -> None:
        numbers: dict[Kind, int] = {}
        self._words = [
            np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds_in(candidate.sentence)])
            for candidate in candidates
        ]
        self._occurrences = np.zeros(len(numbers))
        for words in self._words:
            np.add.at(self._occurrences, words, 1.0)
        self._known = np.zeros(len(numbers))
        for sentence in annotated:
            known = [numbers[kind] for kind in kinds_in(sentence) if kind in numbers]
            np.add.at(self._known, known, 1.0)

    def weights(self, index: int) -> NDArray[np.float64]:
        """Return float64[n], what the uncertainty of each word of a candidate is worth now."""
        words = self._words[index]
        return np.asarray(self._occurrences[words] / (1.0 + self._known[words]))

    def add(self, index: int) -> None:
        """Count a candidate as annotated."""
        np.add.at(self._known, self._words[index], 1.0)
