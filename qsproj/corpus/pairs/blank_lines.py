"""Lines that are blank on one side of a text: what is told of their pairs, which are left out."""

from __future__ import annotations

from qsproj.corpus.editing import begins_paragraph
from qsproj.corpus.sentence import Sentence
from qsproj.errors import counted
from qsproj.progress import notice

# Of a number of a line.
_MOST_DIGITS = 12


def tell_left_out(pairs: int, *names: str | None) -> None:
    """Say how many pairs were left out for a blank line in one of two files."""
    if pairs:
        files = " or ".join(name for name in names if name) or "a side"
        notice(f"{counted(pairs, 'pair')} left out: a line is blank in {files}")


class BlankLines:
    """Lines of a text that were blank, as the sentences that were made of the others show. Mutable; final.

    They are numbered by their lines (``sent_id``), and one that follows blank lines begins a paragraph
    (``# newpar``): see :func:`qsproj.corpus.text.read_text`.
    """

    def __init__(self) -> None:
        self._last = 0
        self._gaps: list[tuple[int, int]] = []

    def note(self, sentence: Sentence) -> int:
        """Note the next sentence; return how many blank lines stood before it."""
        number, last = _line_number(sentence.sent_id), self._last
        self._last = number
        if number <= last + 1 or not begins_paragraph(sentence):
            return 0
        self._gaps.append((last, number))
        return number - last - 1

    def __contains__(self, sent_id: str) -> bool:
        """Return whether the line of that number was blank."""
        number = _line_number(sent_id)
        return any(last < number < following for last, following in self._gaps)


def _line_number(sent_id: str | None) -> int:
    """Return the line that a sentence of text was; 0 when its id is no number of a line."""
    if sent_id is None or len(sent_id) > _MOST_DIGITS or not (sent_id.isascii() and sent_id.isdecimal()):
        return 0
    return int(sent_id)
