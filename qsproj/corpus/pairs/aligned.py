"""Sentence pairs with the word links between them, from files or from what was read already."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import sentence_from_words
from qsproj.corpus.formats import read_alignments, read_sentences
from qsproj.corpus.pairs.linked import MISC_FORMAT, links_in_misc
from qsproj.corpus.pairs.pairing import BY_ID, pair_files, pair_sentences, sentence_name
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, check_sentence, make_alignment
from qsproj.corpus.words import described
from qsproj.errors import DataError, WrongTypeError


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Two files of sentences and one of their links: sentence pairs, read anew each time they are iterated.

    Attributes
    ----------
    source, target : str
        Files of sentences, paired by :func:`pair_files`.
    alignment : str
        Word links, in the order of the source sentences; or the target itself, where its MISC has them.
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

        Raises UsageError when a file cannot be opened or the format is unknown; DataError as in
        :func:`pair_files` and :func:`qsproj.corpus.formats.read_alignments`: links are checked against the
        sentences, and an error names file and line.
        """
        pairs = pair_files(self.source, self.target, pairing=self.pairing)
        if self.alignment_format == MISC_FORMAT and self.alignment == self.target:
            return self._with_links_of_the_target(pairs)
        return with_links(pairs, self.alignment, self.alignment_format)

    def _with_links_of_the_target(self, pairs: Iterable[tuple[Sentence, Sentence]]) -> Iterator[SentencePair]:
        """Yield pairs with the links that the target has in MISC, whatever its order."""
        for source, target in pairs:
            yield SentencePair(source, target, links_in_misc(target, len(source), name=self.target))


@dataclass(frozen=True, slots=True)
class TargetAlone:
    """The sentences of a file as pairs of which the source tells nothing, read anew each time.

    Attributes
    ----------
    target : str
    """

    target: str

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield the pairs, one at a time.

        Raises UsageError, DataError as :func:`qsproj.corpus.formats.read_sentences`.
        """
        nothing = sentence_from_words([UNSPECIFIED])
        for target in read_sentences(self.target):
            yield SentencePair(nothing, target, make_alignment(len(nothing), len(target), []))


def with_links(
    pairs: Iterable[tuple[Sentence, Sentence]], alignment: str, alignment_format: str
) -> Iterator[SentencePair]:
    """Yield sentence pairs with the links of a file, which is read in step with them.

    Raises UsageError, DataError as :func:`qsproj.corpus.formats.read_alignments`: links are checked against
    the sentences.
    """
    current: deque[tuple[Sentence, Sentence]] = deque()

    def sizes() -> Iterator[tuple[int, int]]:
        for source, target in pairs:
            current.append((source, target))
            yield len(source), len(target)

    for links in read_alignments(alignment, alignment_format, sizes()):
        source, target = current.popleft()
        yield SentencePair(source, target, links)


def pair_aligned(
    source_sentences: Iterable[Sentence],
    target_sentences: Iterable[Sentence],
    alignments: Iterable[Alignment],
) -> Iterator[SentencePair]:
    """Yield sentence pairs with their alignments, one for each pair in the order of the source.

    ``source_sentences``, ``target_sentences``: Paired by :func:`pair_sentences`. ``alignments``: In the order
    of the source sentences. Sizes may be smaller than the sentences, as they are when a file was read without
    sizes; the pair's alignment has the sizes of its sentences. Words count as in CoNLL-U: multiword tokens
    and empty nodes are not words.

    Raises DataError as in :func:`pair_sentences`; when an alignment reaches past its sentences, or their
    numbers differ.
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
        yield paired(source, target, alignment, name=f"pair {number} ({sentence_name(source, number)})")


def paired(source: Sentence, target: Sentence, alignment: Alignment, *, name: str = "pair") -> SentencePair:
    """Return two sentences and their links as a pair.

    ``alignment``: Its sizes may be smaller than the sentences; the pair's alignment has the sizes of its
    sentences. ``name``: What a message calls the pair.

    Raises DataError when the alignment reaches past its sentences; UsageError when one of the three is of
    another class.
    """
    for sentence in (source, target):
        check_sentence(sentence, most=None)
    if not isinstance(alignment, Alignment):
        raise WrongTypeError(
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


def _resized(alignment: Alignment, n_source: int, n_target: int) -> Alignment:
    return Alignment(n_source, n_target, alignment.links, alignment.sure, alignment.weights)
