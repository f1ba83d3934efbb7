"""Write the figures of docs/house.md: lines of the code by kind, imports, and the files that a job passes."""

from __future__ import annotations

import ast
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from scripts.experiments.bench.walks import bootstrapping, calls_in, joint_training
from scripts.experiments.harness.build import CHECKOUT
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

PACKAGE = CHECKOUT / "qsproj"
COLUMNS = ("files", "lines", "code", "signature", "docstring", "blank", "import", "comment", "one importer")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# What is counted, and how much of it there is to be at most.
AIMS = {
    "lines": 45_000,
    "lines of docstrings": 9_000,
    "files": 360,
    "files in circles of imports": 0,
    "imports of a higher layer": 0,
    "files that a pair passes": 35,
    "climbs of a pair": 15,
    "files of `cli` and `pipelines` that a bootstrap passes": 20,
}


def kinds_of(text: str) -> list[str]:
    """Return the kind of each line of a file: its column in the table."""
    lines = [line.strip() for line in text.splitlines()]
    kinds = ["blank" if not line else "comment" if line.startswith("#") else "code" for line in lines]
    for node in ast.walk(ast.parse(text)):
        spans: list[tuple[int, int | None, str]] = []
        if isinstance(node, ast.Import | ast.ImportFrom):
            spans.append((node.lineno, node.end_lineno, "import"))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            spans.append((node.lineno, max(node.lineno, node.body[0].lineno - 1), "signature"))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            spans.append((node.body[0].lineno, node.body[0].end_lineno, "docstring"))
        for first, last, kind in spans:
            kinds[first - 1 : last] = [kind] * ((last or first) - first + 1)
    return kinds


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")


def imports(paths: Iterable[Path]) -> dict[str, set[str]]:
    """Return for each module those of ours that it imports, at the top or within functions."""
    files = {module_of(path): path for path in paths}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        named = found[module] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names} & files.keys()
            elif isinstance(node, ast.ImportFrom) and node.module:
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= whole & files.keys() or {node.module} & files.keys()
    return found


def in_circles(graph: dict[str, set[str]]) -> set[str]:
    """Return the modules that are imported by what they import, and those between such."""
    left = set(graph)
    while ends := {one for one in left if not graph[one] & left} | (
        left - set().union(*(graph[one] for one in left))
    ):
        left -= ends
    return left


class Layers:
    """The layers of pyproject.toml; the first contract that knows two files apart says which is above."""

    def __init__(self) -> None:
        settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
        contracts = settings["tool"]["importlinter"]["contracts"]
        self.contracts = [one["layers"] for one in contracts if one["type"] == "layers"]

    def is_above(self, module: str, other: str) -> bool:
        for layers in self.contracts:
            upper, lower = ([_in_layer(one, layer) for layer in layers] for one in (module, other))
            if any(upper) and any(lower) and upper != lower:
                return upper.index(True) < lower.index(True)
        return False


def _in_layer(module: str, layer: str) -> bool:
    return any(f"{module}.".startswith(f"{room.strip()}.") for room in layer.split("|"))


def by_room(files: Iterable[str]) -> list[list[str]]:
    """Return rows of rooms with their files."""
    rooms: dict[str, list[str]] = {}
    for file in sorted(files):
        rooms.setdefault(str(Path(file).parent), []).append(Path(file).stem)
    return [[room, str(len(names)), ", ".join(names)] for room, names in rooms.items()]


def measure(_: Lab) -> Figures:
    paths, layers = sorted(PACKAGE.rglob("*.py")), Layers()
    # The package itself imports its public names when they are first asked for.
    graph = imports(path for path in paths if path.parent != PACKAGE or path.stem != "__init__")
    importers = Counter(name for named in graph.values() for name in named)
    rooms: dict[str, Counter[str]] = {}
    for path in paths:
        kinds = Counter(kinds_of(path.read_text(encoding="utf-8")))
        lone = importers[module_of(path)] == 1
        kinds.update({"files": 1, "lines": kinds.total(), "one importer": lone})
        rooms.setdefault(str(path.parent.relative_to(CHECKOUT)), Counter()).update(kinds)
    everything = sum(rooms.values(), Counter())
    ordered = sorted(rooms.items(), key=lambda room: -room[1]["lines"])
    upward = [one for one, named in graph.items() for other in named if layers.is_above(other, one)]
    pair = calls_in(joint_training())
    with tempfile.TemporaryDirectory() as folder:
        made = calls_in(bootstrapping(Path(folder)))
    passed = {file for _, (file, _) in pair}
    job = {file for _, (file, _) in made if file.startswith(("cli/", "pipelines/"))}
    climbs = sorted(
        (*caller, *called)
        for caller, called in pair
        if caller and layers.is_above(*(module_of(PACKAGE / file) for file in (called[0], caller[0])))
    )
    found = [
        *(everything[kind] for kind in ("lines", "docstring", "files")),
        *map(len, (in_circles(graph), upward, passed, climbs, job)),
    ]
    aims = [
        [what, f"{aim:,}", f"{one:,}", "reached" if one <= aim else f"missed by {one - aim:,}"]
        for (what, aim), one in zip(AIMS.items(), found, strict=True)
    ]
    lines = [[room, *(f"{of[one]:,}" for one in COLUMNS)] for room, of in [*ordered, ("all", everything)]]
    return Figures(
        tables={
            "aims": table(("what", "at most", "found", "is"), aims),
            "lines": table(("room", *COLUMNS), lines),
            "pair": table(("room", "passed", "files"), by_room(passed)),
            "climbs": table(("file", "function", "calls in", "function called"), climbs),
            "bootstrap": table(("room", "passed", "files"), by_room(job)),
        }
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=measure, page="house", needs_data=False)

if __name__ == "__main__":
    EXPERIMENT.main()
