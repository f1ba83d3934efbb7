"""Checks of a sentence in CoNLL-U: each returns the first fault, or None."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from qsproj.corpus.cells import COLUMN_COUNT, COLUMN_NAMES
from qsproj.corpus.messages import excerpt, number_of
from qsproj.errors import pluralise

NOT_A_HEAD = -2
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
_SHOWN_CYCLE = 12
SHORTER = 8  # columns of CoNLL-X without PHEAD and PDEPREL
# The remedy for rows of text.
TAG_PLAIN_TEXT = "comments start with #; tag plain text first (qsproj tag)"


class Fault(NamedTuple):
    """A fault in row ``row`` (0-based) of the checked rows."""

    row: int
    found: str
    expected: str
    remedy: str


def column_fault(rows: Sequence[str]) -> Fault | None:
    r"""Check that each row has ten cells, none empty, and ``\r`` only as part of its line end."""
    for index, row in enumerate(rows):
        cells = row.split("\t")
        if len(cells) == COLUMN_COUNT:
            if "" in cells:
                empty = COLUMN_NAMES[cells.index("")]
                return Fault(index, f"nothing in column {empty}", "a value", "write _ where there is none")
            if "\r" in row[:-1]:
                split = COLUMN_NAMES[row.partition("\r")[0].count("\t")]
                return Fault(index, f"a carriage return in column {split}", "text on one line", "take it out")
            continue
        if len(cells) > 1:
            found, expected = pluralise(len(cells), "column"), f"{COLUMN_COUNT} separated by tabs"
            return Fault(index, found, expected, advice_on_columns(len(cells)))
        if row.split()[0].isdecimal() and len(row.split()) >= COLUMN_COUNT - 2:
            remedy = r"replace them, for instance with: sed -E '/^#/! s/ +/\t/g'"
            return Fault(index, "columns separated by spaces", "tabs", remedy)
        expected = f"{COLUMN_COUNT} columns separated by tabs"
        return Fault(index, f"the text {excerpt(row)}", expected, TAG_PLAIN_TEXT)
    return None


def advice_on_columns(count: int) -> str:
    """Return advice on the format of a row with another number of columns."""
    if count == SHORTER:
        return "CoNLL-X has 8 or 10: name such a file .conllx"
    if count == 14:
        return (
            "CoNLL-2009 has 14 and more; take ten: "
            r"""awk -F'\t' -v OFS='\t' 'NF {print $1,$2,$3,$5,$5,$7,$9,$11,"_","_"; next} 1' FILE"""
        )
    if count > COLUMN_COUNT:
        return (
            "CoNLL-U Plus (its first line is # global.columns = ...) is read from files named .conllup; "
            f"or take the first ten: cut -f1-{COLUMN_COUNT} FILE"
        )
    return (
        "read are CoNLL-U (10 columns), CoNLL-U Plus (# global.columns = ..., named .conllup) and CoNLL-X (8 "
        "or 10, named .conllx); write _ for unknown values"
    )


def id_fault(ids: Sequence[str]) -> Fault | None:
    """Check that words count 1, 2, ..., with ranges before their first word and empty nodes in order."""
    following, last_of_range, range_row, empty_nodes = 1, 0, 0, 0
    for row, text in enumerate(ids):
        if text == str(following):
            following, empty_nodes = following + 1, 0
        elif match := _RANGE.fullmatch(text):
            first, last = number_of(match[1]), number_of(match[2])
            if first != following or last < first or first <= last_of_range:
                expected = f"one that starts at word {following}, and after the last range"
                return Fault(row, f"range {text}", expected, "put a range before its first word")
            last_of_range, range_row = last, row
        elif (match := _EMPTY_NODE.fullmatch(text)) and number_of(match[1]) == following - 1:
            empty_nodes += 1
            if number_of(match[2]) != empty_nodes:
                expected = f"{following - 1}.{empty_nodes}"
                return Fault(row, f"empty node {text}", expected, "number empty nodes 1, 2, ...")
        else:
            remedy = "number the words 1, 2, ... and put a blank line between sentences"
            return Fault(row, f"ID {excerpt(text)}", f"{following}", remedy)
    if following == 1:
        return Fault(0, "a sentence without words", "at least one", "remove it")
    if last_of_range >= following:
        expected = f"an end of at most {following - 1}, the last word"
        return Fault(range_row, f"range {ids[range_row]}", expected, "shorten it")
    return None


def head_fault(texts: Sequence[str], heads: Sequence[int]) -> Fault | None:
    """Check that heads are in range and have no cycle: n cells, and n + 1 numbers or ``NOT_A_HEAD``."""
    if min(heads) <= NOT_A_HEAD:
        row = heads.index(NOT_A_HEAD) - 1
        expected = "a number without leading zeros, or _ where the head is unknown"
        return Fault(row, f"HEAD {excerpt(texts[row])}", expected, "correct the head")
    if max(heads) > len(texts):
        row = next(row for row, head in enumerate(heads) if head > len(texts)) - 1
        expected = f"0 to {len(texts)}, the last word"
        return Fault(row, f"HEAD {texts[row]}", expected, "correct the head")
    cycle = _cycle(heads)
    if cycle is None:
        return None
    if len(cycle) == 1:
        return Fault(cycle[0] - 1, f"word {cycle[0]} as its own HEAD", "a tree", "correct the head")
    shown = " <- ".join(map(str, [*cycle[:_SHOWN_CYCLE], "..." if len(cycle) > _SHOWN_CYCLE else cycle[0]]))
    remedy = "give one of these words a head outside the cycle"
    return Fault(cycle[0] - 1, f"the cycle of heads {shown}", "a tree", remedy)


def _cycle(heads: Sequence[int]) -> list[int] | None:
    """Return the words of the first cycle, each followed by its head, None if there is no cycle. O(n)."""
    # visited[word] is the start of the first walk towards the root that reached this word.
    visited = [0] * len(heads)
    for start in range(1, len(heads)):
        word = start
        while word > 0 and not visited[word]:
            visited[word] = start
            word = heads[word]
        if word > 0 and visited[word] == start:
            cycle = [word]
            while (head := heads[cycle[-1]]) != word:
                cycle.append(head)
            return cycle
    return None
