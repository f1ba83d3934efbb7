"""Run all experiments and write all pages of results: ``python -m scripts.experiments``.

Figures of an earlier run with the same code, options and data are reused, so an interrupted run resumes. At the end,
the changed figures and the failed experiments are listed.
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
    if options.list:
        print(*chosen, sep="\n")
        return 0
    before = {name: read_record(name).figures for name in record_names()}
    failed = [name for name in chosen if not run(name, options)]
    for name in chosen:
        for line in changes(before[name], read_record(name).figures):
            print(f"{name}: {line}")
    for name in failed:
        print(f"{name}: failed; its record is unchanged", file=sys.stderr)
    return 1 if failed else 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=DEFAULT_CACHE,
        metavar="FOLDER",
        help="folder of stored figures (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="use a small copy of the data, and only print")
    parser.add_argument("--pages", action="store_true", help="only write the pages from the records")
    parser.add_argument("--list", action="store_true", help="only list the experiments that would run")
    parser.add_argument(
        "--only", nargs="+", choices=record_names(), metavar="NAME", help="run these (default: all)"
    )
    return parser


def run(name: str, options: argparse.Namespace) -> bool:
    """Run one experiment in a separate process; return whether it succeeded."""
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
