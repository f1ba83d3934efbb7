"""What every method of projection gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qsproj.corpus.sentence import Sentence
from qsproj.training.em import EMRecord


class SavableParser(Protocol):
    """A parser of new text that can be written to a model file."""

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC."""
        ...

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        ...


@dataclass(frozen=True, slots=True)
class Projected:
    """A parser of the target language, and what there is to say of how it came about.

    Attributes
    ----------
    parser : SavableParser
    report : tuple of str
        Lines for the user.
    """

    parser: SavableParser
    report: tuple[str, ...]


def em_summary(
    what: str, iterations: Sequence[EMRecord], converged: bool, skipped: dict[str, int]
) -> tuple[str, ...]:
    """Say how EM went: in a line what it was run on, in another how long and what it gained."""
    left_out = "".join(f"; {count} left out: {reason}" for reason, count in skipped.items())
    ended = "converged" if converged else "stopped"
    lines = [f"{what}{left_out}"]
    if iterations:
        first, last = iterations[0].log_likelihood, iterations[-1].log_likelihood
        lines.append(
            f"{ended} after {len(iterations)} iterations of EM: log-likelihood from {first:.1f} to {last:.1f}"
        )
    return tuple(lines)
