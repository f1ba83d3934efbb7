"""The treebanks on which second-order parsers are measured, and how a script goes through them."""

from __future__ import annotations

import argparse
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.sentence import Sentence

SEED = 1


@dataclass(frozen=True)
class Row:
    """What is trained and tested; ``every`` takes one training sentence in so many."""

    name: str
    train: str
    test: str
    every: int = 1


ROWS = (
    Row("Danish-DDT", "danish-ddt-dev", "danish-ddt-test"),
    Row("Dutch-Alpino", "dutch-alpino-dev", "dutch-alpino-test"),
    Row("Hungarian-Szeged", "hungarian-szeged-train", "hungarian-szeged-test"),
    Row("English-EWT, 1 in 12", "english-ewt-train", "english-ewt-test", every=12),
    Row("English-EWT", "english-ewt-train", "english-ewt-test"),
)
# All but the whole of English-EWT, where a table has many parsers to train.
SMALL_ROWS = ROWS[:4]


def add_arguments(parser: argparse.ArgumentParser, rows: Sequence[Row]) -> None:
    """Declare which rows are measured, and where results are kept."""
    names = [row.name for row in rows]
    parser.add_argument("--rows", nargs="*", choices=names, default=names, help="which (default: all)")
    parser.add_argument("--cache", type=Path, help="where results of single treebanks are kept")


def measured(
    what: str, measure: Callable[[Row, Path], Any], rows: Sequence[Row], options: argparse.Namespace
) -> list[Any]:
    """Return the results of the chosen rows, and of others that are kept."""
    data = Path(os.environ["QSPROJ_DATA"]) / "treebanks"
    results = []
    for row in rows:
        kept = options.cache / f"{what} {row.name}.pickle" if options.cache else None
        if kept and kept.exists():
            results.append(pickle.loads(kept.read_bytes()))
        elif row.name in options.rows:
            results.append(measure(row, data))
            if kept:
                kept.write_bytes(pickle.dumps(results[-1]))
    return results


def right_heads(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> np.ndarray:
    """Return the number of right heads of each sentence, int64[S]."""
    return np.array([np.count_nonzero((g.heads == p.heads)[1:]) for g, p in zip(gold, parsed, strict=True)])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield from (f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))
