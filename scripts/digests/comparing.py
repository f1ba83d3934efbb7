"""Computation of digests that do not depend on the processor, and their comparison with the recorded ones.

Numba compiles for the current processor, NumPy and OpenBLAS select code for it, and each may add numbers in another
order on another processor. So the process that computes digests is restricted to :data:`PROCESSOR`, whose instructions
every processor with AVX2 has, and to one thread for linear algebra. Digests are not comparable between versions of the
libraries.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from scripts.digests.cases import CASES
from scripts.digests.making import Digests

CHECKOUT = Path(__file__).resolve().parents[2]
RECORD = CHECKOUT / "tests" / "digests.json"
PROCESSOR = "haswell"
ENVIRONMENT = {
    "NUMBA_CPU_NAME": PROCESSOR,
    "NUMBA_CPU_FEATURES": "+avx2,+fma",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Instructions beyond AVX2, which NumPy uses depending on the processor.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "QSPROJ_NOTICES": "0",
}
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "nltk", "sacremoses")


def circumstances() -> dict[str, str]:
    """Return what digests depend on beside the code."""
    libraries = {name: version(name) for name in LIBRARIES}
    python = ".".join(platform.python_version_tuple()[:2])
    machine = f"{platform.system()} {platform.machine()}"
    return {"processor": PROCESSOR, "machine": machine, "python": python, **libraries}


def why_not_comparable(recorded: Mapping[str, str]) -> str | None:
    """Say why digests made here cannot be compared with those on record; None where they can."""
    here = circumstances()
    others = [
        f"{name} is {here[name]}, not {recorded[name]}" for name in here if here[name] != recorded[name]
    ]
    if others:
        return "digests on record were made where things differ: " + ", ".join(others)
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    lacking = [name for name in ("avx2", "fma", "bmi2") if name not in flags]
    return f"this processor cannot compute as {PROCESSOR}: it lacks {', '.join(lacking)}" if lacking else None


def made(names: Sequence[str]) -> Iterator[tuple[str, Digests]]:
    """Make the digests of the named cases in a process of its own; yield each as it comes.

    Raises
    ------
    RuntimeError
        When a command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("-m", "scripts.digests.making", str(CHECKOUT / "corpora"), folder, *names)
        path = os.pathsep.join([str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": path}
        with subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield from json.loads(line).items()
    if process.returncode:
        raise RuntimeError(f"digests: a case failed, exit code {process.returncode}")


def recorded() -> tuple[dict[str, str], dict[str, Digests]]:
    """Read circumstances and digests on record."""
    document = json.loads(RECORD.read_text(encoding="utf-8"))
    return document["circumstances"], document["digests"]


def record(digests: Mapping[str, Digests]) -> None:
    """Write the record; cases that ``digests`` does not have keep theirs, and those that are no more go.

    Raises
    ------
    RuntimeError
        When kept digests were made in other circumstances; when a stage of a bootstrap made something else, and
        its version is what it was.
    """
    here = circumstances()
    there, kept = recorded()
    if there == here:
        unraised = [stage for name, found in digests.items() for stage in same_key(found, kept.get(name, {}))]
        if unraised:
            raise RuntimeError(
                f"digests: another content under the same key: {', '.join(unraised)}; stages that users kept "
                "would pass for these; raise the version of the first of them in "
                "qsproj/pipelines/bootstrap"
            )
    elif set(digests) != set(CASES):
        raise RuntimeError("digests: other versions than on record; make all cases anew: --write")
    both = {**(kept if there == here else {}), **digests}
    document = {"circumstances": here, "digests": {name: both[name] for name in CASES if name in both}}
    RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def same_key(found: Digests, expected: Digests) -> list[str]:
    """Return the files of stages that differ under the same name."""
    return [part for part in found if "/" in part and expected.get(part, found[part]) != found[part]]


def difference(found: Digests, expected: Digests) -> list[str]:
    """Return a line for each part that differs, is new or is missing."""
    return [
        f"{part}: {found.get(part, 'missing')}, on record {expected.get(part, 'missing')}"
        for part in sorted({*found, *expected})
        if found.get(part) != expected.get(part)
    ]
