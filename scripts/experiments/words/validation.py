"""Faults that the validator of Universal Dependencies finds in parses of raw text (pip install 'qsproj[validate]').

Tagger and parser are learned from one file of a treebank and read the running text of another, paragraphs as they are.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from qsproj.evaluation.validation import Validation, validate
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.words.morphology import command
from scripts.experiments.words.sentences import TREEBANKS, text_of

LEVEL = 3
# Faults of so many tests are told by name, the most frequent ones.
NAMED = 6
# First letters of what the tests of levels 1 and 2 are called.
FORMAT = ("L1", "L2")


def counts(lab: Lab, language: str, train: str, test: str) -> list[list[str]]:
    """Return rows of the tables of counts and of tests, by our parses and by the treebank itself."""
    with tempfile.TemporaryDirectory() as folder:
        tagger, parser, model, text, parsed = (
            str(Path(folder) / name) for name in ("tagger", "parser", "model", "text.txt", "parsed.conllu")
        )
        treebank = str(lab.treebank_path(train))
        command("tag", "--train", treebank, "--language", language, "-o", tagger)
        command("train", treebank, "--features", "morphology", "-o", parser)
        command("bundle", tagger, parser, "-o", model)
        Path(text).write_text(text_of(lab.treebank(test)), encoding="utf-8")
        command("parse", "-m", model, text, "--paragraphs", "-o", parsed)
        ours = validate(parsed, level=LEVEL, language=language)
    gold = validate(lab.treebank_path(test), level=LEVEL, language=language)
    named = [f"{name} {len(faults):,}" for name, faults in ours.by_test().items()][:NAMED]
    return [[f"{len(ours.begins):,}", *faults_of(ours), *faults_of(gold)], [", ".join(named)]]


def faults_of(found: Validation) -> list[str]:
    """Return the number of faults of form, of those of the guidelines, and of sentences with any of them."""
    formal = sum(fault.test.startswith(FORMAT) for fault in found.faults)
    failing = 100 * found.failing / max(len(found.begins), 1)
    return [f"{formal:,}", f"{len(found.faults) - formal:,}", f"{failing:.1f}"]


def run(lab: Lab) -> Figures:
    rows: list[Sequence[str]] = []
    tests: list[Sequence[str]] = []
    for name in lab.options.treebanks:
        language, train, files = TREEBANKS[name]
        test = files[-1]
        data = [lab.treebank_path(file) for file in (train, test)]
        found = lab.cache.figures(
            f"validation {name}", partial(counts, lab, language, train, test), data=data
        )
        rows.append([name, *found[0]])
        tests.append([name, *found[1]])
    ours = ("faults of form", "of guidelines", "% of sentences")
    heads = ["treebank", "sentences", *ours, *(f"treebank: {head}" for head in ours)]
    return Figures(
        tables={"found": table(heads, rows), "tests": table(["treebank", "most frequent faults"], tests)}
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = list(TREEBANKS)
    parser.add_argument(
        "--treebanks",
        nargs="*",
        default=["Greek", "Turkish", "Danish", "German", "Czech", "Slovenian"],
        choices=names,
        metavar="NAME",
        help="parse these (default: all but English and Hungarian)",
    )


EXPERIMENT = Experiment(
    file=__file__, about=__doc__, measure=run, page="validation", add_arguments=add_arguments
)

if __name__ == "__main__":
    EXPERIMENT.main()
