"""Training on what was reviewed, in a process of its own: what goes there, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from qsproj import __version__
from qsproj.corpus.formats import read_sentences
from qsproj.evaluation.attachment import AttachmentScores
from qsproj.models.storage import Parser
from qsproj.models.text.text_parser import TextParser
from qsproj.pipelines.train_again import (
    Gain,
    gain_of,
    parsed_as_used,
    tagged_itself,
    trainable,
    trained_again,
)
from qsproj.serve.review.correction import arc_chances, tree_of
from qsproj.serve.review.draft import Named

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
