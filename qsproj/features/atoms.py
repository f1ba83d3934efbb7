"""Hashed attributes of each position of a sentence, the atoms of arc templates.

A tree adds attributes: those of a word's relatives, and its rank among siblings. They distinguish objects
from obliques, and subjects from objects, where the two words of the arc do not suffice.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Hashes, Heads, Mask
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.characters import lower_case, lower_form, plain_form
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.features.hashing import stable_hash
from qsproj.kernels.features.label_features import find_relatives

# Rows before the root and after the last word; equal to kernels.arc_features.PAD (a test compares them).
PADDING = 2

# Numbers of the coarse tags for sets of tags between words; the first three are also counted, under the
# numbers that kernels.arc_features names. Unknown tags share the last number.
TAGS = (
    *("VERB", "PUNCT", "CCONJ", "NOUN", "PROPN", "PRON", "ADJ", "ADV", "ADP"),
    *("AUX", "DET", "NUM", "PART", "SCONJ", "INTJ", "SYM", "X"),
)
TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS, start=1)}
UNKNOWN_TAG = 62  # kernels store the tags between as bits of an int64, whose last bit is the sign

MOST_REMEMBERED = 1 << 18  # words with cached hashes: 25 MB for twelve attributes


@dataclass(frozen=True, slots=True)
class EncodedSentence:
    """An encoded sentence for the arc-feature kernels."""

    atoms: Hashes  # uint64[n + 1 + 2 * PADDING, A]: hash of attribute a of position p in row ``p + PADDING``
    tags: NDArray[np.uint8]  # uint8[n + 1]: number of each position's UPOS; 0 for the root

    def __len__(self) -> int:
        return len(self.tags) - 1


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """Sentences encoded as one; ``starts``, ``sizes`` int64[S]: position of each root, its positions."""

    words: EncodedSentence
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def inside(self) -> Mask:
        inside = np.zeros(len(self.words) + 1, dtype=np.bool_)
        for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=True):
            inside[start : start + size] = True
        return inside


class Attribute(NamedTuple):
    """A function of a word's cells in some columns: the value of ``head.NAME`` and ``dep.NAME``."""

    columns: tuple[str, ...]
    value: Callable[..., str]


def _morphology(*names: str) -> Callable[[str], str]:
    """Return a function from FEATS to the values of the named features joined, or ``_``."""
    wanted = tuple(f"{name}=" for name in names)
    return lambda feats: "|".join(pair for pair in feats.split("|") if pair.startswith(wanted)) or "_"


_FORMS, _FEATS = ("forms",), ("feats",)

# Attributes by name.
ATTRIBUTES = {
    "lower": Attribute(_FORMS, lower_form),
    "prefix": Attribute(_FORMS, lambda form: lower_case(plain_form(form)[:5])),
    "suffix": Attribute(_FORMS, lambda form: lower_case(plain_form(form)[-3:])),
    "lemma": Attribute(
        ("forms", "lemmas"), lambda form, lemma: lower_form(form) if lemma == "_" else plain_form(lemma)
    ),
    "upos": Attribute(("upos",), str),
    "xpos": Attribute(("upos", "xpos"), lambda coarse, fine: coarse if fine == "_" else fine),
    "feats": Attribute(_FEATS, str),
    "case": Attribute(_FEATS, _morphology("Case")),
    "agreement": Attribute(_FEATS, _morphology("Number", "Gender", "Person")),
    "verbform": Attribute(_FEATS, _morphology("VerbForm", "Mood")),
}


def columns_read(attributes: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a sentence that the named attributes read; UPOS is always the first."""
    columns = (column for name in attributes for column in ATTRIBUTES[name].columns)
    return tuple(dict.fromkeys(["upos", *columns]))


def empty_columns(sentences: Sequence[Sentence], attributes: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that the named attributes read and that are ``_`` throughout all sentences."""
    return tuple(
        column
        for column in columns_read(attributes)
        if column != "forms" and all(set(getattr(one, column)) <= {UNSPECIFIED} for one in sentences)
    )


def without_columns(sentence: Sentence, columns: Collection[str]) -> Sentence:
    if not columns:
        return sentence
    return with_columns(sentence, **dict.fromkeys(columns, (UNSPECIFIED,) * len(sentence)))


class WordTypes(dict[tuple[str, ...], int]):
    """Numbers of distinct words, by UPOS and the columns read, and a cache of their hashes."""

    BEFORE, ROOT, AFTER = range(3)

    def __init__(self, attributes: tuple[str, ...]) -> None:
        super().__init__()
        self.columns = columns_read(attributes)
        self._attributes = {name: ATTRIBUTES[name] for name in attributes}
        self._tags = np.zeros(1024, dtype=np.uint8)
        self._hashes = np.empty((1024, len(attributes)), dtype=np.uint64)
        for number, place in enumerate(("<before>", "<root>", "<after>")):
            self._hashes[number] = [stable_hash(f"{name}\t{place}") for name in attributes]
        self._places = number + 1
        self._lock = Lock()

    def look_up(self, sentences: Sequence[Sentence]) -> EncodedSentence:
        """Encode sentences as one, each with PADDING rows before and after its root and words."""
        numbers: list[int] = []
        with self._lock:
            if len(self) >= MOST_REMEMBERED:
                self.clear()
            for sentence in sentences:
                numbers += [self.BEFORE] * PADDING + [self.ROOT]
                cells = (getattr(sentence, column) for column in self.columns)
                numbers += map(self.__getitem__, zip(*cells, strict=True))
                numbers += [self.AFTER] * PADDING
            rows = np.array(numbers, dtype=np.int32)
            return EncodedSentence(self._hashes.take(rows, axis=0), self._tags.take(rows)[PADDING:-PADDING])

    def __missing__(self, cells: tuple[str, ...]) -> int:
        number = self._places + len(self)
        if number == len(self._tags):
            self._tags = np.concatenate([self._tags, np.zeros_like(self._tags)])
            self._hashes = np.concatenate([self._hashes, np.empty_like(self._hashes)])
        word = dict(zip(self.columns, cells, strict=True))
        self._tags[number] = TAG_NUMBERS.get(word["upos"], UNKNOWN_TAG)
        self._hashes[number] = [
            stable_hash(f"{name}\t{one.value(*map(word.__getitem__, one.columns))}")
            for name, one in self._attributes.items()
        ]
        self[cells] = number
        return number


_types = lru_cache(WordTypes)


def encode(sentence: Sentence, attributes: tuple[str, ...]) -> EncodedSentence:
    return _types(attributes).look_up([sentence])


def encode_block(sentences: Sequence[Sentence], attributes: tuple[str, ...]) -> EncodedBlock:
    """Hash the named attributes of every word of one or more sentences, of roots and outsides."""
    words = _types(attributes).look_up(sentences)
    sizes = np.array([len(sentence) + 1 for sentence in sentences], dtype=np.int64)
    gapped = sizes + 2 * PADDING
    return EncodedBlock(words, np.cumsum(gapped) - gapped, sizes)


def _bits(*tags: str) -> int:
    return sum(1 << TAG_NUMBERS[tag] for tag in tags)


# The first dependent with one of these tags; the kernel expects the adposition first.
CLASSES = {
    "adposition": _bits("ADP"),
    "determiner": _bits("DET"),
    "marker": _bits("SCONJ", "PART"),
    "auxiliary": _bits("AUX"),
    "coordinator": _bits("CCONJ"),
}
NOMINALS = _bits("NOUN", "PROPN", "PRON", "NUM")
RELATIVES = (*CLASSES, "first", "last", "parent")
RANK = "rank"

_CLASS_BITS = np.array(list(CLASSES.values()), dtype=np.int64)
_NOBODY = np.uint64(stable_hash("<nobody>"))
_RANK_SEED = np.uint64(0x9E3779B97F4A7C15)


def reads_tree(attribute: str) -> bool:
    return attribute == RANK or attribute.partition(".")[0] in RELATIVES


def with_tree_atoms(
    encoded: EncodedSentence, heads: Heads, attributes: Sequence[str], inside: Mask | None = None
) -> EncodedSentence:
    """Return the sentence with a column for each attribute from its tree, ``heads`` int32[n+1] or -1.

    ``inside`` bool[n+1]: for several sentences encoded as one, the positions that are words or roots.
    """
    width = encoded.atoms.shape[1]
    if len(attributes) == width:
        return encoded
    relatives, columns = _sources(tuple(attributes), width)
    nodes = np.empty((len(heads), len(RELATIVES)), dtype=np.int32)
    ranks = np.empty(len(heads), dtype=np.int64)
    # A copy, since numba would compile another version of the kernel for read-only arrays.
    find_relatives(heads.copy(), encoded.tags, _CLASS_BITS, NOMINALS, nodes, ranks)
    atoms = np.full((len(encoded.atoms), len(attributes)), _NOBODY)
    atoms[:, :width] = encoded.atoms
    of_words = atoms[PADDING : PADDING + len(heads), width:]
    found = nodes.take(relatives, axis=1)
    of_words[:] = np.where(found < 0, _NOBODY, encoded.atoms[found + PADDING, columns])
    if RANK in attributes:
        values = ranks.astype(np.uint64) * _RANK_SEED
        shown = values if inside is None else np.where(inside, values, _NOBODY)
        of_words[:, attributes.index(RANK) - width] = shown
    return EncodedSentence(atoms, encoded.tags)


@lru_cache
def _sources(attributes: tuple[str, ...], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of the relative, and of the attribute read, of each attribute after ``width``."""
    # The rank has neither; its column is replaced.
    rank = RELATIVES[0], "", attributes[0]
    wanted = [rank if one == RANK else one.partition(".") for one in attributes[width:]]
    places = [(RELATIVES.index(relative), attributes.index(read)) for relative, _, read in wanted]
    relatives, columns = np.array(places, dtype=np.int64).T
    return relatives, columns
