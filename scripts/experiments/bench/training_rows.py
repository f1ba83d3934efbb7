"""Rows for training, and for aligning many pairs."""

from __future__ import annotations

import os
from pathlib import Path

from scripts.experiments.bench.rows_data import bitext, every, kept, spent_once
from scripts.experiments.bench.sides import Bench, Row, Side, Spent

# Of EWT, for the second order: its time grows with the sentences.
SHARE = 12
# Of EWT, to compile kernels before anything is measured.
LITTLE = 400
PAIRS = 70_000


def train(bench: Bench, side: Side, data: Path, *options: str) -> float:
    """Return the processor time of training, with kernels that training on little data has compiled."""
    for treebank in (every(bench, "english-ewt-train", LITTLE), data):
        spent = side.qsproj("train", *options, treebank, "-o", bench.folder / "trained.parser")
    return spent.seconds


def align(bench: Bench, side: Side) -> Spent:
    """Measure the alignment of many pairs, once."""
    pairs = [f"{pair}\n" for pair in bitext(bench, "de")[:PAIRS]]
    few, many = kept(bench, "few.tsv", "".join(pairs[:200])), kept(bench, "many.tsv", "".join(pairs))
    for path in (few, many):
        spent = spent_once(side, "align", path, "--weights", "-o", os.devnull)
    return spent


ROWS = (
    Row(
        what="`train`, first order, EWT",
        measure=lambda bench, side: train(bench, side, bench.lab.treebank_path("english-ewt-train")),
        rounds=1,
        warm=False,
    ),
    Row(
        what=f"`train --order 2`, every {SHARE}th sentence of EWT",
        measure=lambda bench, side: train(
            bench, side, every(bench, "english-ewt-train", SHARE), "--order", "2"
        ),
        rounds=1,
        warm=False,
    ),
    Row(
        what=f"`align`, {PAIRS:,} pairs",
        measure=lambda bench, side: align(bench, side).seconds,
        rounds=1,
        warm=False,
    ),
    Row(
        what=f"`align`, {PAIRS:,} pairs, peak memory",
        measure=lambda bench, side: align(bench, side).peak,
        shown="{:,.0f} MB".format,
        rounds=1,
        warm=False,
    ),
)
