"""The rest of a tree under what an annotator has fixed, inferred after each correction."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from qsproj.conventions import NO_HEAD, Scores, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, UsageError
from qsproj.models.constraints import Constraints, spans_of
from qsproj.models.parser import Parser, check_takes_parts, load_parser
from qsproj.models.tree_decoder import of_tree


@dataclass(frozen=True, slots=True)
class Fixed:
    """The cells of words 1..n that stay: -1 and ``_`` are to be inferred. Every word has a tag."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    tags: tuple[bool, ...]  # which of the tags stay, where the parser infers tags along with trees


@dataclass(frozen=True, slots=True)
class Inferred:
    """A tree under what is fixed: the probability of each arc, and each word's second head with its own."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    chances: tuple[float, ...]
    seconds: tuple[tuple[int, float], ...]


def features_of(parser: Parser) -> set[str]:
    """Return the cells of FEATS that a model may give; none where it gives no features."""
    tagger = parser.word_tagger
    if tagger is None or tagger.morphology is None:
        return set()
    return {analysis.feats for analysis in tagger.morphology.table.analyses}


def infer_rest(parser: Parser, sentence: Sentence, fixed: Fixed) -> Inferred:
    """Return the likeliest rest of a tree, and conditional posteriors of its arcs.

    Fixed arcs that cross are answered by a model that may build no such trees, too: crossing arcs are then
    allowed in this sentence.

    Raises SentenceError when no tree has what is fixed; UsageError when the model takes no part of a tree.
    """
    check_takes_parts(parser)
    sentence, given = _with_fixed(sentence, fixed)
    try:
        tree, beliefs = _inferred(parser, sentence, given)
    except SentenceError:
        free = parser.allowing_crossings()
        if free is None:
            raise
        tree, beliefs = _inferred(free, sentence, given)
    heads = np.asarray(tree.heads)
    chances = of_tree(beliefs, tree.heads)
    others = beliefs.copy()
    others[heads[1:], np.arange(1, len(heads))] = -1.0
    np.fill_diagonal(others, -1.0)
    second = others[:, 1:].argmax(axis=0)
    seconds = zip(second.tolist(), others[second, np.arange(1, len(heads))].tolist(), strict=True)
    return Inferred(
        heads=tuple(heads[1:].tolist()),
        relations=tree.deprels,
        upos=tree.upos,
        chances=tuple(_probability(chance) for chance in chances.tolist()),
        seconds=tuple((head, _probability(chance)) for head, chance in seconds),
    )


def _inferred(parser: Parser, sentence: Sentence, given: Constraints) -> tuple[Sentence, Scores]:
    return parser.parse(sentence, given=given), parser.posterior(sentence, given).marginals


def _with_fixed(sentence: Sentence, fixed: Fixed) -> tuple[Sentence, Constraints]:
    """Return the sentence with its tags, and what is known of its analysis."""
    n = len(sentence)
    if any(len(cells) != n for cells in (fixed.heads, fixed.relations, fixed.upos, fixed.tags)):
        raise UsageError(f"found other than {n} cells in a column, expected one for each word")
    if not all(NO_HEAD <= head <= n for head in fixed.heads):
        raise UsageError(f"found a head that is no word, expected {NO_HEAD} to {n}")
    tags = tuple(tag if stays else UNSPECIFIED for tag, stays in zip(fixed.upos, fixed.tags, strict=True))
    heads = frozen_heads([NO_HEAD, *fixed.heads])
    spans = tuple(sorted(spans_of(sentence)))
    given = Constraints(heads=heads, relations=fixed.relations, tags=tags, spans=spans)
    return replace(with_columns(sentence, upos=fixed.upos), heads=heads, deprels=fixed.relations), given


def _probability(value: float) -> float:
    """Return a probability as the page shows it, without the last digits that rounding errors have."""
    return round(min(1.0, max(0.0, value)), 4)


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence with what is fixed in it, and the model to ask, where it was trained since: file, times."""

    sentence: Sentence
    fixed: Fixed
    model: tuple[str, int] | None


class Inference:
    """Answers questions: the work of a :class:`ComputePool`. Mutable: the last model that was read stays."""

    def __init__(self, parser: Parser) -> None:
        self._parser, self._read = parser, cast(tuple[str, int] | None, None)

    def __call__(self, question: Question) -> Inferred:
        """Infer the rest of a tree; raises as :func:`infer_rest`."""
        if question.model is not None and question.model != self._read:
            self._parser, self._read = load_parser(question.model[0]), question.model
        return infer_rest(self._parser, question.sentence, question.fixed)
