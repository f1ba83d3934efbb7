"""Rows for inference over trees, compared with other packages, and for parsing both sides of a bitext."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from scripts.experiments.bench import against_peers
from scripts.experiments.bench.rows_data import kept
from scripts.experiments.bench.sides import Bench, Row, Side

# Pairs of LinES: those whose links are learned and whose source side is learned from, those of them that joint
# parsing is learned from, and those that are parsed, in a short file and a long one.
LINKED, LEARNED, FEW, MANY = 1000, 60, 20, 140


def times_as_fast(bench: Bench, side: Side, peer: str, n: int) -> float:
    output = bench.folder / f"{peer}-{n}-{side.name}"
    side.run(against_peers.__file__, output, peer, str(n))
    return float(output.read_text(encoding="ascii"))


def lines_sentences(bench: Bench, code: str) -> list[str]:
    """Return LINKED sentences of a side of LinES, and MANY that are none of them."""
    found = []
    for part, count in (("train", LINKED), ("test", MANY)):
        packed = (bench.lab.data / "lines" / f"{code}-{part}.conllu.gz").read_bytes()
        found += gzip.decompress(packed).decode().split("\n\n")[:count]
    return found


def pairs(bench: Bench, begin: int, end: int) -> list[str | Path]:
    """Return the options that name some of the pairs: both sides, and links that the old commit found."""

    def one_side(code: str, first: int, last: int) -> Path:
        text = "".join(f"{sentence}\n\n" for sentence in lines_sentences(bench, code)[first:last])
        return kept(bench, f"lines-{code}-{first}-{last}.conllu", text)

    every = [one_side(code, 0, LINKED + MANY) for code in ("en", "sv")]
    links = bench.made_by_old("lines.links", lambda old, path: old.qsproj("align", *every, "-o", path))
    chosen = links.read_text(encoding="utf-8").splitlines(keepends=True)[begin:end]
    some = kept(bench, f"lines-{begin}-{end}.links", "".join(chosen))
    sides = [one_side(code, begin, end) for code in ("en", "sv")]
    return ["--source", sides[0], "--target", sides[1], "--alignment", some]


def biparser(bench: Bench) -> Path:
    """Return a joint parser that the old side trained."""
    source = pairs(bench, 0, LINKED)[1]
    model = bench.made_by_old("lines-en.parser", lambda old, path: old.qsproj("train", source, "-o", path))
    learned = pairs(bench, 0, LEARNED)
    return bench.made_by_old(
        "lines.biparser",
        lambda old, path: old.qsproj("train-biparser", *learned, "--source-model", model, "-o", path),
    )


def biparsing(bench: Bench, side: Side) -> float:
    """Return the milliseconds for one more pair: the difference between many pairs and a few."""
    model = biparser(bench)
    taken = [
        side.qsproj("biparse", "-m", model, *pairs(bench, LINKED, LINKED + count), "-o", os.devnull).seconds
        for count in (FEW, MANY)
    ]
    return 1000 * (taken[1] - taken[0]) / (MANY - FEW)


def against_lu(n: int) -> Row:
    """Return the row of the posterior over all trees of n words."""
    return Row(
        what=f"`nonprojective.posterior`, n = {n}, times as fast as numpy's LU",
        measure=lambda bench, side: times_as_fast(bench, side, "lu", n),
        shown="{:.2f}".format,
        rounds=3,
    )


ROWS = (
    Row(
        what="`biparse`, LinES, ms a pair",
        measure=biparsing,
        shown="{:.1f}".format,
        rounds=2,
    ),
    against_lu(20),
    against_lu(40),
    against_lu(100),
    Row(
        what="best arborescence, n = 30, times as fast as `ufal.chu_liu_edmonds`",
        measure=lambda bench, side: times_as_fast(bench, side, "ufal", 30),
        shown="{:.1f}".format,
        rounds=3,
    ),
)
