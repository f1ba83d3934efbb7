"""Confusion of relations or tags: pairs of gold and found, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from qsproj.conventions import NO_HEAD
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import PUNCTUATION_TAG

RELATIONS, TAGS = "deprels", "upos"


@dataclass(frozen=True, slots=True)
class Confusion:
    """A gold name and another that was found in its place."""

    gold: str
    found: str
    count: int  # how often
    words: int  # with the gold name
    heads_right: int  # of ``count``


def confusions(
    gold: Iterable[Sentence], system: Iterable[Sentence], *, column: str = RELATIONS, punctuation: bool = True
) -> tuple[Confusion, ...]:
    """Count what is taken for what, the most frequent first: RELATIONS (of gold heads) or TAGS."""
    words, pairs, heads_right = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for truth, parsed in zip(gold, system, strict=True):
        columns = zip(
            getattr(truth, column),
            getattr(parsed, column),
            truth.upos,
            truth.heads[1:].tolist(),
            parsed.heads[1:].tolist(),
            strict=True,
        )
        for right, found, tag, head, found_head in columns:
            known = head != NO_HEAD if column == RELATIONS else right != UNSPECIFIED
            if not known or (not punctuation and tag == PUNCTUATION_TAG):
                continue
            words[right] += 1
            if right != found:
                pairs[right, found] += 1
                heads_right[right, found] += head == found_head
    return tuple(
        Confusion(right, found, count, words[right], heads_right[right, found])
        for (right, found), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    )
