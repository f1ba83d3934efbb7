"""Compiling beside the process that is waited for: the first time, another one compiles what it needs later.

Of what a command compiles that parses or trains, kernels of projective trees and of relations take more than
half of the time, and are called when the others have been compiled. Both processes share the folder that
compiled code is kept in.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import current_process
from pathlib import Path

import numpy as np

TREES = "qsproj.kernels.trees.eisner_block"
# What is compiled ahead, in this order, as the names of their files begin.
AHEAD = (
    "eisner.eisner_posterior-",
    "eisner.eisner_best-",
    "eisner_block.decode_block-",
    "label_features.score_labels-",
    "label_features.step_labels-",
    "label_features.step_label_evidence-",
)
LAST = Path(__file__).parent / "features" / "label_features.py"
# Set to 0 in the other process, which starts no third.
SWITCH = "QSPROJ_COMPILE_AHEAD"
PATIENCE, INTERVAL = 60.0, 0.02

_STARTED: list[subprocess.Popen[bytes] | None] = []


def begin(is_there: Callable[[], bool]) -> None:
    """Start the other process, once, when a kernel is to be compiled, unless what it makes is there."""
    if _STARTED or TREES not in sys.modules:
        return
    _STARTED.append(None)
    alone = (
        not sys.executable
        or os.environ.get(SWITCH) == "0"
        or current_process().name != "MainProcess"
        or _cores() == 1
    )
    if alone or is_there():
        return
    with suppress(OSError):
        other = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import compile_ahead; compile_ahead()"],
            env={**os.environ, SWITCH: "0", "QSPROJ_NOTICES": "0", "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _STARTED[0] = other
        # A process that ended and was not waited for stays in the table of processes.
        threading.Thread(target=other.wait, daemon=True).start()


def comes(path: Path) -> bool:
    """Wait for a file that the other process writes; say whether it came."""
    other = _STARTED[0] if _STARTED else None
    if other is None or not path.name.startswith(AHEAD):
        return False
    until = time.monotonic() + PATIENCE
    while not path.exists() and other.poll() is None and time.monotonic() < until:
        time.sleep(INTERVAL)
    return path.exists()


def compile_ahead() -> None:
    """Compile what is compiled ahead, for the types that commands call it with."""
    from qsproj.kernels.features.arc_features import ArcFeatures
    from qsproj.kernels.features.label_features import score_labels, step_label_evidence, step_labels
    from qsproj.kernels.trees.eisner import eisner_best, eisner_posterior
    from qsproj.kernels.trees.eisner_block import decode_block

    heads = np.zeros(3, dtype=np.int32)
    eisner_posterior(np.zeros((3, 3)), heads, False)
    eisner_best(np.zeros((3, 3)), False)
    decode_block(np.zeros(9), np.array([3]), False, False, heads.copy(), np.zeros(1, dtype=np.bool_))
    parts = np.zeros((3, 1), dtype=np.uint64)
    features = ArcFeatures(
        parts, parts, np.zeros(3, dtype=np.uint8), np.zeros(1, dtype=np.int32), 1, 1, np.uint64(60)
    )
    weights, state = np.zeros((16, 2), dtype=np.float32), np.zeros((2, 16, 2), dtype=np.float32)
    score_labels(features, heads, weights, np.zeros((3, 2)))
    given = heads.copy()
    given.flags.writeable = False
    step_labels(features, given, heads, weights, state, 0.1, 0.0)
    step_label_evidence(features, given, np.zeros((3, 2)), weights, state, 0.1, 0.0)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
