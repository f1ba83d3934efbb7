"""Candidate edges of an enhanced graph, and the relations they may have, read off a tree.

An edge is known by the way between its ends in the tree: so many steps up from the dependent, so many down
to the head, and the relations passed. Its relation is kept as a pattern, which the sentence fills in: ``{0}``
and ``{1}`` are the relations of the dependent and of the word above it, ``{case}`` the lemmas of its case
marker, so that ``nmod:of`` is ``{0}:{case}``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from qsproj.conventions import ROOT
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.sentence import Sentence

# Steps up and down of the ways that edges take: nearly all of those in English, Swedish, Dutch, Czech.
WAYS = ((1, 0), (2, 0), (1, 1), (0, 1), (1, 2), (0, 2), (3, 0), (2, 1))
BASIC = WAYS[0]
# Markers whose lemmas are part of a relation.
MARKERS = ("case", "mark", "cc")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of words: the dependent, the head, and the words between them on the way up and down."""

    dependent: int
    head: int
    way: tuple[int, int]
    passed: tuple[int, ...]  # from the dependent to the head, both left out


@dataclass(frozen=True, eq=False)
class Tree:
    """A parsed sentence as edges are read off it; words are 1..n."""

    sentence: Sentence

    @cached_property
    def heads(self) -> list[int]:
        """The head of each word; -1 for the root and where it is missing."""
        return [int(head) for head in self.sentence.heads]

    @cached_property
    def children(self) -> list[list[int]]:
        """The dependents of the root and of each word."""
        children: list[list[int]] = [[] for _ in self.heads]
        for word, head in enumerate(self.heads):
            if head >= ROOT:
                children[head].append(word)
        return children

    @cached_property
    def bare(self) -> list[str]:
        """The relation of each word without its subtype; of the root an empty one."""
        return ["", *map(bare_relation, self.sentence.deprels)]

    def relation(self, word: int) -> str:
        """Return the relation of a word; of the root an empty one."""
        return self.sentence.deprels[word - 1] if word else ""

    def lemma(self, word: int) -> str:
        """Return the lower-cased lemma of a word, or its form where it has none."""
        lemma = self.sentence.lemmas[word - 1]
        return (self.sentence.forms[word - 1] if lemma == UNSPECIFIED else lemma).lower()

    def feature(self, word: int, name: str) -> str:
        """Return the value of a feature of a word in lower case; empty where it has none."""
        for pair in self.sentence.feats[word - 1].split("|") if word else ():
            key, _, value = pair.partition("=")
            if key == name:
                return value.lower()
        return ""

    def marker(self, word: int, relation: str) -> str:
        """Return the lemmas of the first dependent of a word by this relation, and of what is fixed to it."""
        for child in self.children[word]:
            if self.bare[child] == relation:
                fixed = [other for other in self.children[child] if self.relation(other) == "fixed"]
                return "_".join(self.lemma(one) for one in (child, *fixed))
        return ""

    def conjunction(self, word: int) -> str:
        """Return the lemmas of the conjunction of a conjunct, or of the next one of its row that has one."""
        own = self.marker(word, "cc")
        if own or not word:
            return own
        row = [one for one in self.children[self.heads[word]] if one > word and self.bare[one] == "conj"]
        return next(filter(None, (self.marker(one, "cc") for one in row)), "")

    def candidates(self) -> Iterator[Candidate]:
        """Yield the candidates of each word by the ways that edges take."""
        for word in range(1, len(self.heads)):
            above = [word]
            for up in range(4):
                for way in WAYS:
                    if way[0] == up:
                        yield from self._down(above, way)
                if self.heads[above[-1]] < ROOT:
                    break
                above.append(self.heads[above[-1]])

    def _down(self, above: list[int], way: tuple[int, int]) -> Iterator[Candidate]:
        """Yield candidates from the top of a way down; they do not go back the way they came."""
        paths = [[above[-1]]]
        for _ in range(way[1]):
            paths = [
                [*path, child]
                for path in paths
                for child in self.children[path[-1]]
                if len(path) > 1 or len(above) == 1 or child != above[-2]
            ]
        for path in paths:
            head = path[-1]
            if way[1] == 0 or head != ROOT:
                passed = (*above[1:], *path[1:])[:-1]
                yield Candidate(above[0], head, way, passed)

    def signature(self, one: Candidate) -> str:
        """Return the way of a candidate and the relations on it; of an arc of the tree its relation alone."""
        if one.way == BASIC:
            return self.bare[one.dependent]
        passed = [self.bare[word] for word in (one.dependent, *one.passed, one.head)]
        return f"{one.way[0]}{one.way[1]} {','.join(passed)}"

    def filling(self, one: Candidate) -> Mapping[str, str]:
        """Return what stands for each part of a pattern."""
        dependent, above = one.dependent, self.heads[one.dependent]
        filled = {"{0}": self.relation(dependent), "{1}": self.relation(max(above, ROOT))}
        for name, word in (("", dependent), ("1", max(above, ROOT))):
            for marker in MARKERS:
                found = self.conjunction(word) if marker == "cc" else self.marker(word, marker)
                filled[f"{{{marker}{name}}}"] = found
            filled[f"{{Case{name}}}"] = self.feature(word, "Case")
        return {part: value for part, value in filled.items() if value}


def pattern_of(relation: str, filling: Mapping[str, str]) -> str:
    """Return the pattern that gives a relation: that of a word first, then markers, else what it is."""
    for whole in ("{0}", "{1}"):
        value = filling.get(whole)
        if value and (relation == value or relation.startswith(f"{value}:")):
            first, rest = whole, relation[len(value) :].split(":")[1:]
            break
    else:
        first, *rest = relation.split(":")
    parts = {value: part for part, value in reversed(list(filling.items())) if part not in ("{0}", "{1}")}
    return ":".join([first, *(parts.get(part, part) for part in rest)])


def filled(pattern: str, filling: Mapping[str, str]) -> str | None:
    """Return the relation of a pattern; None where the sentence lacks a part of it."""
    parts = [filling.get(part) if part.startswith("{") else part for part in pattern.split(":")]
    return None if None in parts else ":".join(filter(None, parts))
