"""The build behind a figure: code, versions of the packages, and processor.

Code is the source of ``qsproj/`` and of the experiment's own files, not the commit, so a change of a page in ``docs/``
does not invalidate a run of hours. The commit is recorded as well.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
PACKAGE = "scripts.experiments."
# They lay figures out and do not make them.
NOT_MEASURING = ("harness",)
DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Build:
    """The build that made a figure.

    Attributes
    ----------
    code : str
        The beginning of a SHA-256 of the source.
    versions : dict of str to str
        Of Python and the packages that compute.
    processor : str
        Floating-point sums differ between models.
    commit : str
        The commit that was checked out, and whether files differed from it.
    """

    code: str
    versions: dict[str, str]
    processor: str
    commit: str

    @property
    def identity(self) -> dict[str, Any]:
        """The parts of a build that must agree within a table; the commit need not."""
        return {"code": self.code, "versions": self.versions, "processor": self.processor}

    @property
    def described(self) -> str:
        """Return a line that describes the build."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"commit {self.commit}, source {self.code}; {versions}; {self.processor}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class UnrecordedBuild:
    """The build of figures older than the record of builds, as described by the history of the page."""

    commit: str
    versions: str

    @property
    def described(self) -> str:
        return f"commit {self.commit}, before builds were recorded; {self.versions}"


def this_build(experiment: Path) -> Build:
    """Return the current build of an experiment's file."""
    return Build(
        code=source_hash(experiment), versions=dict(versions()), processor=processor(), commit=commit()
    )


def hash_of(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def source_hash(experiment: Path) -> str:
    """Hash the source of ``qsproj/``, of an experiment, and of the other experiments that it imports."""
    paths = [*sorted((CHECKOUT / "qsproj").rglob("*.py")), *sorted(files_of(experiment))]
    parts = (part for path in paths for part in (str(path.relative_to(CHECKOUT)).encode(), path.read_bytes()))
    return hash_of(parts)[:DIGITS]


def files_of(experiment: Path) -> set[Path]:
    """Return an experiment's file and the measuring files that it imports, directly or indirectly."""
    found: set[Path] = set()
    waiting = [experiment.resolve()]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for name in imported(path):
            room, _, module = name.removeprefix(PACKAGE).partition(".")
            if room not in NOT_MEASURING and module:
                waiting.append(CHECKOUT / "scripts" / "experiments" / room / f"{module}.py")
    return found


def imported(path: Path) -> set[str]:
    """Return the names of the modules of the experiments that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name for name in names if name.startswith(PACKAGE)}


@cache
def versions() -> tuple[tuple[str, str], ...]:
    packages = ("numpy", "scipy", "numba", "qsproj")
    installed = ((name, metadata.version(name)) for name in packages)
    return ("Python", platform.python_version()), *installed


@cache
def processor() -> str:
    """Return the processor's model, as the system calls it."""
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@cache
def commit() -> str:
    """Return the commit that is checked out; ``+`` says that files of the checkout differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    revision = git("rev-parse", "--short=7", "HEAD")
    changed = git("status", "--porcelain", "--untracked-files=no")
    return f"{revision}{'+' if changed else ''}" if revision else "unknown"
