"""Sentence pairs with word links, from files or from sentences in memory.

Both sides are CoNLL-U, or the target is text, a sentence a line. Often only the first pairs have hand links.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product, repeat

import numpy as np

from qsproj.corpus.alignments import MISC_FORMAT, links_in_misc, naming_option, note_links
from qsproj.corpus.bitext import checked_side
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.contractions import tokens_of
from qsproj.corpus.editing import line_of
from qsproj.corpus.files import BYTE_ORDER_MARK, name_of, open_text
from qsproj.corpus.formats import ALIGNMENTS, names_of, read_alignments, read_sentences
from qsproj.corpus.messages import check_type, first_difference
from qsproj.corpus.pairs.pairing import (
    BY_ID,
    BlankLines,
    pair_files,
    pair_sentences,
    report_left_out,
    sentence_name,
)
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, check_sentence, make_alignment
from qsproj.corpus.text import is_blank, written_words
from qsproj.errors import DataError, UsageError, check_name, pluralise
from qsproj.progress import notice


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """Sentence pairs from files of sentences and links, read again at each iteration."""

    source: str
    target: str
    # in source order, or the target itself, with links in MISC; None: one text, each word linked to itself
    alignment: str | None
    alignment_format: str = "pharaoh"
    pairing: str = BY_ID

    def __post_init__(self) -> None:
        check_name("alignment format", token_sides(self.alignment_format)[0], names_of(ALIGNMENTS))

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield the pairs, reading the files in parallel and checking links against the sentences."""
        pairs = pair_files(self.source, self.target, pairing=self.pairing)
        if self.alignment_format != MISC_FORMAT or self.alignment != self.target:
            return with_links(pairs, self.alignment, self.alignment_format, name=name_of(self.source))
        # Links in MISC of the target, in any order of sentences.
        return self._with_links_in_misc(pairs)

    def _with_links_in_misc(self, pairs: Iterable[tuple[Sentence, Sentence]]) -> Iterator[SentencePair]:
        links = 0
        for source, target in pairs:
            alignment = links_in_misc(target, len(source), name=self.target)
            links += len(alignment.links)
            yield SentencePair(source, target, alignment)
        note_links(links, self.target)


@dataclass(frozen=True, slots=True)
class TargetAlone:
    """Sentences of a file as pairs without source information, read again at each iteration."""

    target: str

    def __iter__(self) -> Iterator[SentencePair]:
        nothing = Sentence.from_words([UNSPECIFIED])
        for target in read_sentences(self.target):
            yield SentencePair(nothing, target, make_alignment(len(nothing), len(target), []))


def with_links(
    pairs: Iterable[tuple[Sentence, Sentence]], alignment: str | None, format: str, *, name: str = "pair"
) -> Iterator[SentencePair]:
    """Yield sentence pairs with the links of a file, which is read and checked in parallel.

    None: the sides are one text in two styles, with each word linked to itself. ``name``: source in messages.
    ``format``: with ``:tokens``, ``:source-tokens`` or ``:target-tokens``, links count tokens and hold for
    all their words.
    """
    if alignment is None:
        for source, target in pairs:
            yield paired(source, target, None, name=name, line=line_of(source))
        return
    current: deque[tuple[Sentence, Sentence]] = deque()
    format, by_tokens = token_sides(format)
    counts = TokenCounts()

    def sizes() -> Iterator[tuple[int, int]]:
        for pair in pairs:
            current.append(pair)
            counted = zip(pair, by_tokens, strict=True)
            source, target = (len(tokens_of(one)) if tokens else len(one) for one, tokens in counted)
            yield source, target

    for links in read_alignments(alignment, format, sizes()):
        pair = current.popleft()
        if any(by_tokens):
            links = over_words(links, pair, by_tokens)
        else:
            counts.add(pair, links)
        yield SentencePair(*pair, links)
    counts.note(name_of(alignment))


def pair_aligned(
    sources: Iterable[Sentence], targets: Iterable[Sentence], alignments: Iterable[Alignment] | None
) -> Iterator[SentencePair]:
    """Yield sentence pairs with their alignments, as many in source order; None: both sides are one text."""
    pairs = enumerate(pair_sentences(sources, targets), start=1)
    links = repeat(None) if alignments is None else alignments
    for (number, (source, target)), alignment in zip(pairs, links):
        yield paired(source, target, alignment, name=f"pair {number} ({sentence_name(source, number)})")


def paired(
    source: Sentence,
    target: Sentence,
    alignment: Alignment | None,
    *,
    name: str = "pair",
    line: int | None = None,
) -> SentencePair:
    """Return a pair of two sentences and their links, None for each word linked to itself."""
    for sentence in (source, target):
        check_sentence(sentence, most=None)
    n_source, n_target = len(source), len(target)
    if alignment is None:
        check_same_words(source, target, name, line, "give the alignment of two languages")
        rows = np.arange(1, n_source + 1)[:, None].repeat(2, axis=1)
        alignment = make_alignment(n_source, n_target, rows, weights=np.ones(n_source))
    expected = "an Alignment; make one: qsproj.align, qsproj.read_alignments"
    check_type(alignment, Alignment, expected, "alignment")
    if alignment.n_source > n_source or alignment.n_target > n_target:
        found = f"an alignment of {alignment.n_source} by {alignment.n_target} words"
        remedy = "check that source comes first and that words are counted, not multiword tokens"
        raise DataError(name, line, found, f"at most {n_source} by {n_target}", remedy)
    try:
        links = make_alignment(n_source, n_target, alignment.links, alignment.sure, alignment.weights)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name}: {error}; links are pairs of words, which count from 1") from None
    return SentencePair(source, target, links)


def check_same_words(source: Sentence, target: Sentence, name: str, line: int | None, remedy: str) -> None:
    """Raise DataError with this location and remedy unless two sentences have the same words."""
    if source.forms != target.forms:
        number, source_word, target_word = first_difference(source.forms, target.forms)
        inside = f" of sent_id {source.sent_id}" if source.sent_id else ""
        found = f"word {number} {source_word}{inside} in the source and {target_word} in the target"
        raise DataError(name, line, found, "the same words in both styles", remedy)


def with_hand_alignments(pairs: Sequence[SentencePair], path: str, format: str) -> list[SentencePair]:
    """Return the pairs, the first ones with the hand-made links of a file."""
    sizes = [(len(pair.source), len(pair.target)) for pair in pairs]
    hand = read_hand_alignments(path, format, sizes=sizes)
    return [replace(pair, hand=links) for pair, links in zip(pairs, chain(hand, repeat(None)))]


@naming_option("--hand-alignment-format")
def read_hand_alignments(path: str, format: str, *, sizes: Sequence[tuple[int, int]]) -> list[Alignment]:
    """Return the alignments of the first pairs of a bitext from a file, which is read twice."""
    if path == "-":
        raise UsageError("hand alignments are read twice and cannot be - (standard input); name a file")
    count = sum(1 for _ in read_alignments(path, format))
    if not count:
        raise DataError(path, 1, "no alignment", "those of the first pairs", "check the file")
    alignments = list(read_alignments(path, format, sizes[:count]))
    if not any(len(alignment.links) for alignment in alignments):
        found = f"no link in {pluralise(count, 'alignment')}"
        raise DataError(path, None, found, "links by hand", "check the file")
    return alignments


def pair_with_text(
    trees: str, text: str, *, language: str | None = None
) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    """Yield each sentence of a CoNLL-U file with the words of its line of text, none for a blank line."""
    number, left_out, blanks = 0, 0, BlankLines()
    with open_text(text) as handle:
        lines = enumerate(checked_side(handle, name_of(text)), start=1)
        for number, sentence in enumerate(read_sentences(trees), start=1):
            left_out += sum(1 for _, line in islice(lines, blanks.note(sentence)) if not is_blank(line))
            _, line = next(lines, (0, None))
            if line is None:
                raise _without_partner(trees, line_of(sentence), number, text)
            line = line.lstrip(BYTE_ORDER_MARK)
            yield sentence, written_words(line, language) if language else tuple(line.split())
        for place, line in lines:
            if not is_blank(line):
                raise _without_partner(text, place, number + 1, trees)
    report_left_out(left_out, trees, text)


def _without_partner(longer: str, line: int | None, number: int, shorter: str) -> DataError:
    found = f"sentence {number}, but only {number - 1} in {name_of(shorter)}"
    expected, remedy = "as many on either side", "check that both hold the same sentences, in the same order"
    return DataError(name_of(longer), line, found, expected, remedy)


@dataclass(frozen=True, slots=True)
class AlignedText:
    """Sentence pairs with plain text as target, paired by order, read again at each iteration."""

    source: str
    target: str  # one line per source sentence; pairs with a blank line are skipped
    alignment: str
    alignment_format: str = "pharaoh"
    language: str | None = None  # for tokenisation; None: at white space

    def __iter__(self) -> Iterator[SentencePair]:
        # A placeholder of an empty side is left out when its (empty) line of links has been read.
        nothing, left_out = Sentence.from_words([UNSPECIFIED]), 0
        lines = pair_with_text(self.source, self.target, language=self.language)
        pairs = ((source, Sentence.from_words(words) if words else nothing) for source, words in lines)
        for pair in with_links(pairs, self.alignment, self.alignment_format):
            if pair.target is nothing:
                left_out += 1
            else:
                yield pair
        report_left_out(left_out, self.target)


# Suffix of an alignment format, and whether links count tokens on the source and target side.
_UNITS = {":tokens": (True, True), ":source-tokens": (True, False), ":target-tokens": (False, True)}
# Minimum number of pairs for a notice; in most pairs, links of words exceed the number of tokens.
_FEWEST_PAIRS = 5


def token_sides(alignment_format: str) -> tuple[str, tuple[bool, bool]]:
    """Return the name of a format such as ``pharaoh:target-tokens``, and whether each side counts tokens."""
    name, colon, units = alignment_format.partition(":")
    sides = _UNITS.get(colon + units)
    return (alignment_format, (False, False)) if sides is None else (name, sides)


def over_words(
    alignment: Alignment, pair: tuple[Sentence, Sentence], by_tokens: tuple[bool, bool]
) -> Alignment:
    """Convert links of tokens to links of all their words."""
    sources, targets = (
        [range(first, first + max(count, 1)) for first, _, count in tokens_of(one)]
        if tokens
        else [range(word, word + 1) for word in range(1, len(one) + 1)]
        for one, tokens in zip(pair, by_tokens, strict=True)
    )
    links, kept = list[tuple[int, int]](), list[int]()
    for number, (source, target) in enumerate(alignment.links.tolist()):
        words = list(product(sources[source - 1], targets[target - 1]))
        links += words
        kept += [number] * len(words)
    weights = None if alignment.weights is None else alignment.weights[kept]
    return make_alignment(len(pair[0]), len(pair[1]), links, alignment.sure[kept], weights)


class TokenCounts:
    """Counts of pairs whose links end at the number of tokens of a side, not of words. Mutable; final."""

    def __init__(self) -> None:
        # For each side: pairs; pairs whose last linked word has the number of the last token, or one beyond.
        self._counts = np.zeros((2, 3), dtype=np.int64)

    def add(self, pair: tuple[Sentence, Sentence], alignment: Alignment) -> None:
        """Count a pair whose links are read as links of words."""
        for side, sentence in enumerate(pair):
            if len(alignment.links) and sentence.multiword_tokens:
                tokens, last = len(tokens_of(sentence)), int(alignment.links[:, side].max())
                self._counts[side] += 1, last == tokens, last > tokens

    def note(self, name: str) -> None:
        """Report the sides whose links seem to count tokens; ``name``: the file of links."""
        for role, (pairs, ending, beyond) in zip(("source", "target"), self._counts.tolist(), strict=True):
            if pairs >= _FEWEST_PAIRS and not beyond and 2 * ending > pairs:
                notice(
                    f"{name}: links seem to count the tokens of the {role}, not its words: in none of "
                    f"{pluralise(pairs, 'pair')} with multiword tokens does one reach beyond the number of "
                    f"tokens; add :{role}-tokens to the format (--alignment-format pharaoh:{role}-tokens)"
                )
