"""Inter-annotator agreement: Cohen's kappa of tags, features, heads and relations."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
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
    columns, others = _columns(first), _columns(second)
    return [_agreement(name, zip(cells, others[name], strict=True)) for name, cells in columns.items()]


def _columns(sentences: Sequence[Sentence]) -> dict[str, list[_Cell]]:
    """Return each word's cell by column; None where not annotated, as FEATS of a sentence without any."""
    tags, features, relations = (
        [
            None if cell == UNSPECIFIED and (name != "feats" or set(cells) == {cell}) else cell
            for cells in (getattr(sentence, name) for sentence in sentences)
            for cell in cells
        ]
        for name in ("upos", "feats", "deprels")
    )
    heads: list[_Cell] = [
        None if head == NO_HEAD else "root" if head == ROOT else head - word
        for sentence in sentences
        for word, head in enumerate(sentence.heads[1:].tolist(), start=1)
    ]
    both: list[_Cell] = [None if None in one else one for one in zip(heads, relations, strict=True)]
    return {"UPOS": tags, "FEATS": features, "HEAD": heads, "DEPREL": relations, "HEAD and DEPREL": both}


def _agreement(column: str, cells: Iterable[tuple[_Cell, _Cell]]) -> Agreement:
    both = [pair for pair in cells if None not in pair]
    words, same = len(both), sum(one == other for one, other in both)
    first, second = (Counter(side) for side in zip(*both, strict=True)) if both else (Counter(), Counter())
    by_chance = sum(count * second[cell] for cell, count in first.items())
    rest = words * words - by_chance
    return Agreement(column, words, same, (words * same - by_chance) / rest if rest else float("nan"))


def agreement_as_table(rows: Sequence[Agreement]) -> list[str]:
    lines = [f"{'':16}{'words':>8}{'same %':>9}{'kappa':>8}"]
    for name, words, same, kappa in rows:
        share = f"{100 * same / words:9.2f}{kappa:8.3f}" if words else f"{'-':>9}{'-':>8}"
        lines.append(f"{name:16}{words:8,}{share}")
    return lines


def agreement_as_json(rows: Sequence[Agreement]) -> dict[str, Any]:
    kappas = (None if row.kappa != row.kappa else round(row.kappa, 4) for row in rows)
    return {one.column: {"words": one.words, "same": one.same, "kappa": k} for one, k in zip(rows, kappas)}
