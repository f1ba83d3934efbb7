"""Scores in percent."""

from __future__ import annotations


def percentage(part: float, whole: float) -> float:
    """Return how much of the whole a part is, in percent; NaN where there is no whole."""
    return 100.0 * float(part) / float(whole) if whole else float("nan")
