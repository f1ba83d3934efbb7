"""Precompiling in a second process: on the first run, it compiles kernels that the first process needs later.

In commands that parse or train, kernels of projective trees and of relations take more than half of the
compile time, and are called after the others. Both processes share the folder of compiled code.
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

TREES = "qsproj.kernels.trees.eisner_block"
# The module that the other process runs.
FIRST = "qsproj.kernels.first_kernels"
# Kernels compiled ahead, in this order, as prefixes of their files' names.
AHEAD = (
    "eisner.eisner_posterior-",
    "eisner.eisner_best-",
    "eisner_block.decode_block-",
    "label_features.score_labels-",
    "label_features.step_labels-",
    "label_features.step_label_evidence-",
)
LAST = Path(__file__).parent / "features" / "label_features.py"
# Set to 0 in the other process, so that it does not start a third one.
SWITCH = "QSPROJ_COMPILE_AHEAD"
PATIENCE, INTERVAL = 60.0, 0.02

_STARTED: list[subprocess.Popen[bytes] | None] = []


def start_precompiling(is_there: Callable[[], bool]) -> None:
    """Start the other process once, when a kernel must be compiled, unless its results exist."""
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
            [sys.executable, "-m", FIRST],
            env={**os.environ, SWITCH: "0", "QSPROJ_NOTICES": "0", "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _STARTED[0] = other
        # Without a wait, an ended process would stay in the process table.
        threading.Thread(target=other.wait, daemon=True).start()


def comes(path: Path) -> bool:
    """Wait for a file from the other process; return whether it exists."""
    other = _STARTED[0] if _STARTED else None
    if other is None or not path.name.startswith(AHEAD):
        return False
    until = time.monotonic() + PATIENCE
    while not path.exists() and other.poll() is None and time.monotonic() < until:
        time.sleep(INTERVAL)
    return path.exists()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
