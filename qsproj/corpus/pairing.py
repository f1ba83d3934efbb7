"""Sentences and their translations brought together, with the word alignment between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

from qsproj.corpus.alignments import read_alignments
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import comment_value
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import DataError

_IDS = ("parallel_id", "sent_id")


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Two files of sentences and one of their links: sentence pairs, read anew each time they are iterated.

    Attributes
    ----------
    source, target : str
        CoNLL-U, paired by :func:`pair_sentences`.
    alignment : str
        Word links, in the order of the source sentences.
    alignment_format : str
        One that :func:`qsproj.corpus.alignments.read_alignments` reads.
    """

    source: str
    target: str
    alignment: str
    alignment_format: str = "pharaoh"

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield the pairs, one at a time; each file is read once, in step with the others.

        Raises
        ------
        UsageError
            When a file cannot be opened or the format is unknown.
        DataError
            As in :func:`pair_sentences` and :func:`qsproj.corpus.alignments.read_alignments`: links are
            checked against the sentences, and an error names file and line.
        """
        current: deque[tuple[Sentence, Sentence]] = deque()

        def sizes() -> Iterator[tuple[int, int]]:
            for source, target in pair_sentences(read_conllu(self.source), read_conllu(self.target)):
                current.append((source, target))
                yield len(source), len(target)

        for alignment in read_alignments(self.alignment, self.alignment_format, sizes()):
            source, target = current.popleft()
            yield SentencePair(source, target, alignment)


def pair_sentences(
    source_sentences: Iterable[Sentence], target_sentences: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield (source, target) in the order of the source.

    The first sentence of either side decides how: by ``# parallel_id`` where both have it, else by
    ``sent_id`` where both have it, else by order.

    Parameters
    ----------
    source_sentences, target_sentences : iterable of Sentence
        Consumed in step; by id, target sentences that stand earlier than their partners are held in memory
        until these come.

    Raises
    ------
    DataError
        At the first sentence without a partner, and at an id that is missing or given twice.
    """
    sources, targets = iter(source_sentences), iter(target_sentences)
    first_source, first_target = next(sources, None), next(targets, None)
    if first_source is not None:
        sources = chain([first_source], sources)
    if first_target is not None:
        targets = chain([first_target], targets)
    if first_source is not None and first_target is not None:
        for key in _IDS:
            if comment_value(first_source, key) and comment_value(first_target, key):
                return _pairs_by_id(sources, targets, key)
    return _pairs_by_order(sources, targets)


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
        if alignment.n_source > len(source) or alignment.n_target > len(target):
            raise DataError(
                f"pair {number} ({_description(source, number)})",
                None,
                found=f"an alignment of {alignment.n_source} by {alignment.n_target} words",
                expected=f"at most {len(source)} by {len(target)}",
                remedy="check that source comes first and that words are counted, not multiword tokens",
            )
        yield SentencePair(source, target, _resized(alignment, len(source), len(target)))


def _pairs_by_order(
    sources: Iterator[Sentence], targets: Iterator[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
    for number, (source, target) in enumerate(zip_longest(sources, targets), start=1):
        if source is None or target is None:
            side, other = ("source", "target") if source is None else ("target", "source")
            raise DataError(
                f"pair {number}",
                None,
                found=f"no {side} sentence",
                expected=f"a partner of {_description(source or target, number)} of the {other}",
                remedy="check that both hold the same sentences, or give them parallel_id comments",
            )
        yield source, target


def _pairs_by_id(
    sources: Iterator[Sentence], targets: Iterator[Sentence], key: str
) -> Iterator[tuple[Sentence, Sentence]]:
    keyed_targets = _keyed(targets, key, "target")
    waiting: dict[str, tuple[int, Sentence]] = {}
    for number, value, source in _keyed(sources, key, "source"):
        while value not in waiting:
            following = next(keyed_targets, None)
            if following is None:
                raise _without_partner(number, key, value, "source", "target")
            target_number, target_value, target = following
            waiting[target_value] = (target_number, target)
        yield source, waiting.pop(value)[1]
    never_asked_for = ((number, value) for value, (number, _) in waiting.items())
    unread = ((number, value) for number, value, _ in keyed_targets)
    for number, value in chain(never_asked_for, unread):
        raise _without_partner(number, key, value, "target", "source")


def _keyed(sentences: Iterator[Sentence], key: str, side: str) -> Iterator[tuple[int, str, Sentence]]:
    """Yield (number, id, sentence); every sentence must have an id, and no two the same."""
    seen = set[str]()
    for number, sentence in enumerate(sentences, start=1):
        value = comment_value(sentence, key)
        if not value:
            raise DataError(
                f"{side} sentence {number}",
                None,
                found=f"no {key}",
                expected="one, as in the first sentence",
                remedy=f"give every sentence a {key}, or none to pair by order",
            )
        if value in seen:
            raise DataError(
                f"{side} sentence {number}",
                None,
                found=f"{key} {value} again",
                expected="each once",
                remedy="join or remove the sentences that share it",
            )
        seen.add(value)
        yield number, value, sentence


def _without_partner(number: int, key: str, value: str, side: str, other: str) -> DataError:
    return DataError(
        f"{side} sentence {number}",
        None,
        found=f"{key} {value} in the {side} only",
        expected=f"it in the {other}, too",
        remedy=f"remove what is on one side only, or the {key} comments to pair by order",
    )


def _description(sentence: Sentence | None, number: int) -> str:
    if sentence is None or sentence.sent_id is None:
        return f"sentence {number}"
    return f"sent_id {sentence.sent_id}"


def _resized(alignment: Alignment, n_source: int, n_target: int) -> Alignment:
    return Alignment(n_source, n_target, alignment.links, alignment.sure, alignment.weights)
