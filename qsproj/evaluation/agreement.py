"""Inter-annotator agreement: Cohen's kappa of tags, features, heads and relations."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence

# A head is encoded as its distance, so that chance agreement is estimated over all words.
_Cell = Hashable


class Agreement(NamedTuple):
    """Words annotated by both in a column, those with equal cells, and Cohen's kappa or NaN."""

    column: str
    words: int
    same: int
    kappa: float


def agreement(first: Sequence[Sentence], second: Sequence[Sentence]) -> list[Agreement]:
    """Compute agreement by column (Cohen 1960, A coefficient of agreement for nominal scales)."""
    both = zip(first, second, strict=True)
    pairs = [(one, other, word) for one, other in both for word in range(1, len(one) + 1)]
    return [
        _agreement(name, [(cell(one, word), cell(other, word)) for one, other, word in pairs])
        for name, cell in _COLUMNS.items()
    ]


def _head(sentence: Sentence, word: int) -> _Cell:
    head = int(sentence.heads[word])
    if head == NO_HEAD:
        return None
    return "root" if head == ROOT else head - word


def _labelled(sentence: Sentence, word: int) -> _Cell:
    head, relation = _head(sentence, word), _known(sentence.deprels[word - 1])
    return None if head is None or relation is None else (head, relation)


def _known(cell: str) -> str | None:
    return None if cell == UNSPECIFIED else cell


_COLUMNS: dict[str, Callable[[Sentence, int], _Cell]] = {
    "UPOS": lambda sentence, word: _known(sentence.upos[word - 1]),
    "FEATS": lambda sentence, word: _known(sentence.feats[word - 1]),
    "HEAD": _head,
    "DEPREL": lambda sentence, word: _known(sentence.deprels[word - 1]),
    "HEAD and DEPREL": _labelled,
}


def _agreement(column: str, cells: Sequence[tuple[_Cell, _Cell]]) -> Agreement:
    both = [(one, other) for one, other in cells if one is not None and other is not None]
    words, same = len(both), sum(one == other for one, other in both)
    first, second = (Counter(side) for side in zip(*both, strict=True)) if both else (Counter(), Counter())
    by_chance = sum(count * second[cell] for cell, count in first.items())
    rest = words * words - by_chance
    return Agreement(column, words, same, (words * same - by_chance) / rest if rest else float("nan"))


def agreement_as_table(rows: Sequence[Agreement]) -> list[str]:
    lines = [f"{'':16}{'words':>8}{'same %':>9}{'kappa':>8}"]
    for row in rows:
        share = f"{100 * row.same / row.words:9.2f}{row.kappa:8.3f}" if row.words else f"{'-':>9}{'-':>8}"
        lines.append(f"{row.column:16}{row.words:8,}{share}")
    return lines


def agreement_as_json(rows: Sequence[Agreement]) -> dict[str, Any]:
    kappas = (None if row.kappa != row.kappa else round(row.kappa, 4) for row in rows)
    return {one.column: {"words": one.words, "same": one.same, "kappa": k} for one, k in zip(rows, kappas)}
