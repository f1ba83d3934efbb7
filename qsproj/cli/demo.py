"""Run annotation projection on the sample in corpora/: from English trees and a bitext to a German parser.

Ninety English trees are projected to German through the hand-made word links of corpora/en-de.pharaoh. In
each fold, German parsers are trained on sixty of them, by hard and by soft projection, and tested on the
other thirty. No German tree is used for training. The sample is tiny; see docs/results/thesis.md for results
on real data.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import qsproj
from qsproj.cli.command_parser import CommandParser, print_lines
from qsproj.cli.options.shared import add_seed

if TYPE_CHECKING:
    from qsproj.pipelines.demo import DemoResult

EXAMPLES = """examples:
  qsproj demo
  qsproj demo --corpora corpora --seed 7
"""


def add_arguments(parser: CommandParser) -> None:
    parser.option("--corpora DIR", "folder of the sample (default: that of the installation)", type=Path)
    add_seed(parser)


def run(options: argparse.Namespace) -> None:
    from qsproj.pipelines.demo import run_demo

    # The sample is inside an installed package, or beside the package in a checkout.
    package = Path(qsproj.__file__).parent
    installed = package / "sample"
    sample = installed if installed.is_dir() else package.parent / "corpora"
    result = run_demo(options.corpora or sample, seed=options.seed)
    print_lines(_story(result))


def _story(result: DemoResult) -> Iterator[str]:
    links, counts = result.alignment, result.projection
    yield f"word alignment, learned only from {links.sentences} sentence pairs:"
    yield f"  alignment error rate {links.error_rate:.1f}% against the hand-made links\n"
    yield f"projection of {counts.pairs} English trees through the hand-made links:"
    yield f"  {counts.arcs} arcs for {counts.words} German words, {counts.whole} complete trees"
    yield f"  precision {counts.precision:.1f}%, recall {counts.recall:.1f}% against the German trees\n"
    sentences = next(iter(result.scores.values())).sentences
    yield f"parsing {sentences} German sentences, a third held out at a time:"
    for name, scores in result.scores.items():
        relations = "" if name.startswith("every") else f"   LAS {scores.las:5.1f}%"
        yield f"  {name:<34} UAS {scores.uas:5.1f}%{relations}"
    yield "\nSoft projection, the default of qsproj project, adjusts an English parser by projected arcs;"
    yield "hard projection trains a parser on projected trees. Neither uses German trees."
