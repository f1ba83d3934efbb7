"""Languages written without spaces: align characters, and carry what is learned to words.

A bitext of running Chinese and a Chinese treebank, which is cut into words, share few words and nearly all
characters. So words of such scripts are cut, in both, before the aligner sees them; the probabilities that it
gives to characters are summed up for the words that they came from. What this brings: ``docs/alignment.md``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.align.symmetrize import Posteriors
from qsproj.errors import unknown_name

# Which side is cut: (source, target).
SIDES = {"source": (True, False), "target": (False, True), "both": (True, True)}

# Blocks of the Unicode standard whose scripts put no space between words: Thai and Lao, Tibetan, Myanmar,
# Khmer, Chinese characters and kana with all their extensions.
_BLOCKS = (
    (0x0E00, 0x0FFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3041, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)
# Scripts that put signs above, below or around a letter, which stay with it, end before the ideographs begin.
_LAST_WITH_MARKS = 0x30FF
_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in _BLOCKS)
_MARKS = "".join(
    chr(point)
    for first, last in _BLOCKS
    if last <= _LAST_WITH_MARKS
    for point in range(first, last + 1)
    if unicodedata.category(chr(point)).startswith("M")
)
_SPACED = rf"(?:[^\W{_UNSPACED}]|[\u0300-\u036f])+"
_PIECE = re.compile(rf"[{_UNSPACED}][{_MARKS}]*|{_SPACED}(?:[-.,'’]{_SPACED})*|\S")

Words = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class CutSentence:
    """A sentence in pieces.

    Attributes
    ----------
    pieces : tuple of str
        At least one for each word, in order.
    starts : int64[words]
        The first piece of each word, from 0.
    """

    pieces: tuple[str, ...]
    starts: NDArray[np.int64]


def cut_word(word: str) -> list[str]:
    """Return the characters of a word, each with the marks that belong to it.

    What is written in letters of a script with spaces, or in digits, stays in one piece: ``BBC的`` is
    ``BBC`` + ``的``. So does a word without anything visible.
    """
    return _PIECE.findall(word) or [word]


def cut_sentence(words: Words, *, cut: bool = True) -> CutSentence:
    """Cut every word of a sentence; with ``cut`` false, leave each in one piece."""
    of_words = [cut_word(word) if cut else [word] for word in words]
    ends = np.cumsum([len(pieces) for pieces in of_words], dtype=np.int64)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), ends))[: len(of_words)]
    return CutSentence(tuple(piece for pieces in of_words for piece in pieces), starts)


def cut_pair(pair: tuple[Words, Words], side: str) -> tuple[CutSentence, CutSentence]:
    """Cut one side of a sentence pair, or both: a name in ``SIDES``."""
    cut_source, cut_target = SIDES[side]
    return cut_sentence(pair[0], cut=cut_source), cut_sentence(pair[1], cut=cut_target)


def check_side(name: str) -> None:
    """Raise UsageError when a name is not in ``SIDES``."""
    if name not in SIDES:
        raise unknown_name("side", name, list(SIDES))


def carry_to_words(
    forward: Posteriors, backward: Posteriors, pair: tuple[CutSentence, CutSentence]
) -> tuple[Posteriors, Posteriors]:
    """Return the link probabilities of words, given those of their pieces.

    A piece comes from one piece of the other side at most, so its probability of coming from a word is the
    sum over the word's pieces. A word comes from another as surely as the surest of its pieces does; their
    mean, and the probability that any does, were measured to be a little worse.

    Parameters
    ----------
    forward, backward : float[source pieces, target pieces]
        p(target piece comes from source piece), p(source piece comes from target piece).
    pair : (CutSentence, CutSentence)
        The source and the target.

    Returns
    -------
    (forward, backward) : float[source words, target words]
        The same for words, of the same dtype. A word of several pieces that come from different words has
        probabilities that add up to more than 1. [0, 0] where no piece was aligned.
    """
    if not forward.size:
        return forward, backward
    source, target = (side.starts for side in pair)
    from_words = np.add.reduceat(forward, source, axis=0)
    back_from_words = np.add.reduceat(backward, target, axis=1)
    return (
        np.minimum(np.maximum.reduceat(from_words, target, axis=1), 1.0),
        np.minimum(np.maximum.reduceat(back_from_words, source, axis=0), 1.0),
    )
