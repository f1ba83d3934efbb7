"""Constrained inference: after each correction the model infers the rest of the tree."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np

from qsproj.conventions import NO_HEAD, Scores, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, SentenceError, UsageError
from qsproj.models.constraints import Constraints, known_part, spans_of
from qsproj.models.parser import Parser, check_takes_parts, load_parser
from qsproj.models.tree_decoder import of_tree

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FixedCells:
    """Fixed cells of words 1..n: -1 and ``_`` are to be inferred. Every word has a tag."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    tags: tuple[bool, ...]  # whether each tag is fixed, for a parser that infers tags jointly with trees


@dataclass(frozen=True, slots=True)
class InferredTree:
    """A constrained tree with arc probabilities, and each word's second-best head with its probability."""

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    upos: tuple[str, ...]
    chances: tuple[float, ...]
    seconds: tuple[tuple[int, float], ...]


def features_of(parser: Parser) -> set[str]:
    tagger = parser.word_tagger
    if tagger is None or tagger.morphology is None:
        return set()
    return {analysis.feats for analysis in tagger.morphology.table.analyses}


def infer_rest(parser: Parser, sentence: Sentence, fixed: FixedCells) -> InferredTree:
    """Return the best tree under fixed cells, and conditional posteriors of its arcs.

    Where fixed arcs cross, crossing arcs are allowed in this sentence, also for a projective model. Raises
    SentenceError when no tree fits the fixed cells; UsageError when the model takes no constraints.
    """
    check_takes_parts(parser)
    sentence, given = _with_fixed(sentence, fixed)

    def infer(parser: Parser) -> tuple[Sentence, Scores]:
        return parser.parse(sentence, given=given), parser.posterior(sentence, given).marginals

    tree, beliefs = _with_crossings(parser, infer)
    heads, words = tree.heads[1:], np.arange(1, len(tree.heads))
    chances = map(_probability, of_tree(beliefs, tree.heads).tolist())
    others = beliefs.copy()
    others[heads, words] = -1.0
    np.fill_diagonal(others, -1.0)
    second = others[:, 1:].argmax(axis=0)
    seconds = zip(second.tolist(), map(_probability, others[second, words].tolist()), strict=True)
    return InferredTree(tuple(heads.tolist()), tree.deprels, tree.upos, tuple(chances), tuple(seconds))


def completed(parser: Parser, sentence: Sentence) -> Sentence:
    """Return the best analysis with the known tags, heads and relations; raises as :func:`infer_rest`."""
    given = known_part(sentence)
    return _with_crossings(parser, lambda parser: parser.parse(sentence, confidence=True, given=given))


def _with_crossings(parser: Parser, infer: Callable[[Parser], Result]) -> Result:
    """Infer by a model, or by its non-projective variant if no tree of its own fits."""
    try:
        return infer(parser)
    except SentenceError:
        if (free := parser.allowing_crossings()) is None:
            raise
        return infer(free)


def _with_fixed(sentence: Sentence, fixed: FixedCells) -> tuple[Sentence, Constraints]:
    n = len(sentence)
    if any(len(cells) != n for cells in (fixed.heads, fixed.relations, fixed.upos, fixed.tags)):
        raise UsageError(f"found other than {n} cells in a column, expected one for each word")
    if not all(fixed.upos):
        raise UsageError("found an empty tag, expected one for each word")
    if not all(NO_HEAD <= head <= n for head in fixed.heads):
        raise UsageError(f"found a head that is not a word, expected {NO_HEAD} to {n}")
    tags = tuple(tag if stays else UNSPECIFIED for tag, stays in zip(fixed.upos, fixed.tags, strict=True))
    heads = frozen_heads([NO_HEAD, *fixed.heads])
    given = Constraints(heads=heads, relations=fixed.relations, tags=tags, spans=spans_of(sentence))
    return replace(with_columns(sentence, upos=fixed.upos), heads=heads, deprels=fixed.relations), given


def _probability(value: float) -> float:
    """Round a probability for the page, dropping digits with rounding errors."""
    return round(min(1.0, max(0.0, value)), 4)


@dataclass(frozen=True, slots=True)
class InferenceJob:
    """A sentence with fixed cells; ``model``: file and training count of a retrained model, or None."""

    sentence: Sentence
    fixed: FixedCells
    model: tuple[str, int] | None

    @classmethod
    def of_shortest(cls, sentences: Sequence[Sentence], model: tuple[str, int] | None) -> "InferenceJob":
        """Return the shortest job: a sentence without fixed cells."""
        shortest = min(sentences, key=len)
        n, upos = len(shortest), shortest.upos
        return cls(shortest, FixedCells((NO_HEAD,) * n, (UNSPECIFIED,) * n, upos, (False,) * n), model)


class Inference:
    """Answers questions: the work of a :class:`ComputePool`. Mutable: the last model loaded is cached."""

    def __init__(self, parser: Parser) -> None:
        self._parser, self._read = parser, cast(tuple[str, int] | None, None)
        # Kernels that are compiled or loaded here need not be in each process that is forked.
        with suppress(QsprojError):
            self(InferenceJob.of_shortest([Sentence.from_words(["a"], upos=["X"])], None))

    def __call__(self, question: InferenceJob) -> InferredTree:
        if question.model is not None and question.model != self._read:
            self._parser, self._read = load_parser(question.model[0]), question.model
        return infer_rest(self._parser, question.sentence, question.fixed)
