"""Languages written without spaces: align parts of words, and map the links to words.

Running text and a treebank, which is segmented into words, share few words. So the words of both are cut
before alignment: Chinese into single characters, runs of letters (kana, Thai, ...) into words found in the
corpus itself; on PUD, the latter was a little worse for Chinese.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from qsproj.alignment.encoding import Posteriors, Words
from qsproj.conventions import starts_of
from qsproj.corpus.characters import belongs_to_neighbour

# Whether to cut each side: (source, target).
SIDES = {"source": (True, False), "target": (False, True), "both": (True, True)}

# Unicode blocks: Chinese; hiragana; katakana except the middle dot; Thai to Tibetan, Myanmar, Khmer.
_IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTERS = (
    "\u3041-\u309f",
    "\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff",
)
_RUN = "|".join(f"[{letters}]+" for letters in _LETTERS)
# Marks and joiners of letters of other scripts.
_MARKS = "".join(filter(belongs_to_neighbour, map(chr, (*range(0x300, 0x1E00), 0x200C, 0x200D))))
_SPACED = rf"(?:[^\W{_IDEOGRAPHS}{''.join(_LETTERS)}]|[{_MARKS}])+"
_PIECE = re.compile(rf"(?P<run>{_RUN})|[{_IDEOGRAPHS}]|{_SPACED}(?:[-.,'’‘·׳״]{_SPACED})*|\S")
_LEAST_SEEN = 5  # minimum frequency of a known word, alone or within longer runs
_LONGEST = 24  # maximum length of a known word

# The known words of each side for cutting runs of letters; None: the side is not cut.
KnownWords = tuple[frozenset[str] | None, frozenset[str] | None]


@dataclass(frozen=True, slots=True, eq=False)
class CutSentence:
    """A sentence in pieces, one or more per word; ``starts`` int64[words]: the first piece of each."""

    pieces: tuple[str, ...]
    starts: NDArray[np.int64]


def known_words(pairs: Sequence[tuple[Words, Words]], side: str) -> KnownWords:
    source, target = (
        _known_words(pair[at] for pair in pairs) if cut else None for at, cut in enumerate(SIDES[side])
    )
    return source, target


def _known_words(sentences: Iterable[Words]) -> frozenset[str]:
    """Return the frequent runs of letters, alone or within other runs."""
    found = (piece["run"] for words in sentences for word in words for piece in _PIECE.finditer(word))
    runs = Counter(run for run in found if run is not None)
    seen = runs.copy()
    for run, times in runs.items():
        for piece in _cut_run(run, runs, longest=len(run) - 1):
            if piece in runs and piece != run:
                seen[piece] += times
    return frozenset(run for run, times in seen.items() if times >= _LEAST_SEEN and len(run) <= _LONGEST)


def _cut_run(run: str, known: Collection[str], *, longest: int = _LONGEST) -> list[str]:
    """Cut letters into the longest known words from the left; the rest between them stays in one piece."""
    pieces = []
    begin = unknown = 0
    while begin < len(run):
        end = min(begin + min(longest, _LONGEST), len(run))
        # A mark belongs to the letter before it.
        while end > begin and (
            run[begin:end] not in known or (end < len(run) and unicodedata.category(run[end])[0] == "M")
        ):
            end -= 1
        if end == begin:
            begin += 1
            continue
        pieces += [run[unknown:begin], run[begin:end]]
        begin = unknown = end
    return [piece for piece in (*pieces, run[unknown:]) if piece]


def cut_word(word: str, known: Collection[str] = frozenset()) -> list[str]:
    """Return the pieces of a word: single Chinese characters, and ``known`` words in runs of letters."""
    pieces: list[str] = []
    for found in _PIECE.finditer(word):
        pieces += [found[0]] if found["run"] is None else _cut_run(found["run"], known)
    return pieces or [word]


def cut_sentence(words: Words, known: Collection[str] | None) -> CutSentence:
    """Cut every word of a sentence; without ``known`` words, leave each in one piece."""
    of_words = [[word] if known is None else cut_word(word, known) for word in words]
    starts = starts_of([len(pieces) for pieces in of_words])[:-1]
    return CutSentence(tuple(chain.from_iterable(of_words)), starts)


def cut_pair(pair: tuple[Words, Words], known: KnownWords) -> tuple[CutSentence, CutSentence]:
    return cut_sentence(pair[0], known[0]), cut_sentence(pair[1], known[1])


def carry_to_words(
    forward: Posteriors, backward: Posteriors, pair: tuple[CutSentence, CutSentence]
) -> tuple[Posteriors, Posteriors]:
    """Return the link probabilities of words, given those of their pieces, float[m, n] in both directions.

    A piece comes from one piece of the other side at most, so its probability of coming from a word is the
    sum over the word's pieces. The probability of a word is the maximum over its pieces; their mean was
    worse, the probability that any piece is linked as good. Shape [0, 0] where no piece was aligned.
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
