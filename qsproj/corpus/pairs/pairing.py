"""Sentences and their translations brought together, with the word alignment between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

from qsproj.corpus.editing import begins_paragraph, comment_value, lines_in
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_alignments, read_sentences
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, check_sentence
from qsproj.corpus.words import described
from qsproj.errors import DataError, UsageError, counted, unknown_name
from qsproj.progress import notice

_IDS = ("parallel_id", "sent_id")
# Of a number of a line.
_MOST_DIGITS = 12
BY_ID, BY_ORDER = PAIRINGS = ("id", "order")


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Two files of sentences and one of their links: sentence pairs, read anew each time they are iterated.

    Attributes
    ----------
    source, target : str
        Files of sentences, paired by :func:`pair_files`.
    alignment : str
        Word links, in the order of the source sentences.
    alignment_format : str
        One that :func:`qsproj.corpus.formats.read_alignments` reads.
    """

    source: str
    target: str
    alignment: str
    alignment_format: str = "pharaoh"
    pairing: str = BY_ID

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield the pairs, one at a time; each file is read once, in step with the others.

        Raises
        ------
        UsageError
            When a file cannot be opened or the format is unknown.
        DataError
            As in :func:`pair_files` and :func:`qsproj.corpus.formats.read_alignments`: links are
            checked against the sentences, and an error names file and line.
        """
        pairs = pair_files(self.source, self.target, pairing=self.pairing)
        return with_links(pairs, self.alignment, self.alignment_format)


def with_links(
    pairs: Iterable[tuple[Sentence, Sentence]], alignment: str, alignment_format: str
) -> Iterator[SentencePair]:
    """Yield sentence pairs with the links of a file, which is read in step with them.

    Raises
    ------
    UsageError, DataError
        As :func:`qsproj.corpus.formats.read_alignments`: links are checked against the sentences.
    """
    current: deque[tuple[Sentence, Sentence]] = deque()

    def sizes() -> Iterator[tuple[int, int]]:
        for source, target in pairs:
            current.append((source, target))
            yield len(source), len(target)

    for links in read_alignments(alignment, alignment_format, sizes()):
        source, target = current.popleft()
        yield SentencePair(source, target, links)


def pair_files(source: str, target: str, *, pairing: str = BY_ID) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield (source, target) as :func:`pair_sentences` does, from files, which an error names, and the line.

    Raises
    ------
    UsageError
        When a file cannot be opened, or the pairing is unknown.
    DataError
        As in :func:`pair_sentences` and :func:`qsproj.corpus.conllu.read_conllu`.
    """
    names = name_of(source), name_of(target)
    return pair_sentences(read_sentences(source), read_sentences(target), names=names, pairing=pairing)


def pair_sentences(
    source_sentences: Iterable[Sentence],
    target_sentences: Iterable[Sentence],
    *,
    names: tuple[str, str] | None = None,
    pairing: str = BY_ID,
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield (source, target) in the order of the source.

    Parameters
    ----------
    source_sentences, target_sentences : iterable of Sentence
        Consumed in step; by id, target sentences that stand earlier than their partners are held in memory
        until these come.
    names : (str, str) or None
        The files of which they are all, for errors; None: these count the sentences of either side.
    pairing : str
        ``id``: the first sentence of either side decides: by ``# parallel_id`` where both have it, else by
        ``sent_id`` where both have it, else by order. ``order``: as they stand, whatever their ids.
        What was a blank line on one side of a text is left out, which :func:`qsproj.progress.notice` tells.

    Raises
    ------
    UsageError
        When the pairing is neither.
    DataError
        At the first sentence without a partner, and at an id that is missing or given twice.
    """
    if pairing not in PAIRINGS:
        raise unknown_name("pairing", pairing, list(PAIRINGS))
    sources, targets = iter(source_sentences), iter(target_sentences)
    first_source, first_target = next(sources, None), next(targets, None)
    source_name, target_name = names or (None, None)
    sides = (
        _Side("source", "target", source_name, _placed(first_source, sources)),
        _Side("target", "source", target_name, _placed(first_target, targets)),
    )
    if pairing == BY_ID and first_source is not None and first_target is not None:
        for key in _IDS:
            if comment_value(first_source, key) and comment_value(first_target, key):
                return _pairs_by_id(*sides, key)
    return _pairs_by_order(*sides)


def pair_aligned(
    source_sentences: Iterable[Sentence],
    target_sentences: Iterable[Sentence],
    alignments: Iterable[Alignment],
) -> Iterator[SentencePair]:
    """Yield sentence pairs with their alignments, one for each pair in the order of the source.

    Parameters
    ----------
    source_sentences, target_sentences : iterable of Sentence
        Paired by :func:`pair_sentences`.
    alignments : iterable of Alignment
        In the order of the source sentences. Sizes may be smaller than the sentences, as they are when a
        file was read without sizes; the pair's alignment has the sizes of its sentences. Words count as in
        CoNLL-U: multiword tokens and empty nodes are not words.

    Raises
    ------
    DataError
        As in :func:`pair_sentences`; when an alignment reaches past its sentences, or their numbers differ.
    """
    pairs = pair_sentences(source_sentences, target_sentences)
    for number, (pair, alignment) in enumerate(zip_longest(pairs, alignments), start=1):
        if pair is None or alignment is None:
            missing = "sentence pair" if pair is None else "alignment"
            raise DataError(
                f"pair {number}",
                None,
                found=f"no {missing}",
                expected="as many alignments as sentence pairs",
                remedy="check that the alignment is that of these files",
            )
        source, target = pair
        yield paired(source, target, alignment, name=f"pair {number} ({_description(source, number)})")


def paired(source: Sentence, target: Sentence, alignment: Alignment, *, name: str = "pair") -> SentencePair:
    """Return two sentences and their links as a pair.

    Parameters
    ----------
    alignment : Alignment
        Its sizes may be smaller than the sentences; the pair's alignment has the sizes of its sentences.
    name : str
        What a message calls the pair.

    Raises
    ------
    DataError
        When the alignment reaches past its sentences.
    UsageError
        When one of the three is of another class.
    """
    for sentence in (source, target):
        check_sentence(sentence, most=None)
    if not isinstance(alignment, Alignment):
        raise UsageError(
            f"found {described(alignment)} as alignment, expected an Alignment; make one: qsproj.align, "
            "qsproj.read_alignments"
        )
    if alignment.n_source > len(source) or alignment.n_target > len(target):
        raise DataError(
            name,
            None,
            found=f"an alignment of {alignment.n_source} by {alignment.n_target} words",
            expected=f"at most {len(source)} by {len(target)}",
            remedy="check that source comes first and that words are counted, not multiword tokens",
        )
    return SentencePair(source, target, _resized(alignment, len(source), len(target)))


class _Place(NamedTuple):
    """Where a sentence stands on its side; numbers and lines count from 1."""

    number: int
    line: int


class _Side(NamedTuple):
    """The sentences of one side, and what errors call it, the other one, and the file."""

    role: str
    other: str
    name: str | None
    sentences: Iterator[tuple[_Place, Sentence]]

    def error(self, place: _Place, *, found: str, expected: str, remedy: str) -> DataError:
        """Build the error of one sentence."""
        if self.name is None:
            name, line = f"{self.role} sentence {place.number}", None
        else:
            name, line = self.name, place.line
        return DataError(name, line, found=found, expected=expected, remedy=remedy)

    def without_partner(self, place: _Place, key: str, value: str) -> DataError:
        """Build the error of a sentence whose id the other side does not have."""
        return self.error(
            place,
            found=f"{key} {value} in the {self.role} only",
            expected=f"it in the {self.other}, too",
            remedy="remove what is on one side only, or pair by order (--pair order)",
        )


def _placed(first: Sentence | None, others: Iterator[Sentence]) -> Iterator[tuple[_Place, Sentence]]:
    line = 1
    for number, sentence in enumerate(others if first is None else chain([first], others), start=1):
        yield _Place(number, line), sentence
        line += lines_in(sentence)


def _pairs_by_order(source_side: _Side, target_side: _Side) -> Iterator[tuple[Sentence, Sentence]]:
    for source, target in zip_longest(source_side.sentences, target_side.sentences):
        if source is None:
            raise _no_more(source_side, target_side, *target)
        if target is None:
            raise _no_more(target_side, source_side, *source)
        yield source[1], target[1]


def _no_more(shorter: _Side, longer: _Side, place: _Place, sentence: Sentence) -> DataError:
    inside = "" if shorter.name is None else f" in {shorter.name}"
    return longer.error(
        place,
        found=f"{_description(sentence, place.number)}, but no more {shorter.role} sentences{inside}",
        expected="a partner of each",
        remedy="check that both hold the same sentences, or give them parallel_id comments",
    )


def _pairs_by_id(source_side: _Side, target_side: _Side, key: str) -> Iterator[tuple[Sentence, Sentence]]:
    source_blanks, target_blanks = BlankLines(), BlankLines()
    keyed_targets = _keyed(target_side, key, target_blanks)
    waiting: dict[str, tuple[_Place, Sentence]] = {}
    left_out = 0
    for place, value, source in _keyed(source_side, key, source_blanks):
        while value not in waiting and value not in target_blanks:
            following = next(keyed_targets, None)
            if following is None:
                raise source_side.without_partner(place, key, value)
            target_place, target_value, target = following
            waiting[target_value] = (target_place, target)
        if value in waiting:
            yield source, waiting.pop(value)[1]
        else:
            left_out += 1
    never_asked_for = ((place, value) for value, (place, _) in waiting.items())
    unread = ((place, value) for place, value, _ in keyed_targets)
    for place, value in chain(never_asked_for, unread):
        if value not in source_blanks:
            raise target_side.without_partner(place, key, value)
        left_out += 1
    tell_left_out(left_out, source_side.name, target_side.name)


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


def _keyed(side: _Side, key: str, blanks: BlankLines) -> Iterator[tuple[_Place, str, Sentence]]:
    """Yield (place, id, sentence), noted among ``blanks``; each must have an id, and no two the same."""
    seen = set[str]()
    for place, sentence in side.sentences:
        value = comment_value(sentence, key)
        if not value:
            raise side.error(
                place,
                found=f"no {key}",
                expected="one, as in the first sentence",
                remedy=f"give every sentence a {key}, or pair by order (--pair order)",
            )
        if value in seen:
            raise side.error(
                place,
                found=f"{key} {value} again",
                expected="each once",
                remedy="join or remove the sentences that share it",
            )
        seen.add(value)
        blanks.note(sentence)
        yield place, value, sentence


def _description(sentence: Sentence, number: int) -> str:
    if sentence.sent_id is None:
        return f"sentence {number}"
    return f"sent_id {sentence.sent_id}"


def _resized(alignment: Alignment, n_source: int, n_target: int) -> Alignment:
    return Alignment(n_source, n_target, alignment.links, alignment.sure, alignment.weights)
