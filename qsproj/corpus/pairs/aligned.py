"""Sentence pairs with the word links between them, from files or from what was read already.

Either side is CoNLL-U, or the target is plain text, one sentence a line. A bitext often has links by hand for
its first pairs only.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import lines_in
from qsproj.corpus.files import name_of, open_text
from qsproj.corpus.formats import read_alignments, read_sentences
from qsproj.corpus.messages import described, first_difference
from qsproj.corpus.pairs.linked import MISC_FORMAT, links_in_misc
from qsproj.corpus.pairs.pairing import (
    BY_ID,
    BlankLines,
    pair_files,
    pair_sentences,
    sentence_name,
    tell_left_out,
)
from qsproj.corpus.pairs.token_links import TokenCounts, over_words, sizes_in, token_sides
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, check_sentence, make_alignment
from qsproj.corpus.text import is_blank, tokenize
from qsproj.errors import DataError, UsageError, WrongTypeError, pluralise


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Files of sentences and of their links: sentence pairs, read anew each time they are iterated."""

    source: str
    target: str
    # In the order of the source sentences; or the target itself, where its MISC has the links; or None: both
    # files are of one text, whose words are linked to themselves.
    alignment: str | None
    alignment_format: str = "pharaoh"
    pairing: str = BY_ID

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield the pairs; the files are read in step, and links are checked against the sentences."""
        pairs = pair_files(self.source, self.target, pairing=self.pairing)
        if self.alignment_format == MISC_FORMAT and self.alignment == self.target:
            # The links that the target has in MISC, whatever its order.
            return (
                SentencePair(source, target, links_in_misc(target, len(source), name=self.target))
                for source, target in pairs
            )
        return with_links(pairs, self.alignment, self.alignment_format, name=name_of(self.source))


@dataclass(frozen=True, slots=True)
class TargetAlone:
    """The sentences of a file as pairs of which the source tells nothing, read anew each time."""

    target: str

    def __iter__(self) -> Iterator[SentencePair]:
        nothing = Sentence.from_words([UNSPECIFIED])
        for target in read_sentences(self.target):
            yield SentencePair(nothing, target, make_alignment(len(nothing), len(target), []))


def with_links(
    pairs: Iterable[tuple[Sentence, Sentence]],
    alignment: str | None,
    alignment_format: str,
    *,
    name: str = "pair",
) -> Iterator[SentencePair]:
    """Yield sentence pairs with the links of a file, which is read, and checked, in step with them.

    None: each word of a text in two styles is linked to itself; ``name`` is the source for messages.
    ``alignment_format``: where ``:tokens``, ``:source-tokens`` or ``:target-tokens`` follows its name, links
    count tokens, and are spread over their words.
    """
    if alignment is None:
        line = 1
        for source, target in pairs:
            yield paired(source, target, None, name=name, line=line)
            line += lines_in(source)
        return
    current: deque[tuple[Sentence, Sentence]] = deque()
    format, by_tokens = token_sides(alignment_format)
    counts = TokenCounts(name_of(alignment))

    def sizes() -> Iterator[tuple[int, int]]:
        for pair in pairs:
            current.append(pair)
            yield sizes_in(pair, by_tokens)

    for links in read_alignments(alignment, format, sizes()):
        pair = current.popleft()
        if any(by_tokens):
            links = over_words(links, pair, by_tokens)
        else:
            counts.add(pair, links)
        yield SentencePair(*pair, links)
    counts.note()


def pair_aligned(
    source_sentences: Iterable[Sentence],
    target_sentences: Iterable[Sentence],
    alignments: Iterable[Alignment] | None,
) -> Iterator[SentencePair]:
    """Yield sentence pairs with their alignments, one for each pair in the order of the source.

    Sizes of an alignment may be smaller than the sentences, as they are when a file was read without sizes;
    the pair's has those of its sentences. None: both sides are one text, word by word. Raises DataError as
    :func:`pair_sentences`; when an alignment reaches past its sentences, or their numbers differ; where words
    of one text differ.
    """
    pairs = pair_sentences(source_sentences, target_sentences)
    if alignments is None:
        for number, (source, target) in enumerate(pairs, start=1):
            yield paired(source, target, None, name=f"pair {number}")
        return
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


def paired(
    source: Sentence,
    target: Sentence,
    alignment: Alignment | None,
    *,
    name: str = "pair",
    line: int | None = None,
) -> SentencePair:
    """Return two sentences and their links, None: of each word to itself, as a pair.

    ``name`` and ``line`` are what a message calls it. Raises DataError when the alignment reaches past its
    sentences, or when there is none and their words differ; UsageError when one of the three is of another
    class.
    """
    for sentence in (source, target):
        check_sentence(sentence, most=None)
    if alignment is None:
        check_same_words(source, target, name, line, remedy="give the alignment of two languages")
        words = np.arange(1, len(source) + 1)
        links = np.stack([words, words], axis=1)
        alignment = make_alignment(len(source), len(target), links, weights=np.ones(len(source)))
    if not isinstance(alignment, Alignment):
        raise WrongTypeError(
            f"found {described(alignment)} as alignment, expected an Alignment; make one: qsproj.align, "
            "qsproj.read_alignments"
        )
    if alignment.n_source > len(source) or alignment.n_target > len(target):
        raise DataError(
            name,
            line,
            found=f"an alignment of {alignment.n_source} by {alignment.n_target} words",
            expected=f"at most {len(source)} by {len(target)}",
            remedy="check that source comes first and that words are counted, not multiword tokens",
        )
    return SentencePair(
        source,
        target,
        Alignment(len(source), len(target), alignment.links, alignment.sure, alignment.weights),
    )


def check_same_words(
    source: Sentence,
    target: Sentence,
    name: str,
    line: int | None,
    *,
    remedy: str = "leave out sentences that are tokenised differently",
) -> None:
    """Raise DataError, at this place, unless two sentences are one, in two styles."""
    if source.forms == target.forms:
        return
    number, source_word, target_word = first_difference(source.forms, target.forms)
    inside = f" of sent_id {source.sent_id}" if source.sent_id else ""
    raise DataError(
        name,
        line,
        found=f"word {number} {source_word}{inside} in the source and {target_word} in the target",
        expected="the same words in both styles",
        remedy=remedy,
    )


def with_hand_alignments(
    pairs: Sequence[SentencePair], path: str, format: str = "pharaoh"
) -> list[SentencePair]:
    """Return the pairs, the first of them with links by hand, as many as a file says."""
    sizes = [(len(pair.source), len(pair.target)) for pair in pairs]
    hand = read_hand_alignments(path, format, sizes=sizes)
    by_hand = [replace(pair, hand=links) for pair, links in zip(pairs, hand)]
    return [*by_hand, *pairs[len(hand) :]]


def read_hand_alignments(
    path: str, format: str = "pharaoh", *, sizes: Sequence[tuple[int, int]]
) -> list[Alignment]:
    """Return the alignments of the first pairs of a bitext, as many as a file has; it is read twice.

    ``sizes``: numbers of source and target words of each pair of the bitext. Raises DataError as
    :func:`~qsproj.corpus.formats.read_alignments`, and when there is no pair, or no link at all.
    """
    if path == "-":
        raise UsageError("hand alignments are read twice and cannot be - (standard input); name a file")
    count = sum(1 for _ in read_alignments(path, format))
    if not count:
        raise DataError(path, 1, "no alignment", "those of the first pairs", "check the file")
    alignments = list(read_alignments(path, format, sizes[:count]))
    if not any(len(alignment.links) for alignment in alignments):
        raise DataError(
            path, None, f"no link in {pluralise(count, 'alignment')}", "links by hand", "check the file"
        )
    return alignments


def pair_with_text(
    trees: str, text: str, *, language: str | None = None
) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    """Yield each sentence of a CoNLL-U file with the words of its line of text, none for a blank line.

    Where the sentences are of text that was tagged, its blank lines are left out of the other text, too, and
    that is told. ``language``: by which text is cut into words; None: at white space. Raises DataError when
    there are not as many sentences as lines.
    """
    tree_line, number, left_out, blanks = 1, 0, 0, BlankLines()
    with open_text(text) as handle:
        lines = enumerate(handle, start=1)
        for number, sentence in enumerate(read_sentences(trees), start=1):
            left_out += sum(1 for _, line in islice(lines, blanks.note(sentence)) if not is_blank(line))
            _, line = next(lines, (0, None))
            if line is None:
                raise _without_partner(trees, tree_line, number, text)
            yield sentence, tuple(tokenize(line, language) if language else line.split())
            tree_line += lines_in(sentence)
        for place, line in lines:
            if not is_blank(line):
                raise _without_partner(text, place, number + 1, trees)
    tell_left_out(left_out, trees, text)


def _without_partner(longer: str, line: int, number: int, shorter: str) -> DataError:
    return DataError(
        name_of(longer),
        line,
        found=f"sentence {number}, but only {number - 1} in {name_of(shorter)}",
        expected="as many on either side",
        remedy="check that both hold the same sentences, in the same order",
    )


@dataclass(frozen=True, slots=True)
class AlignedText:
    """Sentence pairs whose target is text, paired by order; read anew each time they are iterated."""

    source: str
    target: str  # a line for each sentence of the source; pairs with a blank one are left out
    alignment: str
    alignment_format: str = "pharaoh"
    language: str | None = None  # by which the text is cut into words; None: at white space

    def __iter__(self) -> Iterator[SentencePair]:
        blank: deque[bool] = deque()

        def pairs() -> Iterator[tuple[Sentence, Sentence]]:
            for source, words in pair_with_text(self.source, self.target, language=self.language):
                blank.append(not words)
                # Stands for a side that has no word until its links, none, are read.
                yield source, Sentence.from_words(words or [UNSPECIFIED])

        left_out = 0
        for pair in with_links(pairs(), self.alignment, self.alignment_format):
            if blank.popleft():
                left_out += 1
            else:
                yield pair
        tell_left_out(left_out, self.target)
