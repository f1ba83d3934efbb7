"""A bitext as arrays of word numbers, shard by shard, in files of a folder."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Numbers, starts_of
from qsproj.corpus.characters import lower_form
from qsproj.errors import UsageError
from qsproj.parallel import blocks_of

# Two sides of 2,000 words: about 200 MB during alignment. Longer pairs are not sentence pairs.
MAX_CELLS = 2**22
# Forms of a word mostly share a prefix: below this many pairs, words are cut to that many letters (the key).
LETTERS = {4: 4_000, 5: 20_000}

# The words of both sides, source and target, and their numbers in the order of first occurrence.
Vocabularies = tuple[dict[str, int], dict[str, int]]
Words = Sequence[str]
Posteriors = NDArray[np.floating]


class LinkedPair(NamedTuple):
    """Link probabilities of a sentence pair, by any aligner; 0 and 1 from one without probabilities."""

    size: tuple[int, int]  # words of both sides
    forward: Posteriors  # float32[m, n]: p(target word comes from source word); [0, 0] if not `alignable`
    backward: Posteriors  # float32[m, n]: p(source word comes from target word); likewise


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPairs:
    """Consecutive sentence pairs as arrays; pairs with an empty side, or too long, have no tokens."""

    source_words: Numbers  # int32[T]: vocabulary numbers of all tokens
    target_words: Numbers  # int32[T]
    source_offsets: NDArray[np.int64]  # int64[S+1]: where the tokens of each sentence start
    target_offsets: NDArray[np.int64]  # int64[S+1]
    lengths: NDArray[np.int64]  # int64[S, 2]: words of all pairs

    @property
    def cell_offsets(self) -> NDArray[np.int64]:
        """The start of the cells (source token, target token) of each pair, int64[S+1]."""
        return starts_of(np.diff(self.source_offsets) * np.diff(self.target_offsets))


def alignable(n_source: int, n_target: int) -> bool:
    """Return whether a pair of these lengths is aligned: no side empty, at most ``MAX_CELLS`` cells."""
    return 0 < n_source * n_target <= MAX_CELLS


def encode_bitext(
    pairs: Iterable[tuple[Words, Words]], vocabularies: Vocabularies, *, size: int
) -> Iterator[EncodedPairs]:
    """Yield pairs of words as numbers, ``size`` at a time; new words are added to ``vocabularies``."""
    remaining = iter(pairs)
    first = list(islice(remaining, max(LETTERS.values())))
    kept = next((letters for letters, fewer in LETTERS.items() if len(first) < fewer), None)
    remaining = chain(first, remaining)
    del first
    for some in blocks_of(remaining, size):
        lengths = np.array([(len(one), len(other)) for one, other in some], dtype=np.int64)
        taken = [alignable(*row) for row in lengths.tolist()]
        sides = []
        for side, numbers in enumerate(vocabularies):
            begin = cache(partial(beginning, kept=kept))
            forms = (pair[side] for pair in compress(some, taken))
            words = [numbers.setdefault(begin(form), len(numbers)) for form in chain.from_iterable(forms)]
            sides.append((np.array(words, dtype=np.int32), starts_of(np.where(taken, lengths[:, side], 0))))
        (source_words, source_offsets), (target_words, target_offsets) = sides
        yield EncodedPairs(source_words, target_words, source_offsets, target_offsets, lengths)


def beginning(word: str, kept: int | None) -> str:
    """Return the first ``kept`` letters, None for all, of a case-folded word; Hangul counts twice."""
    word = (word if word.isascii() and word.isalpha() else lower_form(word)).casefold()
    if kept is None or len(word) <= kept // 2 or any(map(str.isdigit, word)):
        return word
    return word[: kept // 2] if "가" <= word[0] <= "힣" else word[:kept]


def letters(vocabulary: Iterable[str]) -> tuple[Numbers, NDArray[np.int64]]:
    words = list(vocabulary)
    return np.fromiter(map(ord, "".join(words)), dtype=np.int32), starts_of([len(word) for word in words])


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """The arrays of one shard, by name, each a file of ``folder``."""

    folder: Path
    number: int

    def save(self, name: str, array: NDArray[Any]) -> None:
        with self._reporting_errors():
            np.save(self._path(name), array)

    def load(self, name: str) -> NDArray[Any]:
        return np.load(self._path(name))

    def part(self, name: str, first: int, last: int) -> NDArray[Any]:
        """Return ``array[first:last]``, reading no more than that; fewer rows where the array ends before."""
        return np.array(np.load(self._path(name), mmap_mode="r")[first:last])

    def append(self, name: str, array: NDArray[Any]) -> None:
        with self._reporting_errors(), self._path(name, "bin").open("ab") as handle:
            handle.write(array.tobytes())

    def appended(self, name: str, dtype: type[np.generic]) -> NDArray[Any]:
        path = self._path(name, "bin")
        if not path.exists():
            return np.zeros(0, dtype=dtype)
        array: NDArray[Any] = np.fromfile(path, dtype=dtype)
        path.unlink()
        return array

    def remove(self, *names: str) -> None:
        for name in names:
            self._path(name).unlink()

    def _path(self, name: str, suffix: str = "npy") -> Path:
        return self.folder / f"{self.number:05d}.{name}.{suffix}"

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            each = "about 16 bytes there for each source word times target word of a sentence pair"
            remedy = f"the aligner stores {each}; set TMPDIR to a folder with more space"
            raise UsageError(f"{self.folder}: cannot be written to: {error.strerror}; {remedy}") from error
