"""Two commits side by side: pairs, medians, and what is kept of rows that were measured before."""

import lzma
from collections import Counter
from types import SimpleNamespace

from scripts.experiments.bench import performance
from scripts.experiments.bench.sides import Bench, Row, Side, Spent, chosen


def test_a_row_shows_medians_and_the_median_ratio_of_pairs(tmp_path):
    old, new = Side("old", tmp_path), Side("new", tmp_path)
    figures = {old: iter([9.0, 2.0, 4.0, 8.0]), new: iter([9.0, 1.0, 3.0, 2.0])}
    row = Row(what="work", measure=lambda bench, side: next(figures[side]), rounds=3)
    bench = Bench(SimpleNamespace(), old, new, tmp_path)
    assert row.measured(bench, "abc") == ["work", "4.00 s", "2.00 s", "0.50", "abc"]


def test_time_and_memory_of_aligning_are_rows_of_one_run(tmp_path, monkeypatch):
    (tmp_path / "pairs.xz").write_bytes(lzma.compress(b"a dog\tein Hund\n" * 300))
    lab = SimpleNamespace(bitext_path=lambda language: tmp_path / "pairs.xz")
    spent = Counter()

    def run(side, *words):
        spent[side.name] += 1
        return Spent(seconds=float(spent[side.name]), peak=100.0)

    monkeypatch.setattr(Side, "qsproj", run)
    bench = Bench(lab, Side("old", tmp_path), Side("new", tmp_path), tmp_path)
    rows = chosen(performance.ROWS, ["align"])
    assert [row.measured(bench, "abc")[1] for row in rows] == ["2.00 s", "100 MB"]
    # A few pairs, so that all is compiled, then all of them.
    assert spent == {"old": 2, "new": 2}


def test_rows_are_chosen_by_words_of_their_names():
    assert chosen(performance.ROWS, None) == list(performance.ROWS)
    assert [row.rounds for row in chosen(performance.ROWS, ["one sentence"])] != []
