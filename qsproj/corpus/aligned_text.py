"""CoNLL-U and its translation as plain text, one sentence a line, with the links between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import lines_in, sentence_from_words
from qsproj.corpus.files import name_of, open_text
from qsproj.corpus.pairing import with_links
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.corpus.text import tokenize
from qsproj.errors import DataError


def pair_with_text(
    trees: str, text: str, *, language: str | None = None
) -> Iterator[tuple[Sentence, tuple[str, ...]]]:
    """Yield each sentence of a CoNLL-U file with the words of its line of text, none for a blank line.

    Parameters
    ----------
    trees, text : str
        Files, read in step.
    language : str or None
        By which text is cut into words; None: at white space.

    Raises
    ------
    UsageError
        When a file cannot be opened.
    DataError
        When there are not as many sentences as lines; as in :func:`read_conllu`.
    """
    tree_line = 1
    with open_text(text) as lines:
        for number, (sentence, line) in enumerate(zip_longest(read_conllu(trees), lines), start=1):
            if sentence is None or line is None:
                longer, shorter = (text, trees) if sentence is None else (trees, text)
                raise DataError(
                    name_of(longer),
                    number if sentence is None else tree_line,
                    found=f"sentence {number}, but only {number - 1} in {name_of(shorter)}",
                    expected="as many on either side",
                    remedy="check that both hold the same sentences, in the same order",
                )
            yield sentence, tuple(tokenize(line, language) if language else line.split())
            tree_line += lines_in(sentence)


@dataclass(frozen=True, slots=True)
class AlignedText:
    """Sentence pairs whose target is text, paired by order; read anew each time they are iterated.

    Attributes
    ----------
    source : str
        CoNLL-U.
    target : str
        Text with a line for each sentence of the source; a blank one is the word ``_``, as for `qsproj tag`.
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

        Raises
        ------
        UsageError
            When a file cannot be opened or the format is unknown.
        DataError
            As in :func:`pair_with_text` and :func:`~qsproj.corpus.pairing.with_links`.
        """
        pairs = (
            (source, sentence_from_words(words or [UNSPECIFIED]))
            for source, words in pair_with_text(self.source, self.target, language=self.language)
        )
        return with_links(pairs, self.alignment, self.alignment_format)
