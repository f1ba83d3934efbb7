"""Sentences and their translations brought together, with the word alignment between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

from qsproj.corpus.editing import comment_value, lines_in
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_alignments, read_sentences
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, check_sentence
from qsproj.corpus.words import described
from qsproj.errors import DataError, UsageError, unknown_name

_IDS = ("parallel_id", "sent_id")
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
    keyed_targets = _keyed(target_side, key)
    waiting: dict[str, tuple[_Place, Sentence]] = {}
    for place, value, source in _keyed(source_side, key):
        while value not in waiting:
            following = next(keyed_targets, None)
            if following is None:
                raise source_side.without_partner(place, key, value)
            target_place, target_value, target = following
            waiting[target_value] = (target_place, target)
        yield source, waiting.pop(value)[1]
    never_asked_for = ((place, value) for value, (place, _) in waiting.items())
    unread = ((place, value) for place, value, _ in keyed_targets)
    for place, value in chain(never_asked_for, unread):
        raise target_side.without_partner(place, key, value)


def _keyed(side: _Side, key: str) -> Iterator[tuple[_Place, str, Sentence]]:
    """Yield (place, id, sentence); every sentence must have an id, and no two the same."""
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
        yield place, value, sentence


def _description(sentence: Sentence, number: int) -> str:
    if sentence.sent_id is None:
        return f"sentence {number}"
    return f"sent_id {sentence.sent_id}"


def _resized(alignment: Alignment, n_source: int, n_target: int) -> Alignment:
    return Alignment(n_source, n_target, alignment.links, alignment.sure, alignment.weights)
