"""Suggest the sentences whose annotation is most useful for a parser, best first.

An uncertain word represents all words of its kind, so it is weighted by their frequency; kinds in annotated
or previously suggested sentences count less.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from qsproj.conventions import ROOT, Floats
from qsproj.corpus.characters import lower_form
from qsproj.corpus.editing import with_comment
from qsproj.corpus.messages import check_type
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, pluralise
from qsproj.models.converter.converter import check_has_whole_tree
from qsproj.models.parser import Parser
from qsproj.progress import notice, track

# Corrections per wrong tag or arc: re-parsing after each one saves a third (docs/results/few-trees.md).
CORRECTIONS = 0.7
Kind = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Seconds to tag a word of a list, to read a word, to correct a cell, and to confirm a sentence."""

    listed_word: float = 4.0
    read_word: float = 1.0
    correction: float = 3.0
    confirmation: float = 2.0

    @classmethod
    def in_words(cls, sentence: float) -> "Costs":
        """Return costs in words: a sentence costs its words plus a fixed number; UsageError if negative."""
        check_type(sentence, Real, "a number of words", "the cost of a sentence")
        if not 0.0 <= sentence < math.inf:
            raise UsageError(f"the cost of a sentence is {sentence}, expected a number, 0 or more")
        return cls(correction=0.0, confirmation=sentence)

    def of_draft(self, words: int, corrections: float) -> float:
        return self.read_word * words + self.correction * corrections + self.confirmation


def word_uncertainties(parser: Parser, sentence: Sentence) -> Floats:
    """Return the probability that the likeliest head of each word is wrong, float64[n].

    *Source*: Settles 2009, Active Learning Literature Survey, 3.1. Others: docs/results/without-gain.md.
    """
    return np.asarray(1.0 - parser.posterior(sentence).marginals[:, 1:].max(axis=0))


def tag_kinds(sentence: Sentence) -> list[Kind]:
    tags = ("", *sentence.upos, "")
    return list(zip(tags, tags[1:], tags[2:], strict=False))


def word_kinds(sentence: Sentence) -> list[Kind]:
    return [(lower_form(form), "", "word") for form in sentence.forms]


def source_kinds(sentence: Sentence) -> list[Kind]:
    """Return the kind of each word for a converter: in the source tree, the head's tag, relation and tag."""
    tags = ("", *sentence.upos)
    heads = [tags[max(head, ROOT)] for head in sentence.heads.tolist()[1:]]
    return list(zip(heads, sentence.deprels, sentence.upos, strict=True))


def kinds_for(parser: Parser) -> Callable[[Sentence], list[Kind]]:
    return source_kinds if "heads" in parser.reads else tag_kinds


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence without a trusted tree, and the uncertainty float64[n] of its words, or of its m kinds."""

    sentence: Sentence
    uncertainties: Floats


def candidates_of(parser: Parser, sentences: Iterable[Sentence]) -> list[Candidate]:
    """Return sentences with their uncertainties; MissingTreeError for a converter without a whole tree."""
    candidates = []
    for sentence in track(sentences, "parsing", unit="sentence"):
        if "heads" in parser.reads:
            check_has_whole_tree(sentence)
        candidates.append(Candidate(sentence, word_uncertainties(parser, sentence)))
    return candidates


def suggested(
    parser: Parser,
    candidates: Sequence[Candidate],
    *,
    annotated: Iterable[Sentence],
    limits: Mapping[str, int | None],
    sentence_cost: float,
    plain: bool,
    predict: bool,
) -> Iterator[Sentence]:
    """Yield the sentences to annotate as :func:`rank` orders them, each :func:`with_uncertainty`.

    ``limits``: ``count`` and ``words``. ``sentence_cost``: in words. ``plain``: by uncertainty alone.
    """
    kinds, costs = None if plain else kinds_for(parser), Costs.in_words(sentence_cost)
    ranked = rank(candidates, annotated=annotated, costs=costs, kinds=kinds, **limits)
    return with_uncertainty(ranked, parser, predict=predict)


def with_uncertainty(candidates: Iterable[Candidate], parser: Parser, *, predict: bool) -> Iterator[Sentence]:
    for candidate in candidates:
        sentence = parser.parse(candidate.sentence, confidence=True) if predict else candidate.sentence
        yield with_comment(sentence, "uncertainty", f"{candidate.uncertainties.mean():.4f}")


def not_annotated(
    sentences: Iterable[Sentence], annotated: Iterable[Sentence], *, name: str
) -> Iterator[Sentence]:
    """Yield the sentences of ``name`` that are not annotated, by their words; DataError if none is left."""
    known, new, left_out = {sentence.forms for sentence in annotated}, 0, 0
    for sentence in sentences:
        if sentence.forms in known:
            left_out += 1
        else:
            new += 1
            yield sentence
    if left_out:
        notice(f"{name}: left out {pluralise(left_out, 'sentence')} that are annotated")
    if left_out and not new:
        raise DataError(name, None, "no sentence that is not annotated", "one or more to suggest")


def rank(
    candidates: Sequence[Candidate],
    *,
    annotated: Iterable[Sentence] = (),
    count: int | None = None,
    words: int | None = None,
    costs: Costs | None = None,
    kinds: Callable[[Sentence], list[Kind]] | None = tag_kinds,
) -> Iterator[Candidate]:
    """Yield the candidates in the best order of annotation.

    Greedily maximises the sum over words of uncertainty x occurrences of the kind among the candidates /
    (1 + occurrences in annotated or yielded sentences), per second of cost. Ties go to the earlier one.
    ``annotated``: training data of the parser. ``count``, ``words``: maximum number of sentences, and of
    words in total; sentences too long for the rest are skipped. ``costs``: a higher fixed cost prefers long
    sentences. ``kinds``: :func:`tag_kinds` or :func:`source_kinds`; None: ranked by uncertainty alone. Raises
    UsageError when all sentences are too long. *Source*: Settles and Craven 2008 (information density, here
    by words); the greedy order and its lazy search, as values only decrease: Minoux 1978.
    """
    shortest = min((len(candidate.sentence) for candidate in candidates), default=0)
    if words is not None and shortest > words:
        found = f"found {words:,} as the maximum number of words"
        raise UsageError(f"{found}, expected at least {shortest:,}, the words of the shortest sentence")
    costs = costs or Costs()
    numbers = dict[Kind, int]()
    kinds_of = [
        np.array([numbers.setdefault(kind, len(numbers)) for kind in kinds(candidate.sentence)])
        for candidate in candidates
        if kinds
    ]
    occurrences, known = np.zeros(len(numbers)), np.zeros(len(numbers))
    for of_candidate in kinds_of:
        np.add.at(occurrences, of_candidate, 1.0)
    if kinds:
        for sentence in annotated:
            np.add.at(known, [numbers[kind] for kind in kinds(sentence) if kind in numbers], 1.0)

    def gain(index: int) -> float:
        candidate = candidates[index]
        weights = occurrences[kinds_of[index]] / (1.0 + known[kinds_of[index]]) if kinds else 1.0
        corrections = CORRECTIONS * float(candidate.uncertainties.sum())
        value = float((candidate.uncertainties * weights).sum())
        return value / costs.of_draft(len(candidate.sentence), corrections)

    heap = [(-gain(index), index) for index in range(len(candidates))]
    heapq.heapify(heap)
    count_left = len(candidates) if count is None else count
    words_left = np.inf if words is None else words
    while heap and count_left:
        _, index = heapq.heappop(heap)
        entry = (-gain(index), index)
        if heap and entry > heap[0]:
            heapq.heappush(heap, entry)
        elif len(candidates[index].sentence) <= words_left:
            count_left -= 1
            words_left -= len(candidates[index].sentence)
            if kinds:
                np.add.at(known, kinds_of[index], 1.0)
            yield candidates[index]
