"""A parser trained on what a person has reviewed of its output, and what that gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.models.arc.above import fine_tuned
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.storage import Parser, kind_of
from qsproj.models.text.text_parser import TextParser

_MOST_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Gain:
    """Scores before and after training on reviewed sentences, each fold of these parsed without it."""

    before: AttachmentScores
    after: AttachmentScores
    folds: int


def trainable(parser: Parser) -> ArcParser:
    """Return what of a parser learns from more trees; UsageError when nothing does."""
    inner = parser.parser if isinstance(parser, TextParser) else parser
    if not isinstance(inner, ArcParser):
        raise UsageError(
            f"found a model of kind {kind_of(inner)}, expected a first-order parser, to be trained on; "
            "such are those of qsproj project and qsproj train"
        )
    return inner


def trained_again(parser: Parser, trees: Sequence[Sentence], *, seed: int) -> Parser:
    """Return a parser that has learned from some trees more, as by ``qsproj project --annotated``."""
    tuned = fine_tuned(trainable(parser), trees, rng=np.random.default_rng(seed))
    return replace(parser, parser=tuned) if isinstance(parser, TextParser) else tuned


def tagged_itself(parser: Parser, sentence: Sentence) -> bool:
    """Tell whether the tags of a sentence are those that a parser of text gives to it.

    Then it parsed the sentence without tags, and by several readings: so it is measured, and parses again.
    """
    return isinstance(parser, TextParser) and parser.parse(sentence, retag=True).upos == sentence.upos


def parsed_as_used(parser: Parser, sentence: Sentence, *, retag: bool, confidence: bool = False) -> Sentence:
    """Return a sentence parsed, as from plain text where ``retag``, see :func:`tagged_itself`."""
    if isinstance(parser, TextParser):
        return parser.parse(sentence, retag=retag, confidence=confidence)
    return parser.parse(sentence, confidence=confidence)


def gain_of(parser: Parser, trees: Sequence[Sentence], *, seed: int) -> Gain | None:
    """Return what it gains to train on trees, each part of them held out in turn; None for a single tree.

    The trees began as the parser's own output: the gain is rather too small than too large.
    """
    folds = min(_MOST_FOLDS, len(trees))
    if folds < 2:
        return None
    own = [tagged_itself(parser, tree) for tree in trees]
    parsed = list[Sentence](trees)
    for fold in range(folds):
        rest = [tree for number, tree in enumerate(trees) if number % folds != fold]
        tuned = trained_again(parser, rest, seed=seed)
        for number in range(fold, len(trees), folds):
            parsed[number] = parsed_as_used(tuned, trees[number], retag=own[number])
    before = [parsed_as_used(parser, tree, retag=retag) for tree, retag in zip(trees, own, strict=True)]
    scores_before, scores_after = attachment_scores(trees, [before, parsed])
    return Gain(scores_before, scores_after, folds)
