"""The files and functions that a job passes: what is called while it runs, kernels too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import qsproj
from qsproj.cli.main import main
from qsproj.corpus.pairs.aligned import pair_aligned
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from scripts.experiments.harness.build import CHECKOUT

SAMPLE = CHECKOUT / "corpora"
PACKAGE = f"{CHECKOUT}/qsproj/"
# A file, from the top of the package, and a function of it.
Place = tuple[str, str]


def calls_in(work: Callable[[], object]) -> set[tuple[Place | None, Place]]:
    """Run ``work``; return which functions of ours call which, also through code of others."""
    found: set[tuple[Place | None, Place]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        called = _place(frame)
        if event == "call" and called:
            outer = frame.f_back
            while outer and not _place(outer):
                outer = outer.f_back
            found.add((_place(outer) if outer else None, called))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def _place(frame: FrameType) -> Place | None:
    file, function = frame.f_code.co_filename, frame.f_code.co_name
    return (
        (file.removeprefix(PACKAGE), function)
        if file.startswith(PACKAGE) and function != "<module>"
        else None
    )


def joint_training() -> Callable[[], object]:
    """Return what trains a joint parser on two pairs of the sample; it has run once, which compiles kernels."""
    english, german = (list(qsproj.read_conllu(SAMPLE / f"{language}.conllu")) for language in ("en", "de"))
    links = list(qsproj.read_alignments(SAMPLE / "en-de.pharaoh"))
    parser = qsproj.train_parser(english[:12], features="words")
    pairs = list(pair_aligned(english[:2], german[:2], links[:2]))

    def train() -> object:
        return train_joint_parser(pairs, parser, rng=np.random.default_rng(1))

    train()
    return train


def bootstrapping(folder: Path) -> Callable[[], object]:
    """Return what bootstraps a model from the sample in an empty folder."""
    for language in ("en", "de"):
        lines = (" ".join(one.forms) for one in qsproj.read_conllu(SAMPLE / f"{language}.conllu"))
        (folder / language).write_text("\n".join(lines), encoding="utf-8")
    bitext = ("--bitext", f"{folder}/en", f"{folder}/de", "--languages", "en", "de")
    treebank = ("--treebank", f"{SAMPLE}/en.conllu")
    return lambda: main(["bootstrap", *treebank, *bitext, "-o", f"{folder}/model"])
