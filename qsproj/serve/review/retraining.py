"""Training a parser on what was reviewed, in a process of its own, and what that gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from qsproj import __version__
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.models.arc.above import fine_tuned
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.storage import Parser, kind_of
from qsproj.models.text.text_parser import TextParser
from qsproj.serve.review.correction import arc_chances, tree_of
from qsproj.serve.review.draft import Named

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


NewTree = tuple[tuple[int, ...], tuple[str, ...], tuple[float | None, ...]]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A file with its name, and which of its sentences are reviewed, and which are left."""

    content: bytes
    name: str
    reviewed: Sequence[int]
    left: Sequence[int]


@dataclass(frozen=True, slots=True)
class Retrained:
    """The result of training."""

    # (heads, relations, chances) of the sentences that are left, by their index
    beliefs: Mapping[int, NewTree]
    told: Mapping[str, Any]  # for the page, as JSON: scores on held-out sentences, how many heads changed


@dataclass(frozen=True, slots=True)
class Retraining:
    """Trains the parser that made a draft on what was reviewed: the work of a :class:`ComputePool`."""

    parser: Parser
    output: str | None  # where the trained parser is written, if anywhere
    seed: int

    def __post_init__(self) -> None:
        trainable(self.parser)

    def __call__(self, given: Reviewed) -> Retrained:
        """Train, parse what is left, and measure what it gains."""
        sentences = list(read_sentences(Named(given.content, given.name)))
        trees = [sentences[index] for index in given.reviewed]
        tuned = trained_again(self.parser, trees, seed=self.seed)
        if self.output is not None:
            made = {"command": "serve", "version": __version__, "reviewed": len(trees), "seed": self.seed}
            # Both kinds that can be trained on have it: an arc parser, alone or behind a tagger.
            cast(TextParser, tuned).save(self.output, made=made)
        parsed = {
            index: parsed_as_used(
                tuned, sentences[index], retag=tagged_itself(self.parser, sentences[index]), confidence=True
            )
            for index in given.left
        }
        beliefs = {index: (*_heads_and_relations(one), arc_chances(one)) for index, one in parsed.items()}
        changed = sum(int((parsed[index].heads != sentences[index].heads).sum()) for index in given.left)
        told = {"reviewed": len(trees), "left": len(parsed), "changed": changed, "model": self.output}
        return Retrained(beliefs, told | _told(gain_of(self.parser, trees, seed=self.seed)))


def _heads_and_relations(sentence: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    tree = tree_of(sentence)
    return tree.heads, tree.relations


def _told(gain: Gain | None) -> dict[str, Any]:
    if gain is None:
        return {}
    return {"parts": gain.folds, "before": _scores(gain.before), "after": _scores(gain.after)}


def _scores(scores: AttachmentScores) -> dict[str, float]:
    return {"uas": round(scores.uas, 1), "las": round(scores.las, 1)}
