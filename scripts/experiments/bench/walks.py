"""The files and functions that a job passes: what is called while it runs, kernels too."""

from __future__ import annotations

import inspect
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
    """Run ``work``; return which functions of ours call which, also through code of others; not on import."""
    found: set[tuple[Place | None, Place]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and _is_ours(frame):
            caller = frame.f_back
            while caller and not _is_ours(caller):
                caller = caller.f_back
            call = (_place(caller) if caller else None, _place(frame))
            if call not in found and not _on_import(frame):
                found.add(call)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


def _on_import(frame: FrameType | None) -> bool:
    """Tell whether a frame is the body of a module or a class of ours, or is called by one in the end."""
    while frame is not None:
        if _is_ours(frame) and not frame.f_code.co_flags & inspect.CO_NEWLOCALS:
            return True
        frame = frame.f_back
    return False


def _place(frame: FrameType) -> Place:
    return frame.f_code.co_filename.removeprefix(PACKAGE), frame.f_code.co_name


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
