"""What a projected parser gets wrong, by what `qsproj eval` groups words by, and how its probabilities keep their word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.evaluation.calibration import confidences_of, reliability
from qsproj.models.storage import Parser
from qsproj.pipelines.evaluation_report import confusions
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.by_tags import GOLD_TAGS, Part, parsed

# What words are grouped by, and of how many groups, those with the most wrong heads, the table has a row.
GROUPINGS = {"relation": 15, "tag": 15, "length": 15, "distance": 15}
MOST_CONFUSIONS = 8

# By language; None where nothing is measured.
Errors = Mapping[str, Mapping[str, Any] | None]


def errors(parser: Parser, dev: Sequence[Part], pud: Sequence[Part]) -> dict[str, Any]:
    """Return what is wrong on a development treebank, and the bins of the probabilities on PUD; tags are gold."""
    gold, trees = parsed_with_gold_tags(parser, dev)
    groups: dict[str, dict[str, list[int]]] = {}
    for by in GROUPINGS:
        (found,) = attachment_scores(gold, [trees], by=by)
        groups[by] = {
            name: [group.tokens, group.unlabelled, group.labelled_no_subtypes]
            for name, group in found.groups.items()
        }
    confused = [
        [one.gold, one.found, one.count, one.words, one.heads_right]
        for one in confusions(gold, trees)[:MOST_CONFUSIONS]
    ]
    bins = reliability(*confidences_of(*parsed_with_gold_tags(parser, pud)))
    return {
        "groups": groups,
        "confused": confused,
        "bins": [[row.low, row.high, row.count, row.confidence, row.accuracy] for row in bins],
    }


def parsed_with_gold_tags(parser: Parser, parts: Sequence[Part]) -> tuple[list[Sentence], list[Sentence]]:
    """Return gold trees and those of a parser."""
    trees = [tree for part in parts for tree in parsed(parser, part, GOLD_TAGS)]
    return [tree for part in parts for tree in part.gold], trees


def error_table(found: Errors, by: str) -> Table:
    """Show the groups with the most wrong heads, over languages: their share of these, and what is right of them."""
    groups: dict[str, dict[str, list[int]]] = {
        language: one["groups"][by] for language, one in found.items() if one
    }
    wrong = {language: sum(n - right for n, right, _ in one.values()) for language, one in groups.items()}

    def share(name: str, language: str) -> float:
        words, right, _ = groups[language].get(name, (0, 0, 0))
        return 100.0 * (words - right) / max(wrong[language], 1)

    shares = {
        name: [share(name, language) for language in groups]
        for name in dict.fromkeys(name for one in groups.values() for name in one)
    }
    largest = sorted(shares, key=lambda name: -sum(shares[name]))[: GROUPINGS[by]]
    # In the order of `qsproj eval`, but where it orders by size.
    shown = largest if by in ("relation", "tag") else [name for name in shares if name in largest]
    lines = []
    for name in shown:
        line = [name]
        for language in found:
            words, *right = groups.get(language, {}).get(name, (0, 0, 0))
            recalls = (f"{100.0 * part / words:.1f}" for part in right)
            line += [f"{share(name, language):.1f}", *recalls] if words else [""] * 3
        lines.append(line)
    whats = ("share of wrong heads", "UAS", "LAS, no subtypes")
    return table([by, *(f"{language}: {what}" for language in found for what in whats)], lines)


def confusion_table(found: Errors) -> Table:
    """Show which relations are taken for which."""
    lines = [
        [
            language,
            gold,
            taken_for,
            f"{count:,}",
            f"{100.0 * count / words:.1f}",
            f"{100.0 * heads / count:.0f}",
        ]
        for language, one in found.items()
        if one
        for gold, taken_for, count, words, heads in one["confused"]
    ]
    heading = ["language", "relation", "taken for", "words", "% of the relation", "% with the right head"]
    return table(heading, lines)


def reliability_table(found: Errors) -> Table:
    """Show the bins of all languages."""
    shown = {language: one["bins"] for language, one in found.items() if one}
    lines = []
    for rows in zip(*shown.values(), strict=True):
        (low, high, *_), line = rows[0], []
        by_language = dict(zip(shown, rows, strict=True))
        for language in found:
            _, _, count, confidence, accuracy = by_language.get(language, (0, 0, 0, 0, 0))
            line += [f"{count:,}", f"{100 * confidence:.1f}", f"{100 * accuracy:.1f}"] if count else [""] * 3
        lines.append([f"{low:.1f} to {high:.1f}", *line])
    whats = ("arcs", "mean, %", "right, %")
    return table(["ArcProb", *(f"{language}: {what}" for language in found for what in whats)], lines)
