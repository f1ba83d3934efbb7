"""Gold trees over the very text of a bitext's source: found by their letters, and taken as they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.contractions import merge_contractions
from qsproj.corpus.sentence import Sentence

# A tree stands within so many letters of the one before, or where its letters, so many at least, stand alone.
REACH = 2000
LEAST_LETTERS = 20

# Name, source line, target line.
Named = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class GivenTrees:
    """Pairs of a bitext, those that a tree spans joined, and the trees that source lines have.

    ``trees``: by the source line; of a line of several sentences one with several roots.
    """

    pairs: tuple[Named, ...] = ()
    trees: Mapping[str, Sentence] = field(default_factory=dict)


def letters_of(text: str) -> str:
    """Return what editions of a text share: letters and digits, lower-cased."""
    return "".join(filter(str.isalnum, text.lower()))


def find_trees(named: Sequence[Named], trees: Iterable[Sentence]) -> GivenTrees:
    """Find trees in the source lines of a bitext; lines that they do not cover stay without."""
    letters = [letters_of(source) for _, source, _ in named]
    ends = list(accumulate(map(len, letters)))
    found = dict(_places("".join(letters), trees))
    line_at = {end: number for number, end in enumerate(ends)}
    pairs: list[Named] = []
    given: dict[str, Sentence] = {}
    number = 0
    while number < len(named):
        start = ends[number] - len(letters[number])
        chain, end = [], start
        while end in found:
            end, tree = found[end]
            chain.append(tree)
            if end in line_at:
                break
        last = line_at[end] if chain and end in line_at else number
        lines = named[number : last + 1]
        source, target = (" ".join(filter(None, (line[side] for line in lines))) for side in (1, 2))
        if chain and end in line_at:
            given[source] = joined(chain)
        pairs.append((lines[0][0], source, target))
        number = last + 1
    return GivenTrees(tuple(pairs), given)


def _places(text: str, trees: Iterable[Sentence]) -> Iterator[tuple[int, tuple[int, Sentence]]]:
    """Yield where the letters of each whole tree begin in a text, where they end, and the tree."""
    before = 0
    for tree in trees:
        own = letters_of("".join(merge_contractions(tree)[0]))
        if not own or np.any(tree.heads[1:] == NO_HEAD):
            continue
        place = text.find(own, before, before + REACH + len(own))
        if place < 0 and len(own) >= LEAST_LETTERS:
            place = text.find(own)
            if text.find(own, place + 1) >= 0:
                place = -1
        if place >= 0:
            before = place + len(own)
            yield place, (before, tree)


def joined(trees: Sequence[Sentence]) -> Sentence:
    """Return one sentence of the words of several, each with its own root."""
    starts = accumulate(map(len, trees), initial=0)
    heads = [
        np.where(tree.heads[1:] == ROOT, ROOT, tree.heads[1:] + start)
        for tree, start in zip(trees, starts, strict=False)
    ]
    forms, upos, deprels = (
        [cell for tree in trees for cell in getattr(tree, column)] for column in ("forms", "upos", "deprels")
    )
    return Sentence.from_words(forms, upos=upos, heads=np.concatenate(heads), deprels=deprels)
