"""Faults found by the validator of Universal Dependencies, which runs as a separate program."""

import re
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qsproj.corpus.cells import COLUMN_COUNT, DEPREL, UNSPECIFIED
from qsproj.corpus.files import PathOrFile, name_of, open_text
from qsproj.errors import DataError, UsageError, pluralise

PROGRAM = "udvalidate"
FORMAT_LEVEL = 2  # the highest level without tests of relations
_FAULT = re.compile(r"^\[(?:File \S+ )?Line (\d+) Sent (.*?)\]: \[(L\d) \w+ ([\w-]+)\] (.*)", re.MULTILINE)
_VERDICT = re.compile(r"^\*\*\* (PASSED|FAILED) \*\*\*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of one test in a sentence."""

    line: int
    sent_id: str
    message: str


@dataclass(frozen=True, slots=True)
class Validation:
    """All faults of a file at a level, by test, the most frequent first; the first lines of its sentences."""

    level: int
    begins: Sequence[int]
    faults: Mapping[str, Sequence[Fault]]

    @property
    def failing(self) -> int:
        lines = (fault.line for faults in self.faults.values() for fault in faults)
        return len({bisect_right(self.begins, line) for line in lines})


def validate(path: PathOrFile, *, level: int, language: str) -> Validation:
    """Validate a file at a strictness ``level``, 2 at most where words lack relations."""
    beside = Path(sys.executable).with_name(PROGRAM)
    program = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if program is None:
        remedy = "pip install 'qsproj[validate]'"
        raise UsageError(f"--validate calls the program {PROGRAM}, which is not installed: {remedy}")
    with open_text(path) as handle:
        text = handle.read()
    if not text.strip():
        raise DataError(name_of(path), 1, "no sentence", "CoNLL-U", "check that it is the right file")
    lines = ["", *(line.strip() for line in text.split("\n"))]
    begins = [number for number in range(1, len(lines)) if lines[number] and not lines[number - 1]]
    rows = (row for row in (line.split("\t") for line in lines) if len(row) == COLUMN_COUNT)
    if any(row[0].isdigit() and row[DEPREL] == UNSPECIFIED for row in rows):
        level = min(level, FORMAT_LEVEL)
    order = [program, "--lang", language, "--level", str(level), "--max-err", "0", "--no-warnings", "-"]
    done = subprocess.run(order, input=text, capture_output=True, encoding="utf-8", check=False)
    output = done.stdout + done.stderr
    if _VERDICT.search(output) is None:
        last = output.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise UsageError(f"{PROGRAM} could not test the file; it says: {last}")
    found = defaultdict[str, list[Fault]](list)
    for one in _FAULT.finditer(output):
        found[f"{one[3]} {one[4]}"].append(Fault(int(one[1]), one[2], one[5]))
    return Validation(level, begins, dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))))


def validation_as_table(path: str, found: Validation) -> list[str]:
    sentences = pluralise(len(found.begins), "sentence")
    lines = [f"{path} at level {found.level} of UD: of {sentences}, {found.failing:,} fail"]
    if found.faults:
        lines += ["", f"{'faults':>7}  test"]
    for test, (first, *others) in found.faults.items():
        lines.append(f"{1 + len(others):>7,}  {test}")
        lines.append(f"         line {first.line}, sentence {first.sent_id}: {first.message}")
    return lines


def validation_as_json(found: Validation) -> dict[str, Any]:
    tests = {test: list(map(asdict, faults)) for test, faults in found.faults.items()}
    begins, failing = len(found.begins), found.failing
    return {"level": found.level, "sentences": begins, "failing": failing, "faults": tests}
