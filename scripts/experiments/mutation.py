"""Measure whether tests notice errors: change the code in one place at a time, and run the tests of its package.

    python -m scripts.experiments.mutation qsproj/training/em.py qsproj/models/arc/arc_training.py --sample 20 --seed 1

Mutations swap comparisons, constants and signs, drop terms, arguments and statements, and negate conditions. A change
that no test notices *survives*: it is printed with its line. Some survivors have no visible effect (a bound that is
never reached); the others need a test. Everything runs in a copy of the checkout.
"""

from __future__ import annotations

import argparse
import ast
import copy
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qsproj.errors import UsageError
from scripts.experiments.harness.build import CHECKOUT
from scripts.experiments.harness.experiment import exit_with

COPIED = ("qsproj", "tests", "scripts", "corpora", "docs", "pyproject.toml", "README.md")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
# A mutation counts as noticed if its tests take longer than PATIENCE times the unchanged code plus GRACE seconds of
# processor time (which a busy machine does not affect), or wait longer than WAIT seconds.
PATIENCE, GRACE, WAIT = 4.0, 30.0, 3600.0
# Exit codes of pytest for failed tests and for errors in collection; the signal for the time limit.
NOTICED = (1, 2, -signal.SIGXCPU)


@dataclass(frozen=True)
class Mutation:
    """One change of a file: bytes ``start`` to ``stop`` become ``text``."""

    path: Path
    line: int
    start: int
    stop: int
    text: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.stop :]

    def described(self, source: bytes) -> str:
        before = " ".join(source[self.start : self.stop].decode().split())
        return f"{self.path}:{self.line}: {before}  ->  {' '.join(self.text.split())}"


def mutations(path: Path, source: bytes) -> list[Mutation]:
    """Return every change of a file that is tried."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = []
    for node in measured_nodes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        stop = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        for text in variants(node):
            found.append(Mutation(path, node.lineno, start, stop, text))
    return found


Node = ast.expr | ast.stmt


def measured_nodes(tree: ast.AST) -> Iterator[Node]:
    """Yield the executed code: without annotations, docstrings and texts of errors."""
    for child in running_parts(tree):
        if isinstance(child, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr):
            continue
        if isinstance(child, ast.expr | ast.stmt):
            yield child
        yield from measured_nodes(child)


def running_parts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node but for its annotations and decorators."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def variants(node: Node) -> Iterator[str]:
    """Yield the mutations of a node as source, expressions in parentheses."""
    if isinstance(node, ast.stmt):
        if isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield "pass"
        return
    for changed in changed_expressions(node):
        yield f"({ast.unparse(changed)})"


def changed_expressions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the mutations of an expression."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        yield ast.BinOp(node.left, SIGNS[type(node.op)](), node.right)
        yield node.left
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Constant):
        yield from map(ast.Constant, other_values(node.value))
    elif isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg is not None:
                without = copy.copy(node)
                without.keywords = node.keywords[:place] + node.keywords[place + 1 :]
                yield without


def other_values(value: object) -> Iterator[float | bool]:
    """Yield the mutations of a constant; strings are not mutated."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, float):
        yield 2.0 * value if value else 1.0


def room_tests(path: Path) -> str:
    """Return the folder of tests of a module's room: tests mirror the package."""
    for room in path.parents:
        mirror = Path("tests", *room.parts[1:])
        if (CHECKOUT / mirror).is_dir() and len(room.parts) > 1:
            return str(mirror)
    raise UsageError(f"{path}: found no tests of its room; name them with --tests")


def run_tests(folder: Path, tests: list[str], limit: float = math.inf) -> tuple[int, float]:
    """Run tests on a copy; return pytest's exit code and the processor time, which is limited."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    before = children_seconds()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=WAIT,
            preexec_fn=partial(limit_processor, limit),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return NOTICED[0], WAIT
    return done.returncode, children_seconds() - before


def children_seconds() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def limit_processor(seconds: float) -> None:
    """Let this process have so much processor time; then it gets SIGXCPU."""
    if seconds < math.inf:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), resource.RLIM_INFINITY))


def survivors(folder: Path, chosen: list[Mutation], tests: dict[Path, list[str]]) -> Iterator[Mutation]:
    """Yield the changes that no test notices."""
    limits = {}
    for path, own in tests.items():
        code, seconds = run_tests(folder, own)
        if code != 0:
            raise UsageError(
                f"{path}: found tests that fail unchanged, expected none; mend them: {' '.join(own)}"
            )
        limits[path] = PATIENCE * seconds + GRACE
    for mutation in chosen:
        file = folder / mutation.path
        source = file.read_bytes()
        file.write_bytes(mutation.applied(source))
        try:
            if run_tests(folder, tests[mutation.path], limits[mutation.path])[0] not in NOTICED:
                yield mutation
        finally:
            file.write_bytes(source)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.experiments.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="+", type=Path, help="modules of qsproj, as paths from the top of the checkout"
    )
    parser.add_argument(
        "--sample", type=int, default=20, help="number of changes to try (default: 20; 0: all)"
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed of the sample")
    parser.add_argument("--tests", nargs="+", help="tests to run (default: those of each file's package)")
    options = parser.parse_args(arguments)
    try:
        report(options)
    except UsageError as error:
        exit_with(str(error))


def report(options: argparse.Namespace) -> None:
    """Run a sample of mutations, and print the survivors."""
    missing = [path for path in options.files if not (CHECKOUT / path).is_file()]
    if missing:
        raise UsageError(f"{missing[0]}: found no such file, expected a path from the top of the checkout")
    sources = {path: (CHECKOUT / path).read_bytes() for path in options.files}
    found = [mutation for path, source in sources.items() for mutation in mutations(path, source)]
    size = min(options.sample or len(found), len(found))
    chosen = sorted(random.Random(options.seed).sample(found, size), key=lambda one: (one.path, one.start))
    tests = {path: options.tests or [room_tests(path)] for path in sources}
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source = CHECKOUT / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, Path(folder) / name)
        count = 0
        for mutation in survivors(Path(folder), chosen, tests):
            count += 1
            print(mutation.described(sources[mutation.path]), flush=True)
    print(f"{count} of {size} changes survive, of {len(found)} that there are", flush=True)


if __name__ == "__main__":
    main()
