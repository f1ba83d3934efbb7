"""Run annotation projection on the sample in corpora/: from English trees and a bitext to a German parser.

Ninety English trees are projected to German through the hand-made word links of corpora/en-de.pharaoh. In
each fold, German parsers are trained on sixty of them, by hard and by soft projection, and tested on the
other thirty. No German tree is used for training. For results on real data see docs/results/thesis.md.
"""

import argparse
from pathlib import Path

import qsproj
from qsproj.cli.command_parser import print_lines
from qsproj.cli.options.declare import Option
from qsproj.cli.options.shared import SEED

OPTIONS = (Option("--corpora DIR", "folder of the sample (default: that of the installation)"), SEED)
EXAMPLES = """examples:
  qsproj demo
  qsproj demo --corpora corpora --seed 7
"""


def run(options: argparse.Namespace) -> None:
    from qsproj.pipelines.demo import run_demo

    # The sample is inside an installed package, or beside the package in a checkout.
    package = Path(qsproj.__file__).parent
    installed = package / "sample"
    sample = installed if installed.is_dir() else package.parent / "corpora"
    result = run_demo(Path(options.corpora or sample), seed=options.seed)
    links, counts = result.alignment, result.projection
    sentences = next(iter(result.scores.values())).sentences
    lines = [
        f"word alignment, learned only from {links.sentences} sentence pairs:",
        f"  alignment error rate {links.error_rate:.1f}% against the hand-made links\n",
        f"projection of {counts.pairs} English trees through the hand-made links:",
        f"  {counts.arcs} arcs for {counts.words} German words, {counts.whole} complete trees",
        f"  precision {counts.precision:.1f}%, recall {counts.recall:.1f}% against the German trees\n",
        f"parsing {sentences} German sentences, a third held out at a time:",
    ]
    for name, scores in result.scores.items():
        relations = "" if name.startswith("every") else f"   LAS {scores.las:5.1f}%"
        lines.append(f"  {name:<34} UAS {scores.uas:5.1f}%{relations}")
    soft = "Soft projection, the default of qsproj project, adjusts an English parser by projected arcs;"
    hard = "hard projection trains a parser on projected trees. Neither uses German trees."
    print_lines([*lines, "", soft, hard])
