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
from dataclasses import asdict

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_output
from qsproj.errors import DataError, UsageError
from qsproj.evaluation.attachment import attachment_scores
from qsproj.evaluation.calibration import arc_confidences, expected_calibration_error, reliability
from qsproj.evaluation.grouping import GROUPINGS
from qsproj.evaluation.score_tables import calibration_row, finite, scores_as_json, scores_as_table

EXAMPLES = """examples:
  qsproj eval gold.conllu parsed.conllu
  qsproj eval gold.conllu.gz parsed.conllu --no-punct --by relation
  qsproj eval gold.conllu parsed.conllu --versus other-parser.conllu
  qsproj parse -m MODEL gold.conllu | qsproj eval gold.conllu - --json
  qsproj parse -m MODEL gold.conllu --confidence | qsproj eval gold.conllu - --calibration
"""


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
        text = json.dumps(scores_as_json(paths, scores), ensure_ascii=False, indent=2)
    else:
        text = "\n".join(scores_as_table(paths, scores, punctuation=not options.no_punct))
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
        bins = [{name: finite(value) for name, value in asdict(row).items()} for row in table]
        text = json.dumps({"expected_calibration_error": error, "bins": bins}, indent=2)
    else:
        text = "\n".join(
            [
                f"expected calibration error  {error:.2f}%",
                "",
                f"{'ArcProb':>11} {'arcs':>9} {'mean':>7} {'right':>7}",
                *map(calibration_row, table),
            ]
        )
    with open_output(None) as handle:
        handle.write(text + "\n")
