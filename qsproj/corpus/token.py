"""Views of the rows of a sentence, without copying: words, multiword tokens and empty nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qsproj.conventions import ROOT
from qsproj.corpus.cells import DEPS, MISC, UNSPECIFIED, items_of
from qsproj.corpus.messages import probability_in

if TYPE_CHECKING:
    from qsproj.corpus.sentence import Sentence

ARC_PROBABILITY = "ArcProb"  # key in MISC of the probability of a word's arc
NO_SPACE = "SpaceAfter", "No"  # item in MISC of a token without a following space


@dataclass(frozen=True)  # with slots, CPython 3.11 reports a property that is set by another error
class Token:
    """A word of a sentence with its columns; ``_`` if unspecified.

    A token is a view of the word ``id``, 1..n. To change a sentence, use :meth:`qsproj.Sentence.replace`.

    Examples
    --------
    >>> import qsproj
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], heads=[2, 0], feats=["Number=Plur", None])
    >>> sentence[1].feats, sentence[1].parent
    ({'Number': 'Plur'}, <Token 2 'bark'>)
    """

    sentence: Sentence
    id: int

    @property
    def form(self) -> str:
        """FORM."""
        return self.sentence.forms[self.id - 1]

    @property
    def lemma(self) -> str:
        """LEMMA."""
        return self.sentence.lemmas[self.id - 1]

    @property
    def upos(self) -> str:
        """UPOS."""
        return self.sentence.upos[self.id - 1]

    @property
    def xpos(self) -> str:
        """XPOS."""
        return self.sentence.xpos[self.id - 1]

    @property
    def feats(self) -> dict[str, str]:
        """FEATS as a new dictionary; the value of an item without ``=`` is empty."""
        return features_of(self.sentence.feats[self.id - 1])

    @property
    def head(self) -> int:
        """HEAD: the ``id`` of the head, 0 for the root, -1 if missing."""
        return int(self.sentence.heads[self.id])

    @property
    def deprel(self) -> str:
        """DEPREL."""
        return self.sentence.deprels[self.id - 1]

    @property
    def deps(self) -> list[tuple[int | str, str]]:
        """DEPS as a new list of pairs (head, relation); the head is a string for an empty node."""
        return deps_of(self._cell(DEPS))

    @property
    def misc(self) -> dict[str, str | None]:
        """MISC as a new dictionary; the value of an item without ``=`` is None."""
        return items_of(self._cell(MISC))

    @property
    def parent(self) -> Token | None:
        """The head as a token, None for a root or a missing head."""
        return Token(self.sentence, self.head) if self.head > ROOT else None

    @property
    def children(self) -> tuple[Token, ...]:
        """The dependents of the word, in order. O(n) time."""
        words = np.flatnonzero(self.sentence.heads == self.id).tolist()
        return tuple(Token(self.sentence, word) for word in words)

    @property
    def is_root(self) -> bool:
        """Whether the head is the root, 0."""
        return self.head == ROOT

    @property
    def arc_probability(self) -> float | None:
        """The probability of the arc, ``ArcProb`` in MISC; None without ``parse(..., confidence=True)``.

        A DMV attaches punctuation by rule and states no probability of it.
        """
        return probability_in(self.misc.get(ARC_PROBABILITY) or "")

    def __repr__(self) -> str:
        tag = "" if self.upos == UNSPECIFIED else f" {self.upos}"
        return f"<Token {self.id} {self.form!r}{tag}>"

    def __str__(self) -> str:
        return self.form

    def _cell(self, column: int) -> str:
        layout = self.sentence.layout
        if layout is None:
            return UNSPECIFIED
        return layout.lines[layout.word_lines[self.id - 1]].rstrip("\r").split("\t")[column]


@dataclass(frozen=True, slots=True)
class MultiwordToken:
    """A surface token of several words, ``first`` to ``last``, both included."""

    first: int
    last: int
    form: str
    misc: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """ID: ``1-2``."""
        return f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyNode:
    """A word of the enhanced graph that is not in the text; ``id`` 8.1 is the first after word 8."""

    id: str
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: Mapping[str, str]
    deps: tuple[tuple[int | str, str], ...]
    misc: Mapping[str, str | None]


def surface_tokens(sentence: Sentence) -> list[Token | MultiwordToken]:
    """Return the tokens of the text: the multiword tokens, and the words outside them."""
    tokens: list[Token | MultiwordToken] = list(sentence)
    for span in reversed(sentence.multiword_tokens):
        tokens[span.first - 1 : span.last] = [span]
    return tokens


def space_after(token: Token | MultiwordToken) -> str:
    """Return the space after a token, none after ``SpaceAfter=No`` in MISC."""
    key, value = NO_SPACE
    return "" if token.misc.get(key) == value else " "


def spelled(sentence: Sentence) -> str:
    """Return the text of all tokens, with the spaces after them."""
    return "".join(token.form + space_after(token) for token in surface_tokens(sentence)).rstrip(" ")


def other_rows(sentence: Sentence, mark: str) -> list[list[str]]:
    """Return the rows of multiword tokens (``-`` in their ID) or empty nodes (``.``), ten cells each."""
    if sentence.layout is None or len(sentence.layout.lines) == len(sentence.layout.word_lines):
        return []
    others = sorted({*range(len(sentence.layout.lines))}.difference(sentence.layout.word_lines))
    lines = (line for at in others if (line := sentence.layout.lines[at])[0] != "#")
    return [line.rstrip("\r").split("\t") for line in lines if mark in line.partition("\t")[0]]


def features_of(cell: str) -> dict[str, str]:
    """Return the items of FEATS, empty for one without ``=``."""
    return {key: value or "" for key, value in items_of(cell).items()}


def deps_of(cell: str) -> list[tuple[int | str, str]]:
    """Return the edges of DEPS, the head as a number unless it is an empty node."""
    return [(int(head) if head.isdecimal() else head, relation) for head, relation in edges_of(cell)]


# Head and relation; the head is an ID as in DEPS: 0 is the root, 8.1 an empty node.
Edge = tuple[str, str]


def edges_of(cell: str) -> tuple[Edge, ...]:
    """Return the edges of a cell of DEPS, without those that have no relation; none for ``_``."""
    if cell == UNSPECIFIED:
        return ()
    pairs = (item.partition(":") for item in cell.split("|"))
    return tuple((head, relation) for head, _, relation in pairs if relation)
