"""Argument types for numbers within a range."""

import argparse
import math
from collections.abc import Callable

# Maximum that numpy converts; Python also rejects thousands of digits.
_MOST_DIGITS = 18


def whole_number(*, least: int, most: int | None = None) -> Callable[[str], int]:
    """Return an argument type for ``add_argument``: whole numbers from ``least`` to ``most``."""
    bounds = f"{least} or more" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if len(text) <= _MOST_DIGITS and text.removeprefix("-").isdecimal():
            value = int(text)
            if value >= least and (most is None or value <= most):
                return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, {bounds}")

    return read


def number(*, least: float, most: float = math.inf) -> Callable[[str], float]:
    """Return an argument type for ``add_argument``: finite numbers from ``least`` to ``most``."""
    bounds = f"{least:g} or more" if math.isinf(most) else f"from {least:g} to {most:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and least <= value <= most:
            return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number, {bounds}")

    return read
