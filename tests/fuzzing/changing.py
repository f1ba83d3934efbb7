"""Inputs that change while a command runs: gone, longer, shorter or others when they are opened again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from qsproj.corpus import files

WAYS = ("gone", "longer", "shorter", "cut", "empty", "turned")


@contextmanager
def changes_when_opened_again(path: Path, rng: Random) -> Iterator[None]:
    """Change a file just before it is opened for the second time in a block."""
    opened_before: Any = files._open_for_reading
    times = 0

    def opened(given: Any) -> Any:
        nonlocal times
        times += Path(given) == path
        if times == 2 and Path(given) == path:
            _change(path, rng)
        return opened_before(given)

    files._open_for_reading = opened
    try:
        yield
    finally:
        files._open_for_reading = opened_before


def _change(path: Path, rng: Random) -> None:
    content, way = path.read_bytes(), rng.choice(WAYS)
    mark = b"\n\n" if b"\t_" in content else b"\n"
    parts = content.removesuffix(mark).split(mark)
    if way == "gone":
        path.unlink()
    elif way == "longer":
        path.write_bytes(content + parts[0] + mark)
    elif way == "shorter":
        path.write_bytes(mark.join(parts[:2]) + mark)
    elif way == "turned":
        path.write_bytes(mark.join(parts[::-1]) + mark)
    else:
        path.write_bytes(content[: len(content) // 2] if way == "cut" else b"")
