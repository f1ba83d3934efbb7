"""Faults that the validator of Universal Dependencies finds: a program that is called, never imported."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qsproj.corpus.files import PathOrFile, open_text
from qsproj.errors import UsageError, counted

PROGRAM = "udvalidate"
_FAULT = re.compile(r"^\[(?:File \S+ )?Line (\d+) Sent (.*?)\]: \[(L\d) \w+ ([\w-]+)\] (.*)", re.MULTILINE)
_VERDICT = re.compile(r"^\*\*\* (PASSED|FAILED) \*\*\*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fault:
    """What one test has found in a sentence."""

    test: str
    line: int
    sent_id: str
    told: str


@dataclass(frozen=True, slots=True)
class Validation:
    """All faults of a file, and the lines at which its sentences begin."""

    level: int
    begins: Sequence[int]
    faults: Sequence[Fault]

    def by_test(self) -> dict[str, list[Fault]]:
        """Return the faults of each test that fails, the most frequent first."""
        found: dict[str, list[Fault]] = {}
        for fault in self.faults:
            found.setdefault(fault.test, []).append(fault)
        return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))

    @property
    def failing(self) -> int:
        """The number of sentences with a fault."""
        return len({bisect_right(self.begins, fault.line) for fault in self.faults})


def validate(path: PathOrFile, *, level: int, language: str) -> Validation:
    """Have the validator test a file, as strictly as ``level`` says; raise UsageError where there is none.

    ``language``: Whose features, auxiliaries and subtypes are known; *ud*: those of all languages.
    """
    beside = Path(sys.executable).with_name(PROGRAM)
    program = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if program is None:
        raise UsageError(
            f"--validate calls the program {PROGRAM}, which is not here: pip install 'qsproj[validate]'"
        )
    with open_text(path) as handle:
        text = handle.read()
    order = [program, "--lang", language, "--level", str(level), "--max-err", "0", "--no-warnings", "-"]
    done = subprocess.run(order, input=text, capture_output=True, encoding="utf-8", check=False)
    told = done.stdout + done.stderr
    if _VERDICT.search(told) is None:
        last = told.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise UsageError(f"{PROGRAM} could not test the file; it says: {last}")
    faults = [
        Fault(f"{found[3]} {found[4]}", int(found[1]), found[2], found[5]) for found in _FAULT.finditer(told)
    ]
    lines = ["", *(line.strip() for line in text.split("\n"))]
    begins = [number for number in range(1, len(lines)) if lines[number] and not lines[number - 1]]
    return Validation(level, begins, faults)


def validation_as_table(path: str, found: Validation) -> list[str]:
    """Return lines that tell of each failing test how often it fails, and of its first fault."""
    lines = [
        f"{path} at level {found.level} of UD: of {counted(len(found.begins), 'sentence')}, "
        f"{found.failing:,} fail"
    ]
    if found.faults:
        lines += ["", f"{'faults':>7}  test"]
    for test, faults in found.by_test().items():
        first = faults[0]
        lines.append(f"{len(faults):>7,}  {test}")
        lines.append(f"         line {first.line}, sentence {first.sent_id}: {first.told}")
    return lines


def validation_as_json(found: Validation) -> dict[str, Any]:
    """Return what JSON is made of: counts, and every fault."""
    tests = {
        test: [{"line": one.line, "sent_id": one.sent_id, "message": one.told} for one in faults]
        for test, faults in found.by_test().items()
    }
    return {"level": found.level, "sentences": len(found.begins), "failing": found.failing, "faults": tests}
