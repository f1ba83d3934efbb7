"""The treebanks for second-order parsers, and iteration over them in an experiment."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import exact_paired_test
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Lab

SEED = 1
# Right heads of each test sentence, int64[S].
Counts = NDArray[np.int64]
# Trains on the training sentences and returns figures of the test sentences.
Measure = Callable[[list[Sentence], list[Sentence]], Any]


@dataclass(frozen=True)
class Row:
    """Training and test data; ``every`` uses one of that many training sentences."""

    name: str
    train: str
    test: str
    every: int = 1

    def sentences(self, lab: Lab) -> tuple[list[Sentence], list[Sentence]]:
        """Return the sentences to train on and to test on."""
        return lab.treebank(self.train)[:: self.every], lab.treebank(self.test)


ROWS = (
    Row("Danish-DDT", "danish-ddt-dev", "danish-ddt-test"),
    Row("Dutch-Alpino", "dutch-alpino-dev", "dutch-alpino-test"),
    Row("Hungarian-Szeged", "hungarian-szeged-train", "hungarian-szeged-test"),
    Row("English-EWT, 1 in 12", "english-ewt-train", "english-ewt-test", every=12),
    Row("English-EWT", "english-ewt-train", "english-ewt-test"),
)
# All but the whole of English-EWT, where a table has many parsers to train.
SMALL_ROWS = ROWS[:4]


def add_rows_argument(names: Sequence[str]) -> Callable[[argparse.ArgumentParser], None]:
    """Return a function that adds the option to select rows."""

    def add(parser: argparse.ArgumentParser) -> None:
        text = "measure these, and show others that are kept (default: all)"
        parser.add_argument("--rows", nargs="+", choices=names, default=list(names), metavar="ROW", help=text)

    return add


def of_row(row: Row, lab: Lab, measure: Measure) -> Any:
    """Measure one row."""
    return measure(*row.sentences(lab))


def measured(lab: Lab, rows: Sequence[Row], measure: Measure) -> dict[str, Any]:
    """Return by name the results of the chosen rows, and stored results of others."""
    results: dict[str, Any] = {}
    for row in rows:
        source: Source = {
            "options": {"every": row.every},
            "data": [lab.treebank_path(row.train), lab.treebank_path(row.test)],
        }
        if row.name in lab.options.rows:
            results[row.name] = lab.cache.figures(row.name, partial(of_row, row, lab, measure), **source)
        elif (kept := lab.cache.kept(row.name, **source)) is not None:
            results[row.name] = kept
    return results


def right_heads(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> list[int]:
    """Return the number of right heads of each sentence."""
    return [int(np.count_nonzero((g.heads == p.heads)[1:])) for g, p in zip(gold, parsed, strict=True)]


def differences(right: Sequence[int], other: Sequence[int]) -> Counts:
    """Return how many more heads are right, sentence by sentence."""
    return np.array(right, dtype=np.int64) - np.array(other, dtype=np.int64)


def differs(right: Sequence[int], other: Sequence[int], *, level: float) -> bool:
    """Tell whether the difference is significant."""
    return bool(exact_paired_test(differences(right, other)) < level)


def percent(right: Sequence[int], words: int) -> str:
    return f"{100 * sum(right) / words:.2f}"
