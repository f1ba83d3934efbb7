"""Rows for parsing, tagging and the start of commands."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scripts.experiments.bench.rows_data import bitext, every, kept, treebank
from scripts.experiments.bench.sides import Bench, Row, Side

TIMES = 4
# Runs the command line, and writes the processor time of its own process to a file.
TIMED = """
import atexit, sys, time
from pathlib import Path
from qsproj.__main__ import run
output = Path(sys.argv.pop(1))
atexit.register(lambda: output.write_text(str(time.process_time())))
run()
"""
# Share of the treebank for training a second-order parser: its time per sentence depends little on it.
SHARE = 6


def first_order(bench: Bench) -> Path:
    data = bench.lab.treebank_path("english-ewt-train")
    return bench.made_by_old("first-order.parser", lambda old, path: old.qsproj("train", data, "-o", path))


def second_order(bench: Bench) -> Path:
    data = every(bench, "english-ewt-train", SHARE)
    return bench.made_by_old(
        "second-order.parser", lambda old, path: old.qsproj("train", "--order", "2", data, "-o", path)
    )


def tagger(bench: Bench, side: Side) -> Path:
    """Return a German tagger with word classes of raw text, trained by a side: tokenisers have changed since."""
    trees = [bench.lab.treebank_path(name) for name in ("german-gsd-dev", "german-lit-test")]
    raw = kept(bench, "raw.de.txt", "".join(f"{pair.split(chr(9))[1]}\n" for pair in bitext(bench, "de")))
    options: list[str | Path] = ["train-tagger", *trees, "--raw", raw, "--language", "de", "-o"]
    if side is bench.old:
        return bench.made_by_old("de.tagger", lambda old, path: old.qsproj(*options, path))
    path = bench.folder / "de.tagger"
    if not path.exists():
        side.qsproj(*options, path)
    return path


def stored_by(bench: Bench, side: Side, model: Path) -> Path:
    """Return a model of the old side as a side stores it: read and written."""
    if side is bench.old:
        return model
    again = bench.folder / model.name
    if not again.exists():
        program = "import sys; from qsproj import load_model; load_model(sys.argv[1]).save(sys.argv[2])"
        side.run("-c", program, model, again)
    return again


def rate(bench: Bench, side: Side, model: Path, *, times: int) -> float:
    """Return sentences of EWT test by second, reading and writing: that of long files less that of a short one."""
    text = treebank(bench, "english-ewt-test")
    short, long = kept(bench, "test.conllu", text), kept(bench, f"test{times}.conllu", text * times)
    taken = [side.qsproj("parse", "-m", model, path, "-o", os.devnull).seconds for path in (short, long)]
    return text.count("\n\n") * (times - 1) / (taken[1] - taken[0])


def one_sentence(bench: Bench, side: Side) -> float:
    first = treebank(bench, "english-ewt-test").split("\n\n")[0]
    path = kept(bench, "one.conllu", f"{first}\n\n")
    model = stored_by(bench, side, first_order(bench))
    return side.qsproj("parse", "-m", model, path, "-o", os.devnull).seconds


def tagging_start(bench: Bench, side: Side) -> float:
    path = kept(bench, "one.txt", "Das ist ein Satz .\n")
    return side.qsproj("tag", "-m", tagger(bench, side), path, "-o", os.devnull).seconds


class FirstRun(NamedTuple):
    """Processor time of all processes of a command, and of its main process."""

    all: float
    waited_for: float


@cache
def first_run(side: Side, folder: Path, corpora: Path) -> FirstRun:
    """Measure the time of the demo without compiled kernels, once."""
    own = folder / f"seconds-{side.name}"
    environment = {"NUMBA_CACHE_DIR": str(folder / f"compiled-{side.name}")}
    spent = side.run("-c", TIMED, own, "demo", "--corpora", corpora, environment=environment)
    return FirstRun(spent.seconds, float(own.read_text(encoding="ascii")))


def first_run_row(what: str, figure: str) -> Row:
    """Return the row of a figure of :class:`FirstRun`."""

    def measure(bench: Bench, side: Side) -> float:
        found = first_run(side, bench.folder, bench.old.source / "corpora")
        return float(getattr(found, figure))

    return Row(what=what, measure=measure, rounds=1, warm=False)


ROWS = (
    Row(
        what="`parse`, first order, EWT test, sentences/s without the start",
        measure=lambda bench, side: rate(bench, side, first_order(bench), times=TIMES),
        shown="{:,.0f}".format,
        rounds=2,
    ),
    Row(
        what="`parse --order 2`, ms a sentence",
        measure=lambda bench, side: 1000 / rate(bench, side, second_order(bench), times=2),
        shown="{:.2f}".format,
        rounds=2,
    ),
    Row(what="`parse` of one sentence, kernels compiled before", measure=one_sentence),
    Row(
        what="size of a German tagger with raw text",
        measure=lambda bench, side: tagger(bench, side).stat().st_size / 1e6,
        shown="{:.1f} MB".format,
        rounds=1,
    ),
    Row(what="`tag` of one line by it", measure=tagging_start),
    first_run_row("first run ever: `demo`, nothing compiled", "all"),
    first_run_row("first run ever, the process that is waited for", "waited_for"),
)
