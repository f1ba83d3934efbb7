"""CoNLL-U and its translation as plain text, one sentence a line, with the links between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import lines_in, sentence_from_words
from qsproj.corpus.files import name_of, open_text
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.pairs.aligned import with_links
from qsproj.corpus.pairs.blank_lines import BlankLines, tell_left_out
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.corpus.text import is_blank, tokenize
from qsproj.errors import DataError


def pair_with_text(
    trees: str, text: str, *, language: str | None = None
) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    """Yield each sentence of a CoNLL-U file with the words of its line of text, none for a blank line.

    Where the sentences are of text that was tagged, its blank lines are left out of the other text, too;
    :func:`qsproj.progress.notice` tells how many.

    ``trees``, ``text``: Files, read in step. ``language``: By which text is cut into words; None: at white
    space.

    Raises UsageError when a file cannot be opened; DataError when there are not as many sentences as lines;
    as in :func:`read_sentences`.
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
    """Sentence pairs whose target is text, paired by order; read anew each time they are iterated.

    Attributes
    ----------
    source : str
        CoNLL-U.
    target : str
        Text with a line for each sentence of the source; pairs with a blank one are left out.
    alignment, alignment_format : str
        Word links, in the order of the sentences.
    language : str or None
        By which the text is cut into words; None: at white space.
    """

    source: str
    target: str
    alignment: str
    alignment_format: str = "pharaoh"
    language: str | None = None

    def __iter__(self) -> Iterator[SentencePair]:
        """Yield the pairs, one at a time; the files are read in step.

        Raises UsageError when a file cannot be opened or the format is unknown; DataError as in
        :func:`pair_with_text` and :func:`~qsproj.corpus.pairs.aligned.with_links`.
        """
        blank: deque[bool] = deque()

        def pairs() -> Iterator[tuple[Sentence, Sentence]]:
            for source, words in pair_with_text(self.source, self.target, language=self.language):
                blank.append(not words)
                # Stands for a side that has no word until its links, none, are read.
                yield source, sentence_from_words(words or [UNSPECIFIED])

        left_out = 0
        for pair in with_links(pairs(), self.alignment, self.alignment_format):
            if blank.popleft():
                left_out += 1
            else:
                yield pair
        tell_left_out(left_out, self.target)
