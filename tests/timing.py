"""Time of a piece of work, as far as a busy machine lets it be told."""

from __future__ import annotations

import time
from collections.abc import Callable


def assert_linear(work: Callable[[str], object], piece: str, *, short: int = 4_000, times: int = 8) -> None:
    """Check that a text ``times`` as long takes far less than ``times`` squared as long."""
    least = []
    for size in (short, short * times):
        text, seconds = piece * (size // len(piece)), []
        for _ in range(5):
            begin = time.process_time()
            work(text)
            seconds.append(time.process_time() - begin)
        least.append(min(seconds))
    assert least[1] < 0.005 + 3 * times * least[0], least
