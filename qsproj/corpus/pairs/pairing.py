"""Pairing of sentences with their translations by ID or by order, skipping blank lines."""

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import NamedTuple

from qsproj.corpus.editing import at_lines, begins_paragraph, comment_value
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, check_name, pluralise
from qsproj.progress import notice

# Maximum digits of a line number.
_MOST_DIGITS = 12


def report_left_out(pairs: int, *names: str | None) -> None:
    """Report how many pairs were skipped for a blank line in one of two files."""
    if pairs:
        files = " or ".join(name for name in names if name) or "a side"
        notice(f"{pluralise(pairs, 'pair')} left out: a line is blank in {files}")


class BlankLines:
    """Blank lines of a text, inferred from ``sent_id`` and ``# newpar`` of its sentences. Mutable; final."""

    def __init__(self) -> None:
        self._last = 0
        self._gaps: list[tuple[int, int]] = []

    def note(self, sentence: Sentence) -> int:
        """Note the next sentence; return the number of blank lines before it."""
        number, last = _line_number(sentence.sent_id), self._last
        self._last = number
        if number <= last + 1 or not begins_paragraph(sentence):
            return 0
        self._gaps.append((last, number))
        return number - last - 1

    def __contains__(self, sent_id: str) -> bool:
        number = _line_number(sent_id)
        return any(last < number < following for last, following in self._gaps)


def _line_number(sent_id: str | None) -> int:
    if sent_id is None or len(sent_id) > _MOST_DIGITS or not (sent_id.isascii() and sent_id.isdecimal()):
        return 0
    return int(sent_id)


_IDS = ("parallel_id", "sent_id")
BY_ID, BY_ORDER = PAIRINGS = ("id", "order")


def pair_sentences(
    source_sentences: Iterable[Sentence],
    target_sentences: Iterable[Sentence],
    *,
    names: tuple[str, str] | None = None,
    pairing: str = BY_ID,
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield (source, target) in source order, consuming both in parallel.

    ``names``: the complete files of both sides, for errors. ``pairing``: ``id``: by ``# parallel_id`` if the
    first sentences of both sides have it, else by ``sent_id`` if both have it, else by order; targets that
    precede their sources are buffered. ``order``: by order. Sentences paired with a blank line of the other
    side are skipped with a notice. Raises DataError at the first sentence without a partner, and at a missing
    or repeated ID.
    """
    check_name("pairing", pairing, PAIRINGS)
    sources, targets = iter(source_sentences), iter(target_sentences)
    first_source, first_target = next(sources, None), next(targets, None)
    source_name, target_name = names or (None, None)
    sides = (
        _Side("source", target_name or "the target", source_name, _placed(first_source, sources)),
        _Side("target", source_name or "the source", target_name, _placed(first_target, targets)),
    )
    if pairing == BY_ID and first_source is not None and first_target is not None:
        for key in _IDS:
            if comment_value(first_source, key) and comment_value(first_target, key):
                return _pairs_by_id(*sides, key)
    return _pairs_by_order(*sides)


def pair_files(source: str, target: str, *, pairing: str = BY_ID) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield (source, target) of two files as :func:`pair_sentences` does; errors name file and line."""
    names = name_of(source), name_of(target)
    return pair_sentences(read_sentences(source), read_sentences(target), names=names, pairing=pairing)


class _Place(NamedTuple):
    """Position of a sentence on its side; numbers and lines count from 1."""

    number: int
    line: int


class _Side(NamedTuple):
    """The sentences of one side, with the names of both sides and of the file for errors."""

    role: str
    other: str
    name: str | None
    sentences: Iterator[tuple[_Place, Sentence]]

    def error(self, place: _Place, *, found: str, expected: str, remedy: str) -> DataError:
        if self.name is None:
            name, line = f"{self.role} sentence {place.number}", None
        else:
            name, line = self.name, place.line
        return DataError(name, line, found, expected, remedy)

    def without_partner(self, place: _Place, key: str, value: str) -> DataError:
        found, expected = f"{key} {value} in the {self.role} only", f"it in {self.other}, too"
        remedy = "remove what is on one side only, or pair by order (--pair order)"
        return self.error(place, found=found, expected=expected, remedy=remedy)


def _placed(first: Sentence | None, others: Iterator[Sentence]) -> Iterator[tuple[_Place, Sentence]]:
    sentences = others if first is None else chain([first], others)
    for number, (line, sentence) in enumerate(at_lines(sentences), start=1):
        yield _Place(number, line), sentence


def _pairs_by_order(source_side: _Side, target_side: _Side) -> Iterator[tuple[Sentence, Sentence]]:
    for source, target in zip_longest(source_side.sentences, target_side.sentences):
        if source is None:
            raise _no_more(source_side, target_side, *target)
        if target is None:
            raise _no_more(target_side, source_side, *source)
        yield source[1], target[1]


def _no_more(shorter: _Side, longer: _Side, place: _Place, sentence: Sentence) -> DataError:
    inside = "" if shorter.name is None else f" in {shorter.name}"
    found = f"{sentence_name(sentence, place.number)}, but no more {shorter.role} sentences{inside}"
    expected = "a partner of each"
    remedy = "check that both hold the same sentences, or give them parallel_id comments"
    return longer.error(place, found=found, expected=expected, remedy=remedy)


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
    report_left_out(left_out, source_side.name, target_side.name)


def _keyed(side: _Side, key: str, blanks: BlankLines) -> Iterator[tuple[_Place, str, Sentence]]:
    """Yield (place, ID, sentence), noting blank lines in ``blanks``; IDs must be present and unique."""
    seen = set[str]()
    for place, sentence in side.sentences:
        value = comment_value(sentence, key)
        if not value:
            found, expected = f"no {key}", "one, as in the first sentence"
            remedy = f"give every sentence a {key}, or pair by order (--pair order)"
            raise side.error(place, found=found, expected=expected, remedy=remedy)
        if value in seen:
            found, expected = f"{key} {value} again", "each once"
            remedy = "join or remove the sentences that share it"
            raise side.error(place, found=found, expected=expected, remedy=remedy)
        seen.add(value)
        blanks.note(sentence)
        yield place, value, sentence


def sentence_name(sentence: Sentence, number: int) -> str:
    """Return the name of a sentence for messages: its ID, or else its number."""
    if sentence.sent_id is None:
        return f"sentence {number}"
    return f"sent_id {sentence.sent_id}"
