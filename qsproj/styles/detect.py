"""Detection of a treebank's annotation style, dimension by dimension, with what speaks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qsproj.corpus.sentence import Sentence
from qsproj.styles.coordination_evidence import detail_votes, family_votes
from qsproj.styles.function_words import FUNCTION_WORDS
from qsproj.styles.relations import CONJUNCT, base_relation
from qsproj.styles.style import DIMENSIONS, Style, agreeing_presets, style_of
from qsproj.styles.working_tree import WorkingTree


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a treebank tells of one dimension.

    ``dimension``: its name. ``places``: in how many places the trees tell of it. ``counts``: with how many of
    these places each choice agrees. A place may agree with several choices.
    """

    dimension: str
    places: int
    counts: Mapping[str, int]

    @property
    def choice(self) -> str | None:
        """The choice that agrees with most places, of equals the first listed; None where there is none."""
        if not self.places:
            return None
        return max(DIMENSIONS[self.dimension], key=lambda choice: self.counts.get(choice, 0))

    @property
    def share(self) -> float:
        """The fraction of the places with which the choice agrees; NaN where there is none."""
        return self.counts[self.choice] / self.places if self.choice is not None else float("nan")


@dataclass(frozen=True, slots=True)
class DetectedStyle:
    """The style of a treebank.

    ``style``: where the treebank does not tell, the choice of Universal Dependencies. ``evidence``: one entry
    for each dimension. ``sentences``: how many were read.
    """

    style: Style
    evidence: tuple[Evidence, ...]
    sentences: int

    @property
    def presets(self) -> list[str]:
        """The presets that no evidence contradicts."""
        return agreeing_presets(_found_choices(self.evidence))


class _Ballots:
    """Votes counted: how many there were, and how many each choice is in."""

    def __init__(self) -> None:
        self.places: Counter[str] = Counter()
        self.counts: dict[str, Counter[str]] = {dimension: Counter() for dimension in DIMENSIONS}

    def add(self, dimension: str, choices: Iterable[str], times: int = 1) -> None:
        self.places[dimension] += times
        for choice in choices:
            self.counts[dimension][choice] += times

    def evidence(self, dimension: str) -> Evidence:
        return Evidence(dimension, self.places[dimension], self.counts[dimension])


def detect_style(sentences: Iterable[Sentence]) -> DetectedStyle:
    """Tell the style of a treebank from its heads, its relations and where its conjuncts stand.

    Relations are those of Universal Dependencies or those that :func:`qsproj.styles.convert.convert` writes.
    The sentences are read once and not kept.
    """
    ballots = _Ballots()
    # Where a conjunction hangs means one thing in one family and another in the next: all are counted.
    details = {family: _Ballots() for family in DIMENSIONS["coordination"]}
    number = 0
    for sentence in sentences:
        number += 1
        for rule in FUNCTION_WORDS:
            for choice, count in rule.counts(sentence.deprels).items():
                ballots.add(rule.dimension, (choice,), count)
        if CONJUNCT in map(base_relation, sentence.deprels):
            tree = WorkingTree(sentence)
            for families in family_votes(tree):
                ballots.add("coordination", families)
            for family, counted in details.items():
                for dimension, choices in detail_votes(tree, family):
                    counted.add(dimension, choices)
    family = ballots.evidence("coordination").choice or DIMENSIONS["coordination"][0]
    detailed = ("conjunctions", "shared", "punctuation")
    evidence = tuple(
        (details[family] if dimension in detailed else ballots).evidence(dimension)
        for dimension in DIMENSIONS
    )
    return DetectedStyle(style_of(_found_choices(evidence)), evidence, number)


def _found_choices(evidence: Iterable[Evidence]) -> dict[str, str]:
    return {entry.dimension: entry.choice for entry in evidence if entry.choice is not None}
