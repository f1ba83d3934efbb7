"""Prints how long the tests of each file take, as a table of Markdown.

``scripts/test --all --junitxml=NAME.xml`` writes a report; ``python -m tests.durations NAME.xml...`` prints
seconds and tests by file and report, the longest first, and a line for all files of less than a second.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

SHORT = 1.0


def seconds_and_tests(report: Path) -> tuple[Counter[str], Counter[str]]:
    """Return seconds, fixtures included, and numbers of tests that were run, by file.

    Seconds are those of the processor where a report has them, else those of the clock.
    """
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            name = file_of(case.get("classname", ""))
            processor = case.find(".//property[@name='processor_seconds']")
            seconds[name] += float(case.get("time", 0) if processor is None else processor.get("value", 0))
            tests[name] += 1
    return seconds, tests


def file_of(module: str) -> str:
    """Return the path of a module of tests; a class in it is left out."""
    parts = module.split(".")
    names = [place for place, part in enumerate(parts) if part.startswith("test_")]
    return "/".join(parts[: names[0] + 1] if names else parts) + ".py"


def table(reports: list[Path]) -> str:
    """Return seconds and tests by file, a pair of columns for each report."""
    read = [seconds_and_tests(report) for report in reports]
    files = {name for seconds, _ in read for name in seconds}
    long = [name for name in files if max(seconds[name] for seconds, _ in read) >= SHORT]
    long.sort(key=lambda name: (-max(seconds[name] for seconds, _ in read), name))
    rows = [
        ("file", [f"{report.stem}, s | tests" for report in reports]),
        ("---", ["--: | --:" for _ in read]),
    ]
    rows += [(name, _cells(read, [name])) for name in long]
    rows.append((f"{len(files) - len(long)} others", _cells(read, sorted(files - set(long)))))
    rows.append(("all", _cells(read, sorted(files))))
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in rows)


def _cells(read: list[tuple[Counter[str], Counter[str]]], files: list[str]) -> list[str]:
    return [
        f"{sum(seconds[name] for name in files):.1f} | {sum(tests[name] for name in files)}"
        for seconds, tests in read
    ]


if __name__ == "__main__":
    sys.stdout.write(table([Path(name) for name in sys.argv[1:]]))
