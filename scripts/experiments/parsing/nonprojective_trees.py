"""Chapter 3 of the thesis where no other page has it: figure 3.1, crossing arcs (3.1), and search error (3.4.4)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD
from qsproj.models.tree_inference import TreeInference, arcs_in
from qsproj.trees.crossings import crossing_arcs, nearest_projective
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.objective_runs import TREEBANKS
from scripts.experiments.parsing.treebank_rows import SMALL_ROWS, add_rows_argument, measured
from scripts.experiments.parsing.weakened_constraints import ITERATIONS, errors_table, measure

# As in figure 3.1.
WORDS = 10
LENGTHS = (2, 5, 10, 20, 40)
# What a pair of arcs is: not both in any tree, in trees with crossings alone, or in projective ones too.
NEVER, CROSSING, ALWAYS = 0, 1, 2
PairKinds = NDArray[np.int8]


def pair_kinds(words: int) -> PairKinds:
    """Tell of each two arcs whether a tree may have both: int8[(n+1)n, (n+1)n], arcs by dependent, then head."""
    arcs = [(head, dependent) for dependent in range(1, words + 1) for head in range(words + 1)]
    kinds = np.zeros((len(arcs), len(arcs)), dtype=np.int8)
    shapes = [TreeInference(projective=projective, single_root=False) for projective in (False, True)]
    for row, one in enumerate(arcs):
        for column, other in enumerate(arcs[: row + 1]):
            allowed = allowing(one, other, words)
            kinds[row, column] = kinds[column, row] = sum(shape.admits(allowed) for shape in shapes)
    return kinds


def allowing(one: tuple[int, int], other: tuple[int, int], words: int) -> NDArray[np.bool_]:
    """Return the arcs bool[n+1, n+1] that trees with two arcs may have; none where one word would have two heads."""
    heads = np.full(words + 1, NO_HEAD, dtype=np.int32)
    heads[one[1]], heads[other[1]] = one[0], other[0]
    allowed = arcs_in(heads)
    allowed[:, one[1]] &= np.arange(words + 1) == one[0]
    return allowed


def pairs_table(kinds: PairKinds) -> Table:
    """Count ordered pairs of two arcs by kind."""
    apart = ~np.eye(len(kinds), dtype=np.bool_)
    loops = np.array([head == word for word in range(1, WORDS + 1) for head in range(WORDS + 1)])
    real = apart & ~loops[:, None] & ~loops
    names = {ALWAYS: "projective trees, too", CROSSING: "non-projective trees only", NEVER: "no tree"}
    rows = [
        [name, f"{count:,}", f"{100 * count / np.count_nonzero(real):.1f}"]
        for kind, name in names.items()
        if (count := int(np.count_nonzero(real & (kinds == kind))))
    ]
    return table(["both arcs are in some of", "pairs", "%"], rows)


def trees_table() -> Table:
    """Count the trees of sentences, with one root: exp of log Z where every arc scores 0."""
    rows = []
    for words in LENGTHS:
        logs = [
            TreeInference(projective=projective, single_root=True).infer(np.zeros((words + 1, words + 1)))[0]
            for projective in (True, False)
        ]
        rows.append([str(words), *(f"{math.exp(log):.4g}" for log in (*logs, logs[1] - logs[0]))])
    return table(["words", "projective trees", "all trees", "all trees in projective ones"], rows)


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
    """Say how far the treebanks are from projective: those that parsers are trained and tested on."""
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
    found = lab.cache.figures("pairs of arcs", lambda: pair_kinds(WORDS).tolist())
    kinds = np.array(found, dtype=np.int8)
    results = measured(lab, SMALL_ROWS, measure)
    short, long = ITERATIONS
    return Figures(
        tables={
            "pairs": pairs_table(kinds),
            "trees": trees_table(),
            "crossing": crossing_table(lab),
            "than exact": errors_table(results, short, "unlike_exact"),
            "than PTREE": errors_table(results, short, "unlike_ptree"),
            "than exact, long": errors_table(results, long, "unlike_exact"),
            "uas": errors_table(results, short, "right"),
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
