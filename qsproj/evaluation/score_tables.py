"""Scores laid out as tables to read and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping

from qsproj.evaluation.attachment import AttachmentScores, GroupScores
from qsproj.evaluation.calibration import ReliabilityBin
from qsproj.evaluation.significance import exact_paired_test

# Score, its label in the table, the count of right words behind it, and what that counts.
_WORD_SCORES = (
    ("uas", "UAS", "unlabelled", "with the right head"),
    ("las", "LAS", "labelled", "with the right head and relation"),
    ("las_no_subtypes", "LAS, no subtypes", "labelled_no_subtypes", "the same up to subtypes"),
)
_SENTENCE_SCORES = (
    ("uem", "UEM", "unlabelled", "with every head right"),
    ("lem", "LEM", "labelled", "with every head and relation right"),
)


def calibration_row(row: ReliabilityBin) -> str:
    """Lay out one line of the table of :func:`~qsproj.evaluation.calibration.reliability`."""
    percentages = f"{_cell(100.0 * row.confidence, 7)} {_cell(100.0 * row.accuracy, 7)}"
    return f"{row.low:.1f} to {row.high:.1f}  {row.count:9,} {percentages}"


def _p_values(first: AttachmentScores, second: AttachmentScores) -> dict[str, float]:
    """Return the two-sided p-value of the difference in each score that is a sum over sentences."""
    names = [(score, name) for score, _, name, _ in _WORD_SCORES]
    values = {score: exact_paired_test(second.counts[name] - first.counts[name]) for score, name in names}
    for score, _, name, _ in _SENTENCE_SCORES:
        values[score] = exact_paired_test(
            second.complete(name).astype(int) - first.complete(name).astype(int)
        )
    return values


def scores_as_json(paths: list[str], scores: tuple[AttachmentScores, ...]) -> Mapping[str, object]:
    """Return the scores of SYSTEM; the other system's, with p-values, under ``versus``."""
    result = _summary(scores[0])
    if scores[0].groups:
        result["groups"] = {name: _group_summary(group) for name, group in scores[0].groups.items()}
    if len(scores) == 2:
        result["versus"] = {
            "file": paths[2],
            **_summary(scores[1]),
            "p_values": _p_values(*scores),
        }
    return result


def _summary(scores: AttachmentScores) -> dict[str, object]:
    names = ("uas", "las", "las_no_subtypes", "uem", "lem", "root_f1")
    return {
        **{name: finite(getattr(scores, name)) for name in names},
        "tokens": scores.tokens,
        "sentences": scores.sentences,
        "words_without_gold_head": scores.total("without_gold_head"),
    }


def _group_summary(group: GroupScores) -> dict[str, object]:
    return {
        "uas": finite(group.uas),
        "las": finite(group.las),
        "las_no_subtypes": finite(group.las_no_subtypes),
        "tokens": group.tokens,
        "predicted": group.predicted,
    }


def finite(value: float) -> float | None:
    """Return None, which is JSON's null, for NaN, which JSON has not."""
    return None if math.isnan(value) else value


def scores_as_table(
    paths: list[str], scores: tuple[AttachmentScores, ...], *, punctuation: bool
) -> list[str]:
    """Return the lines of a table of one system, or of two side by side; ``paths`` are gold, then systems."""
    first = scores[0]
    lines = [
        f"{paths[1]} against {paths[0]}",
        f"{_number(first.sentences, 'sentence')}, {_number(first.tokens, 'word')} scored, "
        f"punctuation {'included' if punctuation else 'left out'}",
    ]
    if missing := first.total("without_gold_head"):
        lines.append(f"{_number(missing, 'word')} without a gold head: not scored")
    lines += ["", *(_comparison_table(paths, scores) if len(scores) == 2 else _score_table(first))]
    for path, system in zip(paths[1:], scores):
        if system.groups:
            lines += ["", *([path] if len(scores) == 2 else []), *_group_table(system.groups)]
    return lines


def _score_table(scores: AttachmentScores) -> list[str]:
    lines = []
    for score, label, name, meaning in _WORD_SCORES:
        lines.append((label, getattr(scores, score), f"{_number(scores.total(name), 'word')} {meaning}"))
    for score, label, name, meaning in _SENTENCE_SCORES:
        lines.append(
            (label, getattr(scores, score), f"{_number(scores.complete(name).sum(), 'sentence')} {meaning}")
        )
    roots = f"{_number(scores.total('gold_roots'), 'gold root')}, {scores.total('system_roots'):,} found"
    lines.append(("root F1", scores.root_f1, f"{roots}, {scores.total('shared_roots'):,} right"))
    return [f"{label:<16}  {value:6.2f}  {counts}" for label, value, counts in lines]


def _comparison_table(paths: list[str], scores: tuple[AttachmentScores, ...]) -> list[str]:
    first, second = scores
    p_values = _p_values(first, second)
    lines = [
        f"SYSTEM  {paths[1]}",
        f"OTHER   {paths[2]}",
        "",
        f"{'':<16}  {'SYSTEM':>7} {'OTHER':>7} {'change':>7}  p",
    ]
    for score, label, _, _ in (*_WORD_SCORES, *_SENTENCE_SCORES):
        one, other = getattr(first, score), getattr(second, score)
        lines.append(f"{label:<16}  {one:7.2f} {other:7.2f} {other - one:+7.2f}  {_p_text(p_values[score])}")
    one, other = first.root_f1, second.root_f1
    lines.append(f"{'root F1':<16}  {one:7.2f} {other:7.2f} {other - one:+7.2f}")
    return lines


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _p_text(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def _group_table(groups: Mapping[str, GroupScores]) -> list[str]:
    """Lay out one line a group; ``found``, where it differs, is how many words the system puts there."""
    width = max(len(name) for name in groups)
    differ = any(group.predicted != group.tokens for group in groups.values())
    found = f" {'found':>7}" if differ else ""
    lines = [f"{'':<{width}} {'words':>7}{found} {'UAS':>7} {'LAS':>7} {'no subtypes':>12}"]
    for name, group in groups.items():
        found = f" {group.predicted:7,}" if differ else ""
        scores = (_cell(group.uas, 7), _cell(group.las, 7), _cell(group.las_no_subtypes, 12))
        lines.append(f"{name:<{width}} {group.tokens:7,}{found} {' '.join(scores)}")
    return lines


def _cell(value: float, width: int) -> str:
    """Lay out a percentage; a dash where the gold trees have no such word."""
    return f"{'-':>{width}}" if math.isnan(value) else f"{value:{width}.2f}"
