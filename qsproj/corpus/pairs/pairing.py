"""Pairing of sentences with their translations by ID or by order, skipping blank lines."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from qsproj.corpus.editing import begins_paragraph, comment_value, line_of
from qsproj.corpus.files import name_of
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, check_name, pluralise
from qsproj.progress import notice

_MOST_DIGITS = 12  # of a line number


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
    text = sent_id or ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0


_IDS = ("parallel_id", "sent_id")
_OR_BY_ORDER = ", or pair by order (--pair order)"
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
    precede their sources are buffered. ``order``: by order. Sentences paired with a blank line are skipped
    with a notice, as is another order of targets. Raises DataError at the first sentence without a partner,
    and at a missing or repeated ID.
    """
    check_name("pairing", pairing, PAIRINGS)
    sources, targets = iter(source_sentences), iter(target_sentences)
    first = list(islice(sources, 1)), list(islice(targets, 1))
    source_name, target_name = names or (None, None)
    one, other = (enumerate(chain(*side), start=1) for side in zip(first, (sources, targets), strict=True))
    sides = (
        _Side("source", target_name or "the target", source_name, one),
        _Side("target", source_name or "the source", target_name, other),
    )
    for key in _IDS if pairing == BY_ID else ():
        if all(side and comment_value(side[0], key) for side in first):
            return _pairs_by_id(*sides, key)
    return _pairs_by_order(*sides)


def pair_files(source: str, target: str, *, pairing: str = BY_ID) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield (source, target) of two files as :func:`pair_sentences` does; errors name file and line."""
    names = name_of(source), name_of(target)
    return pair_sentences(read_sentences(source), read_sentences(target), names=names, pairing=pairing)


_Numbered = tuple[int, Sentence]  # a sentence after its number on its side, from 1


class _Side(NamedTuple):
    """The sentences of one side, with the names of both sides and of the file for errors."""

    role: str
    other: str
    name: str | None
    sentences: Iterator[_Numbered]

    def error(self, place: _Numbered, *facts: str) -> DataError:
        """Return an error at a sentence, with what is found and expected and a remedy."""
        if self.name is None:  # from Python, which has no such option
            facts = tuple(fact.removesuffix(_OR_BY_ORDER) for fact in facts)
            return DataError(f"{self.role} sentence {place[0]}", None, *facts)
        return DataError(self.name, line_of(place[1]), *facts)

    def without_partner(self, place: _Numbered, key: str, value: str) -> DataError:
        found, expected = f"{key} {value} in the {self.role} only", f"it in {self.other}, too"
        remedy = f"remove what is on one side only{_OR_BY_ORDER}"
        return self.error(place, found, expected, remedy)


def _pairs_by_order(source_side: _Side, target_side: _Side) -> Iterator[tuple[Sentence, Sentence]]:
    for source, target in zip_longest(source_side.sentences, target_side.sentences):
        if source is None or target is None:
            longer, shorter = (target_side, source_side) if source is None else (source_side, target_side)
            place = source or target
            inside = "" if shorter.name is None else f" in {shorter.name}"
            found = f"{sentence_name(place[1], place[0])}, but no more {shorter.role} sentences{inside}"
            remedy = "check that both hold the same sentences, or give them parallel_id comments"
            raise longer.error(place, found, "a partner of each", remedy)
        yield source[1], target[1]


def _pairs_by_id(source_side: _Side, target_side: _Side, key: str) -> Iterator[tuple[Sentence, Sentence]]:
    source_blanks, target_blanks = BlankLines(), BlankLines()
    keyed_targets = _keyed(target_side, key, target_blanks)
    waiting: dict[str, tuple[str, _Numbered]] = {}
    left_out, last, reordered = 0, 0, False
    for value, place in _keyed(source_side, key, source_blanks):
        while value not in waiting and value not in target_blanks:
            following = next(keyed_targets, None)
            if following is None:
                raise source_side.without_partner(place, key, value)
            waiting[following[0]] = following
        if value in waiting:
            _, (number, target) = waiting.pop(value)
            reordered, last = reordered or number < last, number
            yield place[1], target
        else:
            left_out += 1
    for value, place in chain(waiting.values(), keyed_targets):
        if value not in source_blanks:
            raise target_side.without_partner(place, key, value)
        left_out += 1
    report_left_out(left_out, source_side.name, target_side.name)
    if reordered:
        order = f"its sentences are in another order than those of {target_side.other}"
        notice(f"{source_side.other}: {order}; pairs are in the order of the source")


def _keyed(side: _Side, key: str, blanks: BlankLines) -> Iterator[tuple[str, _Numbered]]:
    """Yield sentences after their IDs, noting blank lines in ``blanks``; IDs must be present and unique."""
    seen = set[str]()
    for place in side.sentences:
        value = comment_value(place[1], key)
        if not value:
            remedy = f"give every sentence a {key}{_OR_BY_ORDER}"
            raise side.error(place, f"no {key}", "one, as in the first sentence", remedy)
        if value in seen:
            remedy = f"remove the sentences that share it{_OR_BY_ORDER}"
            raise side.error(place, f"{key} {value} again", "each once", remedy)
        seen.add(value)
        blanks.note(place[1])
        yield value, place


def sentence_name(sentence: Sentence, number: int) -> str:
    """Return the name of a sentence for messages: its ID, or else its number."""
    return f"sentence {number}" if sentence.sent_id is None else f"sent_id {sentence.sent_id}"
