"""Test parsers with gold tags and with those of a tagger that has not seen the trees: best tags, or all uncertain ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.evaluation.calibration import confidences_of, expected_calibration_error, reliability
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.parser import Parser, load_tags
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.pipelines.bootstrap.training import TAG_READINGS
from scripts.experiments.transfer.stages import TAGGER_TREEBANKS, Stages

DEV = {"de": "german-gsd-dev", "es": "spanish-gsd-dev", "sv": "swedish-talbanken-dev"}
# How the words of a test are tagged: by hand; by the best tags of a tagger; by all that it doubts, averaged over.
GOLD_TAGS, BEST_TAGS, UNCERTAIN_TAGS = "gold tags", "best tags", "uncertain tags"
EVERY_KIND = (GOLD_TAGS, BEST_TAGS, UNCERTAIN_TAGS)

Scores = dict[str, float]


@dataclass(frozen=True)
class Part:
    """Gold trees, and a tagger that has not seen them."""

    gold: Sequence[Sentence]
    tagger: Tagger


def pud_parts(stages: Stages, language: str) -> list[Part]:
    """Return the whole of PUD."""
    return [Part(stages.lab.pud(language), load_tags(stages.tagger(language)))]


def dev_parts(stages: Stages, language: str) -> list[Part]:
    """Return the halves of a development treebank, each tagged by a tagger trained on the other.

    Beside that, it learned from the other treebanks that the tagger of the language learns from, but no raw text.
    """
    dev = DEV[language]
    others = [stages.lab.treebank_path(name) for name in TAGGER_TREEBANKS[language] if name != dev]
    halves = [stages.half(dev, number) for number in range(2)]
    taggers = [
        stages.tagger_of(f"{language}.half-{number}.tagger", language, [half, *others], raw=False)
        for number, half in enumerate(halves)
    ]
    return [
        Part(list(read_conllu(half)), load_tags(tagger))
        for half, tagger in zip(halves, reversed(taggers), strict=True)
    ]


def scores_by_tags(
    parser: Parser, parts: Sequence[Part], *, kinds: Iterable[str] = EVERY_KIND
) -> dict[str, Scores]:
    """Return the scores of a parser, by kind of input tags."""
    gold = [sentence for part in parts for sentence in part.gold]
    return {
        kind: scores(gold, chain.from_iterable(parsed(parser, part, kind) for part in parts))
        for kind in kinds
    }


def parsed(parser: Parser, part: Part, kind: str) -> Iterator[Sentence]:
    """Parse a part with tags of a kind; where a parser is not of the first order, best tags stand for uncertain ones."""
    tried = kind == UNCERTAIN_TAGS and isinstance(parser, ArcParser)
    model = text_parser(part.tagger, parser, readings=TAG_READINGS if tried else 0)
    return model.parse_all(part.gold, confidence=True, retag=kind != GOLD_TAGS)


def scores(gold: Sequence[Sentence], parsed: Iterable[Sentence]) -> Scores:
    """Score tags, trees and the probabilities of arcs, in percent."""
    trees = list(parsed)
    (found,) = attachment_scores(gold, [trees])
    error = expected_calibration_error(reliability(*confidences_of(gold, trees)))
    names = ("upos", "uas", "las", "las_no_subtypes")
    return {**{name: float(getattr(found, name)) for name in names}, "ece": 100.0 * error}
