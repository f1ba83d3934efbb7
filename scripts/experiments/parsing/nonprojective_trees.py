"""Measure crossing arcs (thesis 3.1), and search error under weaker constraints (3.4.4)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from qsproj.trees.crossings import crossing_arcs, nearest_projective
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.objective_runs import TREEBANKS
from scripts.experiments.parsing.treebank_rows import SMALL_ROWS, add_rows_argument, measured
from scripts.experiments.parsing.weakened_constraints import ITERATIONS, errors_table, measure


def crossing_of(lab: Lab, part: str, language: str) -> dict[str, Any]:
    """Count words, sentences, and arcs that cross others or must change, of one file."""
    trees = [sentence.heads for sentence in lab.treebank(f"{TREEBANKS[language]}-{part}")]
    crossing = [int(np.count_nonzero(crossing_arcs(heads))) for heads in trees]
    changed = [int(np.count_nonzero(nearest_projective(heads) != heads)) for heads in trees]
    words = sum(len(heads) - 1 for heads in trees)
    return {
        "words": words,
        "crossing": 100 * sum(crossing) / words,
        "changed": 100 * sum(changed) / words,
        "sentences": 100 * sum(map(bool, crossing)) / len(trees),
    }


def crossing_table(lab: Lab) -> Table:
    """Return the table of crossing arcs in the treebanks for training and testing."""
    rows = []
    for language, treebank in TREEBANKS.items():
        dev, test = (
            lab.cache.figures(
                f"crossing {language} {part}",
                partial(crossing_of, lab, part, language),
                data=[lab.treebank_path(f"{treebank}-{part}")],
            )
            for part in ("dev", "test")
        )
        shares = (
            f"{one[key]:.2f}" for one, key in ((dev, "crossing"), (test, "crossing"), (test, "changed"))
        )
        rows.append(
            [language, f"{dev['words']:,}", f"{test['words']:,}", *shares, f"{test['sentences']:.1f}"]
        )
    header = ["treebank", "words, dev", "words, test", "crossing, dev", "crossing, test"]
    return table([*header, "to change, test", "sentences with crossings, test"], rows)


def run(lab: Lab) -> Figures:
    results = measured(lab, SMALL_ROWS, measure)
    short, _ = ITERATIONS
    return Figures(
        tables={
            "crossing": crossing_table(lab),
            "than PTREE": errors_table(results, short, "unlike_ptree"),
        },
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in SMALL_ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
