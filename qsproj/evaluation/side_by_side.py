"""Files of the same sentences and words, read side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from qsproj.corpus.editing import lines_in
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.words import first_difference
from qsproj.errors import DataError


class WordsDifferError(DataError):
    """Two files do not hold the same words; they may hold the same text, cut into words differently."""


def side_by_side(
    gold: Iterable[Sentence], systems: Sequence[Iterable[Sentence]], names: Sequence[str]
) -> Iterator[tuple[Sentence, list[Sentence]]]:
    """Yield each gold sentence with the systems' sentences of the same words; all files are read once.

    ``gold``, ``systems``: As :func:`~qsproj.evaluation.attachment.attachment_scores` takes them. ``names``:
    What error messages call the gold file and then each system's file.

    Raises WordsDifferError where a system's words are not the gold ones; names the first difference;
    DataError where a system has more or fewer sentences.
    """
    lines = [1] * len(names)
    for number, row in enumerate(zip_longest(gold, *systems), start=1):
        if row[0] is None:
            first = next(index for index, sentence in enumerate(row) if sentence is not None)
            raise _lengths_differ(names[0], names[first], number)
        for name, line, sentence in zip(names[1:], lines[1:], row[1:]):
            if sentence is None:
                raise _lengths_differ(name, names[0], number)
            if sentence.forms != row[0].forms:
                place = (name, line if sentence.layout else None)
                raise _words_differ(place, sentence, row[0], names[0], number)
        yield row[0], list(row[1:])
        lines = [line + lines_in(sentence) for line, sentence in zip(lines, row)]


def _lengths_differ(shorter: str, longer: str, number: int) -> DataError:
    return DataError(
        shorter,
        None,
        found=f"no sentence {number}",
        expected=f"one as in {longer}",
        remedy="score files of the same sentences",
    )


def _words_differ(
    place: tuple[str, int | None], system: Sentence, gold: Sentence, gold_name: str, number: int
) -> WordsDifferError:
    word, expected, found = first_difference(gold.forms, system.forms)
    sentence = f"sentence {number}" + (f" ({gold.sent_id})" if gold.sent_id else "")
    return WordsDifferError(
        *place,
        found=f"{found} as word {word} of {sentence}",
        expected=f"{expected} as in {gold_name}",
        remedy="score files of the same words",
    )
