"""Scores formatted as tables and as JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from qsproj.errors import pluralise
from qsproj.evaluation.alignment import AlignmentScores
from qsproj.evaluation.attachment import AttachmentScores, exact_paired_test
from qsproj.evaluation.calibration import ReliabilityBin, expected_calibration_error
from qsproj.evaluation.conll18 import F1, CutScores

# (score, its label in the table, its field with the count of right words, description of that count).
_TREE_SCORES = (
    ("uas", "UAS", "unlabelled", "with the right head"),
    ("las", "LAS", "labelled", "with the right head and relation"),
    ("las_no_subtypes", "LAS, no subtypes", "labelled_no_subtypes", "the same up to subtypes"),
)
_TAG_SCORES = (("upos", "UPOS", "tags", "with the right tag"),)
WORD_SCORES = (*_TREE_SCORES, *_TAG_SCORES)
SENTENCE_SCORES = (
    ("uem", "UEM", "unlabelled", "with every head right"),
    ("lem", "LEM", "labelled", "with every head and relation right"),
)

SIGNIFICANT = 0.05  # level of the p-value

# Labels of scores of files segmented differently: of words, trees; after each, others of CoNLL 2018.
_OF_WORDS = {"sentences": "sentences", "tokens": "tokens", "words": "words", "upos": "UPOS"}
_WORD_COLUMNS = {"xpos": "XPOS", "ufeats": "UFeats", "alltags": "AllTags", "lemmas": "lemmas"}
_OF_TREES = {**{name: label for name, label, *_ in _TREE_SCORES}, "root": "root"}
_TREE_COLUMNS = {"clas": "CLAS", "mlas": "MLAS", "blex": "BLEX", "elas": "ELAS", "eulas": "EULAS"}


def calibration_as_table(key: str, table: Sequence[ReliabilityBin]) -> list[str]:
    error = 100.0 * expected_calibration_error(table)
    heading = f"{key:>11} {'arcs':>9} {'mean':>7} {'right':>7}"
    lines = [f"expected calibration error  {error:.2f}%", "", heading]
    for row in table:
        cells = f"{_cell(100.0 * row.confidence, 7)} {_cell(100.0 * row.accuracy, 7)}"
        lines.append(f"{row.low:.1f} to {row.high:.1f}  {row.count:9,} {cells}")
    return lines


def calibration_as_json(table: Sequence[ReliabilityBin]) -> dict[str, object]:
    bins = [{name: finite(value) for name, value in asdict(row).items()} for row in table]
    return {"expected_calibration_error": 100.0 * expected_calibration_error(table), "bins": bins}


def _p_values(first: AttachmentScores, second: AttachmentScores) -> dict[str, float]:
    changes = {score: second.counts[name] - first.counts[name] for score, _, name, _ in WORD_SCORES}
    for score, _, name, _ in SENTENCE_SCORES:
        changes[score] = second.complete(name).astype(int) - first.complete(name).astype(int)
    return {score: exact_paired_test(change) for score, change in changes.items()}


def scores_as_json(paths: list[str], scores: tuple[AttachmentScores, ...]) -> Mapping[str, object]:
    result = _summary(scores[0])
    if scores[0].groups:
        result["groups"] = {
            name: {score: finite(getattr(group, score)) for score, *_ in _TREE_SCORES}
            | {"tokens": group.tokens, "predicted": group.predicted}
            for name, group in scores[0].groups.items()
        }
    if len(scores) == 2:
        result["versus"] = {"file": paths[2], **_summary(scores[1]), "p_values": _p_values(*scores)}
    return result


def _summary(scores: AttachmentScores) -> dict[str, object]:
    names = ("uas", "las", "las_no_subtypes", "upos", "uem", "lem", "root_f1")
    return {
        **{name: finite(getattr(scores, name)) for name in names},
        "tokens": scores.tokens,
        "sentences": scores.sentences,
        "words_without_gold_head": scores.total("without_gold_head"),
    }


def finite(value: float) -> float | None:
    """Return None, JSON's null, for NaN, which JSON cannot represent."""
    return None if math.isnan(value) else value


def scores_as_table(
    paths: list[str], scores: tuple[AttachmentScores, ...], *, punctuation: bool, trees: bool = True
) -> list[str]:
    first = scores[0]
    words = first.tokens if trees else first.total("with_gold_tag")
    lines = [
        f"{paths[1]} against {paths[0]}",
        f"{pluralise(first.sentences, 'sentence')}, {pluralise(words, 'word')} scored, "
        f"punctuation {'included' if punctuation else 'left out'}",
    ]
    if trees and (missing := first.total("without_gold_head")):
        lines.append(f"{pluralise(missing, 'word')} without a gold head: not scored")
    two = len(scores) == 2
    table = _comparison_table(paths, scores, trees=trees) if two else _score_table(first, trees=trees)
    lines += ["", *table]
    for path, system in zip(paths[1:], scores):
        if system.groups:
            lines += ["", *([path] if two else []), *_group_table(system.groups)]
    return lines


def systems_as_table(paths: Sequence[str], scores: Sequence[AttachmentScores]) -> list[str]:
    width = max(len(path) for path in paths)
    rows = [("", [f"{label:>7}" for _, label, *_ in WORD_SCORES])]
    for path, system in zip(paths, scores, strict=True):
        cells = [_cell(getattr(system, score), max(7, len(label))) for score, label, *_ in WORD_SCORES]
        rows.append((path, cells))
    return [f"{path:<{width}}  {'  '.join(cells)}" for path, cells in rows]


def _score_table(scores: AttachmentScores, *, trees: bool) -> list[str]:
    lines = []
    for score, label, name, meaning in WORD_SCORES if trees else _TAG_SCORES:
        words, tagged = scores.total(name), scores.total("with_gold_tag") if trees else scores.tokens
        one_count = name != "tags" or tagged == scores.tokens
        counted = pluralise(words, "word") if one_count else f"{words:,} of {pluralise(tagged, 'word')}"
        lines.append((label, getattr(scores, score), f"{counted} {meaning}"))
    for score, label, name, meaning in SENTENCE_SCORES if trees else ():
        complete = int(scores.complete(name).sum())
        lines.append((label, getattr(scores, score), f"{pluralise(complete, 'sentence')} {meaning}"))
    if trees:
        gold, found, right = (scores.total(f"{whose}_roots") for whose in ("gold", "system", "shared"))
        roots = f"{pluralise(gold, 'gold root')}, {found:,} found, {right:,} right"
        lines.append(("root F1", scores.root_f1, roots))
    return [f"{label:<16}  {_cell(value, 6)}  {counts}" for label, value, counts in lines]


def _comparison_table(paths: list[str], scores: tuple[AttachmentScores, ...], *, trees: bool) -> list[str]:
    first, second = scores
    p_values = _p_values(first, second)
    heading = f"{'':<16}  {'SYSTEM':>7} {'OTHER':>7} {'change':>7}  p"
    lines = [f"SYSTEM  {paths[1]}", f"OTHER   {paths[2]}", "", heading]
    for score, label, _, _ in (*WORD_SCORES, *SENTENCE_SCORES) if trees else _TAG_SCORES:
        cells = _compared(getattr(first, score), getattr(second, score))
        lines.append(f"{label:<16}  {cells}  {p_text(p_values[score])}")
    if trees:
        lines.append(f"{'root F1':<16}  {_compared(first.root_f1, second.root_f1)}")
    score, measure = ("las", "LAS") if trees else ("upos", "UPOS")
    gain, p_value = getattr(second, score) - getattr(first, score), p_values[score]
    if gain == 0.0:
        return [*lines, "", f"Both have the same {measure}."]
    better = f"{'OTHER' if gain > 0 else 'SYSTEM'} has the better {measure}, by {abs(gain):.2f} points"
    verdict = "significant" if p_value < SIGNIFICANT else "not significant"
    shown = p_text(p_value) if p_value < 0.0001 else f"= {p_text(p_value)}"
    return [*lines, "", f"{better}; the difference is {verdict} (p {shown})."]


def _compared(one: float, other: float) -> str:
    return f"{_cell(one, 7)} {_cell(other, 7)} {_cell(other - one, 7, sign='+')}"


def cut_scores_as_json(scores: CutScores, *, trees: bool) -> dict[str, object]:
    parts = {name: part for name, _, part in _cut_parts(scores, trees=trees)}
    names = ("uas", "las", "las_no_subtypes", "upos")
    return {
        **{name: finite(parts[name].f1) if name in parts else None for name in names},
        "uem": finite(scores.uem) if trees else None,
        "root_f1": finite(parts["root"].f1) if trees else None,
        "tokens": parts["words"].gold,
        "sentences": parts["sentences"].gold,
        "words_without_gold_head": scores.without_gold_head,
        **{f"{name}_f1": finite(parts[name].f1) for name in ("sentences", "tokens", "words")},
        **columns_as_json(scores, trees=trees),
        "precision": {name: finite(part.precision) for name, part in parts.items()},
        "recall": {name: finite(part.recall) for name, part in parts.items()},
    }


def cut_scores_as_table(
    paths: tuple[str, str], scores: CutScores, *, trees: bool, columns: bool = False
) -> list[str]:
    how = "F1 of each column" if columns else "segmented differently, so F1 is scored"
    sentences, words = scores.parts["sentences"], scores.parts["words"]
    lines = [
        f"{paths[1]} against {paths[0]}",
        f"{how}: {pluralise(sentences.gold, 'sentence')}, {pluralise(words.gold, 'word')} of gold, "
        f"{sentences.system:,} and {words.system:,} of the system",
    ]
    if trees and scores.without_gold_head:
        lines.append(f"{pluralise(scores.without_gold_head, 'word')} without a gold head: counted as wrong")
    lines += ["", f"{'':<16}  {'F1':>6} {'precision':>10} {'recall':>7}"]
    for _, label, part in _cut_parts(scores, trees=trees, columns=columns):
        values = f"{_cell(part.f1, 6)} {_cell(part.precision, 10)} {_cell(part.recall, 7)}"
        lines.append(f"{label:<16}  {values}")
    return lines


def _cut_parts(scores: CutScores, *, trees: bool, columns: bool = False) -> list[tuple[str, str, F1]]:
    """Return (name in JSON, label in the table, score) of the scores that there are."""
    more = (_WORD_COLUMNS, _TREE_COLUMNS) if columns else ({}, {})
    labels = {**_OF_WORDS, **more[0], **(_OF_TREES | more[1] if trees else {})}
    return [(name, label, scores.parts[name]) for name, label in labels.items() if name in scores.parts]


def columns_as_json(scores: CutScores, *, trees: bool) -> dict[str, float | None]:
    names = [*_WORD_COLUMNS, *(_TREE_COLUMNS if trees else ())]
    return {name: finite(scores.parts[name].f1) if name in scores.parts else None for name in names}


def alignment_scores_as_json(scores: AlignmentScores) -> dict[str, object]:
    counts = {"pairs": scores.sentences, "links": scores.found, "gold_links": scores.possible}
    return {
        "aer": finite(scores.error_rate),
        **{name: finite(getattr(scores, name)) for name in ("precision", "recall", "f1")},
        **counts,
        "sure_gold_links": scores.sure,
    }


def alignment_scores_as_table(paths: tuple[str, str], scores: AlignmentScores) -> list[str]:
    return [
        f"{paths[1]} against {paths[0]}",
        f"{pluralise(scores.sentences, 'pair')}, {pluralise(scores.possible, 'gold link')}, "
        f"{scores.sure:,} of them sure; {scores.found:,} found",
        "",
        f"AER        {_cell(scores.error_rate, 6)}",
        f"precision  {_cell(scores.precision, 6)}  {scores.found_possible:,} found are sure or possible",
        f"recall     {_cell(scores.recall, 6)}  {scores.found_sure:,} of the sure are found",
        f"F1         {_cell(scores.f1, 6)}",
    ]


def p_text(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def _group_table(groups: Mapping[str, AttachmentScores]) -> list[str]:
    """Return a line for each group; ``found``, if it differs, is the number of words by the system's tree."""
    width = max(len(name) for name in groups)
    differ = any(group.predicted != group.tokens for group in groups.values())
    found = f" {'found':>7}" if differ else ""
    lines = [f"{'':<{width}} {'words':>7}{found} {'UAS':>7} {'LAS':>7} {'no subtypes':>12}"]
    for name, group in groups.items():
        found = f" {group.predicted:7,}" if differ else ""
        scores = (_cell(group.uas, 7), _cell(group.las, 7), _cell(group.las_no_subtypes, 12))
        lines.append(f"{name:<{width}} {group.tokens:7,}{found} {' '.join(scores)}")
    return lines


def _cell(value: float, width: int, *, sign: str = "-") -> str:
    """Format a percentage; a dash for NaN. ``sign`` is that of format specifications."""
    return f"{'-':>{width}}" if math.isnan(value) else f"{value:{sign}{width}.2f}"
