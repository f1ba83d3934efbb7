"""Run all experiments, one after another, and write all pages again: ``python -m scripts.experiments``.

What an earlier run kept for the same code, options and data is not measured again, so a run that was stopped goes on
where it was. At the end stands which figures changed, and which experiments failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from scripts.experiments.harness.experiment import DEFAULT_CACHE
from scripts.experiments.harness.page import Figures, read_record, record_names, write_pages


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    if options.pages:
        write_pages()
        return 0
    chosen = options.only or record_names()
    before = {name: read_record(name).figures for name in record_names()}
    failed = [name for name in chosen if not run(name, options)]
    for name in chosen:
        for line in changes(before[name], read_record(name).figures):
            print(f"{name}: {line}")
    for name in failed:
        print(f"{name}: failed; its record is as before", file=sys.stderr)
    return 1 if failed else 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, metavar="FOLDER", help="kept figures")
    parser.add_argument("--quick", action="store_true", help="on a small copy of the data; prints only")
    parser.add_argument("--pages", action="store_true", help="only write the pages from the records")
    parser.add_argument(
        "--only", nargs="+", choices=record_names(), metavar="NAME", help="run these (default: all)"
    )
    return parser


def run(name: str, options: argparse.Namespace) -> bool:
    """Run one experiment in a process of its own; return whether it succeeded."""
    command = [sys.executable, "-m", f"scripts.experiments.{name}", "--cache", str(options.cache)]
    print(f"{name}: running", file=sys.stderr, flush=True)
    return subprocess.run(command + ["--quick"] * options.quick, check=False).returncode == 0


def changes(before: Figures, after: Figures) -> Iterator[str]:
    """Yield one line for each cell or value that differs."""
    old, new = cells(before), cells(after)
    for key in dict.fromkeys((*old, *new)):
        one, other = old.get(key, "nothing"), new.get(key, "nothing")
        if one != other:
            yield f"{key}: {one} -> {other}"


def cells(figures: Figures) -> Mapping[str, str]:
    """Return cells and values by where they stand."""
    found = dict(figures.values)
    for name, table in figures.tables.items():
        for number, row in enumerate(table.rows, 1):
            for heading, cell in zip(table.header, row, strict=True):
                found[f"{name} > row {number}, {row[0]} > {heading}"] = cell
    return found


if __name__ == "__main__":
    sys.exit(main())
