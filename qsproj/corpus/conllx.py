"""CoNLL-X (Buchholz and Marsi 2006): ten columns as in CoNLL-U, but nothing except words.

CPOSTAG and POSTAG are where UPOS and XPOS are, and read as these. PHEAD and PDEPREL, in the last two columns,
come out as they came in; DEPS and MISC of CoNLL-U, its comments, ranges and empty nodes are left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from qsproj.corpus.cells import COLUMN_COUNT, DEPS, MISC, UNSPECIFIED, cells_of, rows_from
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import lines_in
from qsproj.corpus.files import PathOrFile, name_of
from qsproj.corpus.sentence import Layout, Sentence, layout_of
from qsproj.errors import DataError


def read_conllx(path_or_file: PathOrFile) -> Iterator[Sentence]:
    """Yield the sentences of a file; DataError, beside those of CoNLL-U, at a line that is no word."""
    line = 1
    for sentence in read_conllu(path_or_file):
        layout = layout_of(sentence)
        if len(layout.word_lines) < len(layout.lines):
            other = next(i for i in range(len(layout.lines)) if i not in layout.word_lines)
            raise DataError(
                name_of(path_or_file),
                line + layout.start.count("\n") + other,
                found="a comment, a range or an empty node",
                expected="words only, as in CoNLL-X",
                remedy="where it is CoNLL-U, name the file .conllu",
            )
        yield sentence
        line += lines_in(sentence)


def write_conllx(sentences: Iterable[Sentence], path_or_file: PathOrFile | None) -> None:
    """Write sentences as CoNLL-X; those of CoNLL-X unchanged since they were read come out byte for byte."""
    write_conllu(map(_words_alone, sentences), path_or_file)


def _words_alone(sentence: Sentence) -> Sentence:
    """Return the sentence with a layout of its words, and of the last two columns what CoNLL-X has there."""
    layout = layout_of(sentence)
    cells = cells_of([layout.lines[i] for i in layout.word_lines])
    for place in range(0, len(cells), COLUMN_COUNT):
        # DEPS of CoNLL-U are numbers with relations.
        if not cells[place + DEPS].isdecimal():
            cells[place + DEPS] = cells[place + MISC] = UNSPECIFIED
    lines = tuple(rows_from(cells))
    words = Layout(lines, tuple(range(len(lines))), layout.newline, layout.end, layout.start)
    return replace(sentence, sent_id=None, layout=words)
