"""Trees as small tables: a row for each word, with its form, its tag, and head and relation in each style."""

from __future__ import annotations

from qsproj.conventions import frozen_heads
from qsproj.corpus.sentence import Sentence


def sentence_of(table: str, column: int = 0) -> Sentence:
    """Return the tree in one of the table's columns; ``word tag head relation head relation ...``."""
    rows = [line.split() for line in table.strip().splitlines()]
    blank = ("_",) * len(rows)
    return Sentence(
        sent_id=None,
        forms=tuple(row[0] for row in rows),
        lemmas=blank,
        upos=tuple(row[1] for row in rows),
        xpos=blank,
        feats=blank,
        deprels=tuple(row[3 + 2 * column] for row in rows),
        heads=frozen_heads([-1, *(int(row[2 + 2 * column]) for row in rows)]),
    )


def tree_of(sentence: Sentence) -> list[tuple[str, int, str]]:
    """Return (form, head, relation) of each word, which is what pytest shows when two trees differ."""
    return list(zip(sentence.forms, sentence.heads[1:].tolist(), sentence.deprels))
