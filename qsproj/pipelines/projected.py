"""What every method of projection gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from qsproj.corpus.sentence import Sentence


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
