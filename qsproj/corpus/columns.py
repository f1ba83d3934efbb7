"""The ten columns of CoNLL-U, and the rows and comments that a sentence is written as."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from qsproj.conventions import NO_HEAD, Heads
from qsproj.corpus.sentence import Layout, Sentence

COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(1, 10)
COLUMN_COUNT = len(COLUMN_NAMES)
UNSPECIFIED = "_"
UNIVERSAL_TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)


def cells_of(rows: Sequence[str]) -> list[str]:
    """Return the cells of all rows in one list, so that ``cells[c::COLUMN_COUNT]`` is column ``c``.

    One flat list costs a third of the time of a list for each row, and the collector has less to track.
    """
    return "\t".join(rows).split("\t")


def rows_from(cells: Sequence[str]) -> list[str]:
    """Undo :func:`cells_of`."""
    return ["\t".join(cells[at : at + COLUMN_COUNT]) for at in range(0, len(cells), COLUMN_COUNT)]


def column_values(sentence: Sentence) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return (column, its n cells) for the seven columns that a sentence holds."""
    return (
        (FORM, sentence.forms),
        (LEMMA, sentence.lemmas),
        (UPOS, sentence.upos),
        (XPOS, sentence.xpos),
        (FEATS, sentence.feats),
        (HEAD, head_cells(sentence.heads)),
        (DEPREL, sentence.deprels),
    )


def head_cells(heads: Heads) -> tuple[str, ...]:
    """Return the HEAD column of words 1..n: numbers, ``_`` where the head is missing."""
    return tuple([UNSPECIFIED if head == NO_HEAD else str(head) for head in heads.tolist()[1:]])


def layout_of(sentence: Sentence) -> Layout:
    """Return the sentence's layout; one that was made gets ``sent_id`` and ``text`` and plain rows."""
    if sentence.layout is not None:
        return sentence.layout
    comments = [f"# text = {' '.join(sentence.forms)}"]
    if sentence.sent_id is not None:
        comments.insert(0, f"# sent_id = {sentence.sent_id}")
    numbers = (str(word) for word in range(1, len(sentence) + 1))
    unspecified = (UNSPECIFIED,) * len(sentence)
    columns = [numbers, *(values for _, values in column_values(sentence)), unspecified, unspecified]
    rows = rows_from(list(chain.from_iterable(zip(*columns, strict=True))))
    return Layout(
        lines=(*comments, *rows),
        word_lines=tuple(range(len(comments), len(comments) + len(rows))),
    )


def comment_in(lines: Sequence[str], key: str) -> tuple[int, str] | None:
    """Return (index, value) of the first comment ``# key = value`` or ``# key``; None where there is none."""
    for index, line in enumerate(lines):
        if line.startswith("#") and key in line:
            name, _, value = line[1:].partition("=")
            if name.strip() == key:
                return index, value.strip()
    return None


def bare_relation(relation: str) -> str:
    """Return a relation without its subtype: ``obl`` for ``obl:arg``."""
    return relation.partition(":")[0]
