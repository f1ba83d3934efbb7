"""Two commits side by side: pairs, medians, and what is kept of rows that were measured before."""

from types import SimpleNamespace

from scripts.experiments.bench import performance, stage_samples
from scripts.experiments.bench.sides import Bench, Row, Side, chosen


def test_a_row_shows_medians_and_the_median_ratio_of_pairs(tmp_path):
    old, new = Side("old", tmp_path), Side("new", tmp_path)
    figures = {old: iter([9.0, 2.0, 4.0, 8.0]), new: iter([9.0, 1.0, 3.0, 2.0])}
    row = Row(what="work", to_reach="1 s", measure=lambda bench, side: next(figures[side]), rounds=3)
    bench = Bench(SimpleNamespace(), old, new, tmp_path)
    assert row.measured(bench, "abc") == ["work", "4.00 s", "2.00 s", "0.50", "1 s", "abc"]


def test_rows_are_chosen_by_words_of_their_names():
    assert chosen(performance.ROWS, None) == list(performance.ROWS)
    assert [row.to_reach for row in chosen(performance.ROWS, ["one sentence"])] == ["0.6 s"]


def test_a_sample_counts_for_the_innermost_stage():
    def frame(function, outer=None, file="/x/qsproj/y.py"):
        return SimpleNamespace(f_code=SimpleNamespace(co_filename=file, co_name=function), f_back=outer)

    parsing = frame("score_block", frame("parse_all", frame("write")))
    assert stage_samples.stage(frame("take", parsing, file="/numpy/z.py")) == "scores of arcs"
    assert stage_samples.stage(frame("main")) == "the rest"
