"""Sentence, Alignment and SentencePair, the data structures of all readers and writers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from operator import index
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qsproj.conventions import MAX_WORDS, NO_HEAD, Floats, Heads, Mask, Numbers, frozen_heads
from qsproj.corpus.cells import DEPS, FEATS, FORM, MISC, UNSPECIFIED, cell_from, comment_in, items_of
from qsproj.corpus.conllu_faults import head_fault
from qsproj.corpus.messages import check_type, described, shown, words_of
from qsproj.corpus.token import EmptyNode, MultiwordToken, Token, deps_of, features_of, other_rows, spelled
from qsproj.errors import SentenceLengthError, UsageError, WordIndexError, WrongTypeError, pluralise

# A cell of FEATS or MISC: in CoNLL-U format, or as its items; None if unspecified.
Items = str | Mapping[str, str | None] | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The original lines of a sentence, so that unchanged parts are written byte for byte."""

    lines: tuple[str, ...]  # without line ends: comments, multiword-token ranges, words and empty nodes
    word_lines: tuple[int, ...]  # the index in ``lines`` of each word
    newline: str = "\n"
    # after the last line: its line end and the blank line(s), or less at the end of a file
    end: str = "\n\n"
    start: str = ""  # before the first line of a file: a byte order mark, blank lines
    line: int | None = field(default=None, compare=False)  # number of the first line in its file


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sentence:
    """A sentence with its annotation. Words are 1..n; tuples hold word i at index i - 1.

    A sentence is a container of its words: ``len(sentence)``, ``for token in sentence``, ``sentence[1]`` (the
    first), ``sentence[-1]`` (the last); see :class:`qsproj.Token`. ``str(sentence)`` is CoNLL-U.

    ``sent_id``: the value of the first ``# sent_id`` comment. Columns of CoNLL-U have length n, with ``_`` if
    unspecified. ``heads`` int32[n+1], read-only: the head of each word, -1 if missing, and ``heads[0] ==
    -1``. ``layout``: the original lines; None for a sentence that was not read from a file.
    """

    sent_id: str | None
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    deprels: tuple[str, ...]
    heads: Heads
    layout: Layout | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copying and pickling, with heads read-only."""
        return _reduced(self)

    def __len__(self) -> int:
        """Return the number of words, n."""
        return len(self.forms)

    def __iter__(self) -> Iterator[Token]:
        """Yield the words."""
        return (Token(self, word) for word in range(1, len(self) + 1))

    def __reversed__(self) -> Iterator[Token]:
        """Yield the words in reverse order."""
        return (Token(self, word) for word in range(len(self), 0, -1))

    def __getitem__(self, word: int) -> Token:
        """Return a word by its number, from 1; negative numbers count from the end.

        Raises WordIndexError, an IndexError, for 0, for numbers past the end and for slices.
        """
        n = len(self)
        if isinstance(word, slice):
            raise WordIndexError(
                "found a slice, expected the number of one word; words count from 1, lists from 0: "
                "[sentence[i] for i in range(first, last + 1)] or list(sentence)[first - 1 : last]"
            )
        try:
            number = index(word)
        except TypeError:
            raise WrongTypeError(
                f"found {described(word)} as the number of a word, expected 1 to {n}"
            ) from None
        if number == 0 or abs(number) > n:
            raise WordIndexError(
                f"found {number} as the number of a word, expected 1 to {n}, or -1 to -{n} from the end; "
                "words count from 1, as in CoNLL-U"
            )
        return Token(self, number if number > 0 else n + 1 + number)

    def __repr__(self) -> str:
        return f"<Sentence {shown(self.text)} {pluralise(len(self), 'word')}>"

    def __str__(self) -> str:
        return self.to_conllu()

    def _repr_html_(self) -> str:
        return drawn(self)

    @property
    def root(self) -> Token | None:
        """The first word whose head is 0, None if there is none."""
        return next((token for token in self if token.is_root), None)

    @property
    def text(self) -> str:
        """The text of the comment ``# text``, else that of the tokens."""
        found = None if self.layout is None else comment_in(self.layout.lines, "text")
        return spelled(self) if found is None or not found[1] else found[1]

    @property
    def comments(self) -> tuple[str, ...]:
        """The comment lines of CoNLL-U, such as ``# sent_id = 1``."""
        return tuple(line.rstrip("\r") for line in self.to_conllu().split("\n") if line.startswith("#"))

    @property
    def multiword_tokens(self) -> tuple[MultiwordToken, ...]:
        """The multiword tokens: single surface tokens of several words."""
        return tuple(
            MultiwordToken(int(first), int(last), cells[FORM], items_of(cells[MISC]))
            for cells in other_rows(self, "-")
            for first, last in [cells[0].split("-")]
        )

    @property
    def empty_nodes(self) -> tuple[EmptyNode, ...]:
        """The empty nodes: words of the enhanced graph that are not in the text."""
        nodes = []
        for row in other_rows(self, "."):
            texts: dict[str, Any] = dict(zip(("id", "form", "lemma", "upos", "xpos"), row))
            feats, deps, misc = features_of(row[FEATS]), tuple(deps_of(row[DEPS])), items_of(row[MISC])
            nodes.append(EmptyNode(**texts, feats=feats, deps=deps, misc=misc))
        return tuple(nodes)

    def to_conllu(self) -> str:
        """Return the sentence as CoNLL-U; an unchanged sentence is identical to its input."""
        from qsproj.corpus.conllu import conllu_text

        return conllu_text([self])

    @staticmethod
    def from_conllu(text: str) -> "Sentence":
        r"""Read one sentence of CoNLL-U.

        Raises DataError if the text is not CoNLL-U; UsageError if it has several sentences.

        Examples
        --------
        >>> Sentence.from_conllu("1\tHush\t_\tINTJ\t_\t_\t0\troot\t_\t_").root
        <Token 1 'Hush' INTJ>
        """
        from qsproj.corpus.conllu import sentences_in

        sentences = sentences_in(text)
        if len(sentences) > 1:
            found = f"found {pluralise(len(sentences), 'sentence')}, expected one"
            raise UsageError(f"{found}; for several: qsproj.Document.from_conllu")
        return sentences[0]

    def replace(
        self,
        *,
        heads: Iterable[int | None] | None = None,
        deprels: Iterable[str | None] | None = None,
        upos: Iterable[str | None] | None = None,
        lemmas: Iterable[str | None] | None = None,
        xpos: Iterable[str | None] | None = None,
        feats: Iterable[Items] | None = None,
        deps: Iterable[Sequence[tuple[int | str, str]]] | None = None,
        misc: Iterable[Items] | None = None,
        sent_id: str | None = None,
    ) -> "Sentence":
        """Return a copy with new columns; None keeps a column. The sentence itself never changes.

        Columns and errors are as in :meth:`from_words`; ``deps`` has n lists of pairs (head, relation), and
        in ``feats`` and ``misc`` the value None of a dictionary writes its key without ``=``. ``sent_id``: a
        new ID, empty for none. Probabilities of replaced heads, relations or tags are removed from MISC.

        Examples
        --------
        >>> sentence = Sentence.from_words(["Dogs", "bark"], heads=[2, 0])
        >>> sentence.replace(upos=["NOUN", "VERB"], misc=[{"Gloss": "Hunde"}, None])[1].misc
        {'Gloss': 'Hunde'}
        """
        from qsproj.corpus.editing import replaced

        n, rows = len(self), dict[int, tuple[str, ...]]()
        columns = {"deprels": deprels, "upos": upos, "lemmas": lemmas, "xpos": xpos, "feats": feats}
        given = {name: cells for name, cells in columns.items() if cells is not None}
        values: dict[str, Any] = {name: checked_items(name, cells, n) for name, cells in given.items()}
        if heads is not None:
            values["heads"] = frozen_heads(checked_heads(heads, n))
        if sent_id is not None:
            values["sent_id"] = _name(sent_id) or None
        if deps is not None:
            check_type(deps, Iterable, "a list of edges for each word", "deps")
            nodes = {*map(str, range(n + 1)), *(node.id for node in self.empty_nodes)}
            rows[DEPS] = checked_items("deps", [_joined_edges(edges, nodes) for edges in deps], n)
        if misc is not None:
            rows[MISC] = checked_items("misc", misc, n)
        return replaced(self, values, rows)

    @staticmethod
    def from_words(
        forms: Iterable[str],
        *,
        upos: Iterable[str | None] | None = None,
        heads: Iterable[int | None] | None = None,
        deprels: Iterable[str | None] | None = None,
        sent_id: str = "",
        lemmas: Iterable[str | None] | None = None,
        xpos: Iterable[str | None] | None = None,
        feats: Iterable[Items] | None = None,
        misc: Iterable[Items] | None = None,
    ) -> "Sentence":
        """Create a sentence from words and their annotation.

        Raises UsageError when there is no word, a column does not have one cell for each word, a cell is not
        a string, or heads are out of range or form a cycle.

        Parameters
        ----------
        forms : iterable of str
            The n words; a string is refused.
        upos, deprels, lemmas, xpos : iterable of str, optional
            n cells each; None for an unspecified column or cell.
        heads : iterable of int, optional
            The heads of words 1..n, 0 for the root, -1 or None if missing; either n heads, as in CoNLL-U, or
            n + 1 with -1 first, as in ``Sentence.heads``.
        sent_id : str
            The ID; empty for none.
        feats, misc : iterable of str or dict, optional
            n cells each, in CoNLL-U format or as dictionaries; ``SpaceAfter=No`` in MISC: no space follows.

        Examples
        --------
        >>> sentence = Sentence.from_words(["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0])
        >>> sentence.heads.tolist()
        [-1, 2, 0]
        """
        words = words_of(forms)
        if not words:
            raise UsageError("a sentence has no words, expected at least one")
        n = len(words)
        columns = {"upos": upos, "deprels": deprels, "lemmas": lemmas, "xpos": xpos, "feats": feats}
        cells: dict[str, Any] = dict.fromkeys(columns, (UNSPECIFIED,) * n)
        cells |= {name: checked_items(name, own, n) for name, own in columns.items() if own is not None}
        checked = [NO_HEAD] * (n + 1) if heads is None else checked_heads(heads, n)
        made = Sentence(sent_id=_name(sent_id) or None, forms=words, heads=frozen_heads(checked), **cells)
        return made if misc is None else made.replace(misc=misc)


def drawn(value: "Sentence | SentencePair") -> str:
    """Return a drawing as HTML, by the package of a higher layer, hence imported by name."""
    trees: Any = import_module("qsproj.viz.trees")
    html: str = (trees.draw_tree if isinstance(value, Sentence) else trees.draw_pair)(value)._repr_html_()
    return html


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Word alignment of one sentence pair. ROOT-ROOT is implicit; an unlinked word is aligned to NULL.

    ``n_source``, ``n_target``: numbers of words. ``links`` int32[k, 2]: sorted rows [source word, target
    word], both 1-based, no row twice. ``sure`` bool[k]: False for a link annotated as possible only.
    ``weights`` float64[k]: link probabilities, if the aligner gives any. Arrays are read-only.
    """

    n_source: int
    n_target: int
    links: Numbers
    sure: Mask
    weights: Floats | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copying and pickling, with arrays read-only."""
        return _reduced(self)

    @property
    def shares(self) -> Floats:
        """Return the weights of the links, float64[k]; 1 without weights."""
        return np.ones(len(self.links)) if self.weights is None else self.weights


def make_alignment(
    n_source: int,
    n_target: int,
    links: ArrayLike,
    sure: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Alignment:
    """Return an alignment after checking, sorting and deduplicating its links.

    ``links``: int[k, 2], rows [source word, target word], 1-based, in any order. ``sure``: bool[k]; None: all
    are. ``weights``: float[k], probabilities. A repeated link is sure if one is, with the larger weight.
    Raises ValueError for a wrong shape, a word out of range, or a weight that is not a probability.
    """
    rows = np.asarray(links, dtype=np.int32)
    if rows.size and (rows.ndim != 2 or rows.shape[1] != 2):
        raise ValueError(f"links have shape {rows.shape}, expected (k, 2)")
    rows = rows.reshape(-1, 2)
    flags = np.ones(len(rows), dtype=np.bool_) if sure is None else np.asarray(sure, dtype=np.bool_)
    values = np.zeros(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    if flags.shape != (len(rows),) or values.shape != (len(rows),):
        raise ValueError(f"{len(rows)} links have {flags.size} flags and {values.size} weights")
    if len(rows) and (rows.min() < 1 or (rows.max(axis=0) > (n_source, n_target)).any()):
        outside = (rows < 1) | (rows > (n_source, n_target))
        source, target = rows[outside.any(axis=1)][0]
        raise ValueError(f"link {source}-{target} is outside 1..{n_source} by 1..{n_target}")
    if len(values) and not 0.0 <= values.min() <= values.max() <= 1.0:
        raise ValueError("a weight is outside 0..1, expected probabilities")
    codes = rows[:, 0] * np.int64(n_target + 1) + rows[:, 1]
    if not (codes[1:] > codes[:-1]).all():
        codes, first, link = np.unique(codes, return_index=True, return_inverse=True)
        rows = rows[first]
        flags = np.bincount(link, flags) > 0
        heaviest = np.zeros(len(first))
        np.maximum.at(heaviest, link, values)
        values = heaviest
    chances = None if weights is None else _read_only(values)
    return Alignment(n_source, n_target, _read_only(rows), _read_only(flags), chances)


def _reduced(given: Any) -> tuple[Any, ...]:
    """Return what ``__reduce__`` of a dataclass with read-only arrays returns."""
    return _restored, (type(given), {one.name: getattr(given, one.name) for one in fields(given)})


def _restored(kind: type[Any], values: Mapping[str, Any]) -> Any:
    for value in values.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False  # lost in copying and pickling
    return kind(**values)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only copy, so that the caller's array stays writable."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True, slots=True, eq=False)
class SentencePair:
    """A source sentence, its translation, and the word alignment between them.

    ``alignment``: the links, or candidate links to select from. ``hand``: hand-made links for training.
    """

    source: Sentence
    target: Sentence
    alignment: Alignment
    hand: Alignment | None = None

    def _repr_html_(self) -> str:
        return drawn(self)

    def __repr__(self) -> str:
        links = pluralise(len(self.alignment.links), "link")
        return f"<SentencePair {self.source!r} {self.target!r} {links}>"


def likely_links(candidates: Alignment, chances: Floats, threshold: float) -> Alignment:
    """Return the candidate links of probability, float64[k], at least ``threshold``, with it as weight."""
    likely = chances >= threshold
    weights = np.clip(chances[likely], 0.0, 1.0)
    return make_alignment(candidates.n_source, candidates.n_target, candidates.links[likely], weights=weights)


def has_tree(sentence: Sentence) -> bool:
    """Return whether a sentence has a complete or partial tree: at least one head."""
    return bool((sentence.heads != NO_HEAD).any())


def check_sentence(given: object, *, least: int = 0, most: int | None = MAX_WORDS) -> Sentence:
    """Return a Sentence of ``least`` to ``most`` words (None: any number); UsageError for anything else."""
    if not isinstance(given, Sentence):
        remedy = "make one of words: qsproj.Sentence.from_words"
        if isinstance(given, str):
            remedy += "; models of qsproj.bootstrap and qsproj bundle read text: model(text)"
        elif isinstance(given, Iterable) and not isinstance(given, bytes | Mapping):
            remedy += "; several sentences are annotated by model.pipe(sentences)"
        raise WrongTypeError(f"found {described(given)}, expected a Sentence; {remedy}")
    if len(given) < least or (most is not None and len(given) > most):
        raise SentenceLengthError(len(given), MAX_WORDS if most is None else most)
    return given


def _joined_edges(edges: object, nodes: Collection[str]) -> str | None:
    """Return the cell of DEPS for a list of edges (head, relation); UsageError for others."""
    check_type(edges, list | tuple, "a list of edges (head, relation)", "deps of a word")
    for edge in cast("Sequence[object]", edges):
        if not isinstance(edge, tuple | list) or [type(one) for one in edge[1:]] != [str]:
            raise WrongTypeError(f"found {described(edge)} in deps, expected an edge (head, relation)")
        if str(edge[0]) not in nodes or not edge[1] or "|" in edge[1]:
            expected = "a word or empty node of the sentence as head, and a relation without |"
            raise UsageError(f"found the edge {edge} in deps, expected {expected}")
    return "|".join(f"{head}:{relation}" for head, relation in cast("Sequence[Any]", edges)) or None


def checked_items(name: str, cells: Iterable[Items], n: int) -> tuple[str, ...]:
    """Return n cells, ``_`` for unspecified ones; ``name`` is the column in messages."""
    if not isinstance(cells, str | bytes) and isinstance(cells, Iterable):
        known = (UNSPECIFIED if cell is None else cell for cell in cells)
        cells = [_joined(name, cell) if isinstance(cell, Mapping) else cell for cell in known]
    found = words_of(cells, what=name)
    if len(found) != n:
        raise UsageError(f"found {pluralise(len(found), 'cell')} in {name}, expected {n}, one for each word")
    return found


def _joined(name: str, items: Mapping[str, str | None]) -> str:
    for key, value in items.items():
        for part, marks in ((key, "|="), ("" if value is None else value, "|")):
            if not isinstance(part, str) or any(mark in part for mark in marks) or not key:
                expected = "strings without |, keys without ="
                raise UsageError(f"found the item {shown({key: value})} in {name}, expected {expected}")
    return cell_from(items)


def _name(sent_id: object) -> str:
    if not isinstance(sent_id, str) or any(mark in sent_id for mark in "\r\n"):
        error = UsageError if isinstance(sent_id, str) else WrongTypeError
        raise error(f"found {described(sent_id)} as sent_id, expected a string without line ends")
    return sent_id


def checked_heads(heads: Iterable[int | None], n: int) -> list[int]:
    """Return n + 1 heads, with -1 first, from n heads or n + 1; -1 or None if missing."""
    if isinstance(heads, str | bytes) or not isinstance(heads, Iterable):
        raise WrongTypeError(f"found {described(heads)} as heads, expected a list of numbers")
    found = []
    for word, head in enumerate(heads, start=1):
        try:
            found.append(NO_HEAD if head is None else index(head))
        except TypeError:
            raise WrongTypeError(f"found {described(head)} as head {word}, expected a whole number") from None
        if found[-1] < NO_HEAD:
            expected = "0 for the root, -1 where it is missing"
            raise UsageError(f"found {found[-1]} as head {word}, expected {expected}")
    if len(found) == n:
        found.insert(0, NO_HEAD)
    elif len(found) != n + 1 or found[0] != NO_HEAD:
        raise UsageError(f"found {pluralise(len(found), 'head')}, expected {n}, one for each word")
    fault = head_fault([str(head) for head in found[1:]], found)
    if fault is not None:
        raise UsageError(f"found {fault.found}, expected {fault.expected}; {fault.remedy}")
    return found
