"""Progress bars: on stderr, only on a terminal, only for work of more than two seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(
    items: Iterable[Item], description: str, *, total: int | None = None, unit: str = "it"
) -> Iterator[Item]:
    """Yield ``items`` while a bar that names ``description`` shows how far they are."""
    from tqdm import tqdm

    yield from tqdm(items, desc=description, total=total, unit=unit, disable=None, delay=2.0, leave=False)
