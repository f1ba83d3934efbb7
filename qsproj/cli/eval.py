"""Score a parsed file against gold trees of the same words, or compare two parsed files.

UAS and LAS are percentages of words with the right head, and with the right head and relation; "LAS, no
subtypes" compares nsubj:pass as nsubj, and is the LAS of the CoNLL 2018 shared task. UEM and LEM are
percentages of sentences without an error. Punctuation (gold UPOS PUNCT) is scored unless --no-punct is given.
Words without a gold head are not scored; how many is said.

--by groups words by the gold trees ("left 2": the dependent stands two words left of its head); its column
"found" counts those that SYSTEM puts into the group. With --versus, p is the exact two-sided probability
that swapping the two systems' results at random, sentence by sentence, sets them as far apart.

--calibration tells instead whether SYSTEM's ArcProb keeps its word: of the arcs that it gives 0.8, 80% should
be right. The expected calibration error is the mean distance from that, in percent.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from dataclasses import asdict

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_output
from qsproj.errors import DataError, UsageError
from qsproj.evaluation.attachment import AttachmentScores, GroupScores, attachment_scores
from qsproj.evaluation.calibration import (
    ReliabilityBin,
    arc_confidences,
    expected_calibration_error,
    reliability,
)
from qsproj.evaluation.grouping import GROUPINGS
from qsproj.evaluation.significance import exact_paired_test

EXAMPLES = """examples:
  qsproj eval gold.conllu parsed.conllu
  qsproj eval gold.conllu.gz parsed.conllu --no-punct --by relation
  qsproj eval gold.conllu parsed.conllu --versus other-parser.conllu
  qsproj parse -m MODEL gold.conllu | qsproj eval gold.conllu - --json
  qsproj parse -m MODEL gold.conllu --confidence | qsproj eval gold.conllu - --calibration
"""

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "gold", metavar="GOLD", help="CoNLL-U file with the right trees (.gz, .xz; - for stdin)"
    )
    parser.add_argument("system", metavar="SYSTEM", help="CoNLL-U file of the same words, parsed")
    parser.add_argument("--no-punct", action="store_true", help="do not score words whose gold UPOS is PUNCT")
    parser.add_argument("--by", choices=tuple(GROUPINGS), help="break the scores down by this")
    parser.add_argument(
        "--versus", metavar="OTHER", help="a second parsed file: test the difference to SYSTEM"
    )
    parser.add_argument(
        "--calibration", action="store_true", help="tell how far ArcProb can be trusted, instead of scores"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(options: argparse.Namespace) -> None:
    """Score, and print a table or JSON."""
    paths = [options.gold, options.system] + ([options.versus] if options.versus is not None else [])
    if paths.count("-") > 1:
        raise UsageError(
            "only one of GOLD, SYSTEM and OTHER can be - (standard input); name files for the rest"
        )
    if options.calibration:
        _run_calibration(options)
        return
    scores = attachment_scores(
        read_conllu(options.gold),
        [read_conllu(path) for path in paths[1:]],
        punctuation=not options.no_punct,
        by=options.by,
        names=paths,
    )
    if scores[0].tokens == 0:
        raise DataError(
            options.gold,
            None,
            found="no word to score",
            expected="words with heads" + (" other than punctuation" if options.no_punct else ""),
            remedy="check that GOLD is the file with the trees",
        )
    for path, system in zip(paths[1:], scores):
        if system.total("without_head") == system.tokens:
            raise DataError(
                path,
                None,
                found="no head on any word",
                expected="trees",
                remedy="parse it first: qsproj parse",
            )
    if options.json:
        text = json.dumps(_as_json(paths, scores), ensure_ascii=False, indent=2)
    else:
        text = "\n".join(_as_table(paths, scores, punctuation=not options.no_punct))
    with open_output(None) as handle:
        handle.write(text + "\n")


def _run_calibration(options: argparse.Namespace) -> None:
    """Print how far ArcProb can be trusted."""
    if options.versus is not None or options.by is not None:
        raise UsageError("--calibration looks at one system as a whole; leave out --versus and --by")
    gold, system = list(read_conllu(options.gold)), list(read_conllu(options.system))
    # For its checks: that both hold the same words.
    attachment_scores(gold, [system], names=[options.gold, options.system])
    confidences, right = arc_confidences(gold, system, punctuation=not options.no_punct, name=options.system)
    table = reliability(confidences, right)
    error = 100.0 * expected_calibration_error(table)
    if options.json:
        bins = [{name: _finite(value) for name, value in asdict(row).items()} for row in table]
        text = json.dumps({"expected_calibration_error": error, "bins": bins}, indent=2)
    else:
        text = "\n".join(
            [
                f"expected calibration error  {error:.2f}%",
                "",
                f"{'ArcProb':>11} {'arcs':>9} {'mean':>7} {'right':>7}",
                *map(_calibration_row, table),
            ]
        )
    with open_output(None) as handle:
        handle.write(text + "\n")


def _calibration_row(row: ReliabilityBin) -> str:
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


def _as_json(paths: list[str], scores: tuple[AttachmentScores, ...]) -> Mapping[str, object]:
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
        **{name: _finite(getattr(scores, name)) for name in names},
        "tokens": scores.tokens,
        "sentences": scores.sentences,
        "words_without_gold_head": scores.total("without_gold_head"),
    }


def _group_summary(group: GroupScores) -> dict[str, object]:
    return {
        "uas": _finite(group.uas),
        "las": _finite(group.las),
        "las_no_subtypes": _finite(group.las_no_subtypes),
        "tokens": group.tokens,
        "predicted": group.predicted,
    }


def _finite(value: float) -> float | None:
    """Return None, which is JSON's null, for NaN, which JSON has not."""
    return None if math.isnan(value) else value


def _as_table(paths: list[str], scores: tuple[AttachmentScores, ...], *, punctuation: bool) -> list[str]:
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
