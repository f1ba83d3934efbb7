"""Kept figures know where they come from; tables and pages say what they hold."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from qsproj.errors import UsageError
from scripts.experiments.harness import build, page
from scripts.experiments.harness.build import CHECKOUT, Build, files_of, this_build
from scripts.experiments.harness.cache import Cache, said
from scripts.experiments.harness.experiment import Experiment
from scripts.experiments.harness.page import Figures, Record, read_record, render, write_record
from scripts.experiments.harness.process import in_own_process
from scripts.experiments.harness.small import PAIRS, SENTENCES, small_copy
from scripts.experiments.harness.tables import listed, read_table, span, table

EXPERIMENTS = CHECKOUT / "scripts" / "experiments"
LADDER = EXPERIMENTS / "transfer" / "ladder.py"


@pytest.fixture
def builds(monkeypatch):
    """Let a test say what the build is."""
    now = {"code": "one", "versions": {"Python": "3.11"}, "processor": "A", "commit": "abc"}
    monkeypatch.setattr("scripts.experiments.harness.cache.this_build", lambda path: Build(**now))
    return now


class Counter:
    """Something to measure that says how often it was."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return {"uas": self.calls}


@pytest.fixture
def measure():
    return Counter()


def test_figures_are_measured_once(tmp_path, builds, measure):
    cache = Cache(tmp_path / "kept", LADDER)
    assert cache.kept("row") is None
    assert [cache.figures("row", measure) for _ in range(2)] == [{"uas": 1}, {"uas": 1}]
    assert cache.kept("row") == {"uas": 1}
    assert (measure.calls, cache.commits) == (1, {"abc"})


@pytest.mark.parametrize(
    "changed",
    [{"code": "two"}, {"versions": {"Python": "3.12"}}, {"processor": "B"}],
    ids=lambda one: next(iter(one)),
)
def test_figures_of_another_build_are_not_reused(tmp_path, builds, measure, changed):
    cache = Cache(tmp_path, LADDER)
    before = dict(builds)
    cache.figures("row", measure)
    builds.update(changed)
    assert cache.kept("row") is None
    assert cache.figures("row", measure) == {"uas": 2}
    builds.update(before)
    assert cache.figures("row", measure) == {"uas": 1}


def test_another_commit_of_the_same_source_is_recorded(tmp_path, builds, measure):
    cache = Cache(tmp_path, LADDER)
    cache.figures("row", measure)
    builds["commit"] = "def+"
    cache.figures("row", measure)
    cache.figures("other row", measure)
    assert cache.commits == {"abc", "def+"}
    assert measure.calls == 2


def test_figures_of_other_options_or_data_are_not_reused(tmp_path, builds, measure):
    cache, data = Cache(tmp_path / "kept", LADDER), tmp_path / "data.conllu"
    data.write_text("one")
    assert cache.figures("row", measure, options={"epochs": 1}, data=[data]) == {"uas": 1}
    assert cache.figures("row", measure, options={"epochs": 2}, data=[data]) == {"uas": 2}
    data.write_text("two")
    assert cache.figures("row", measure, options={"epochs": 1}, data=[data]) == {"uas": 3}
    data.write_text("one")
    assert cache.figures("row", measure, options={"epochs": 1}, data=[data]) == {"uas": 1}


def test_what_was_made_while_the_code_changed_is_not_kept(tmp_path, builds):
    cache = Cache(tmp_path, LADDER)

    def measure():
        builds["code"] = "two"
        return {"uas": 1}

    with pytest.raises(UsageError, match="row: found other code than when the run began"):
        cache.figures("row", measure)
    assert cache.kept("row") is None


def test_files_are_made_once_and_whole(tmp_path, builds):
    cache = Cache(tmp_path, LADDER)

    def make(path: Path) -> list[str]:
        path.write_text("model")
        return ["trained"]

    def fail(path: Path) -> None:
        path.write_text("half a mo")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        cache.file("en.parser", fail)
    made = cache.file("en.parser", make)
    assert cache.file("en.parser", fail) == made
    assert (made.read_text(), said(made)) == ("model", ["trained"])


def test_the_code_of_an_experiment_is_what_it_imports_of_what_measures():
    names = {str(path.relative_to(EXPERIMENTS)) for path in files_of(LADDER)}
    assert {"transfer/ladder.py", "transfer/stages.py", "transfer/projection.py"} <= names
    assert not any(name.startswith(("harness", "pages", "joint")) for name in names)


def test_a_change_of_the_code_is_another_build(monkeypatch, tmp_path):
    for place in ("qsproj", "scripts/experiments/transfer"):
        (tmp_path / place).mkdir(parents=True)
    module, experiment = tmp_path / "qsproj" / "a.py", tmp_path / "scripts/experiments/transfer/ladder.py"
    module.write_text("A = 1\n")
    experiment.write_text("B = 1\n")
    monkeypatch.setattr(build, "CHECKOUT", tmp_path)
    codes = []
    for path, text in ((module, "A = 2\n"), (experiment, "B = 2\n"), (tmp_path / "docs.md", "page\n")):
        codes.append(build.source_hash(experiment))
        path.write_text(text)
    codes.append(build.source_hash(experiment))
    assert len(set(codes)) == 3
    assert codes[2] == codes[3]


def test_a_build_says_what_it_is():
    found = this_build(LADDER)
    assert {"Python", "numpy", "scipy", "numba", "qsproj"} == set(found.versions)
    assert found.code in found.described
    assert found.processor


def test_tables_are_read_as_they_are_shown():
    shown = table(["system", "UAS", "said"], [["a, b", "81.2", "yes"], ["c", "", "no"]])
    assert shown.markdown() == "| system | UAS | said |\n|---|---:|---|\n| a, b | 81.2 | yes |\n| c |  | no |"
    assert read_table(shown.markdown()) == shown
    assert (shown.number("a, b", "UAS"), shown.has("c", "UAS"), shown.has("d", "UAS")) == (81.2, False, False)
    assert (shown.filled, shown.numbers_in("UAS")) == (5, [81.2])


def test_cells_hold_numbers_in_several_ways():
    one = table(
        ["row", "x"], [["a", "1,234 ± 0.5"], ["b", "+0.31*"], ["c", "52.9* (78.7*)"], ["d", "3.5e-09"]]
    )
    assert [one.number(name, "x") for name in "abcd"] == [1234.0, 0.31, 52.9, 3.5e-09]


def test_words_for_sentences():
    assert span([0.31, -0.04, 1.2]) == "0.0 to 1.2"
    assert span([1.0, 1.04], sign=True) == "+1.0"
    assert [listed(names) for names in ([], ["a"], ["a", "b", "c"])] == ["none", "a", "a, b and c"]


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Return folders of templates and documents of a test's own."""
    for name in ("PAGES", "DOCS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(page, name, tmp_path / name)
    monkeypatch.setattr("scripts.experiments.harness.experiment.DOCS", tmp_path / "DOCS")
    (tmp_path / "PAGES" / "toy.md").write_text(
        "# Toy\n\n{{made}}\n\n{{scores}}\n\nBest: {{best}}; {{words}} words.\n"
    )
    return tmp_path


SCORES = table(["system", "UAS"], [["a", "80.1"], ["b", "81.2"]])
FIGURES = Figures(tables={"scores": SCORES}, values={"words": "10"})


def best(tables):
    return {"best": f"{max(tables['scores'].numbers_in('UAS'))}"}


def toy(**changed):
    fields = {"measure": lambda lab: FIGURES, "page": "toy", "reading": best, "needs_data": False}
    return Experiment(file=str(LADDER), about="A toy.", **{**fields, **changed})


def test_a_run_writes_its_page_and_keeps_its_figures(pages, capsys):
    toy().main(["--cache", str(pages / "cache")])
    text = (pages / "DOCS" / "toy.md").read_text()
    assert "Made by `python -m scripts.experiments.transfer.ladder` (commit " in text
    assert "| b | 81.2 |" in text and "Best: 81.2; 10 words." in text
    assert read_record("toy").figures.tables == FIGURES.tables
    (pages / "DOCS" / "toy.md").unlink()
    toy(measure=None).main(["--page"])
    assert (pages / "DOCS" / "toy.md").read_text() == text


def test_a_quick_run_prints_only(pages, capsys):
    toy().main(["--cache", str(pages / "cache"), "--quick"])
    assert "| b | 81.2 |" in capsys.readouterr().out
    assert not list((pages / "DOCS").iterdir()) and not (pages / "PAGES" / "toy.json").exists()


def test_a_page_does_not_lose_cells_unasked(pages, capsys):
    toy().main(["--cache", str(pages / "cache")])
    before = (pages / "DOCS" / "toy.md").read_text()
    fewer = Figures(tables={"scores": table(["system", "UAS"], [["a", "80.1"]])}, values={"words": "10"})
    with pytest.raises(SystemExit) as exit_:
        toy(measure=lambda lab: fewer).main(["--cache", str(pages / "cache")])
    assert exit_.value.code == 2
    assert "found figures for 2 cells, expected 4" in capsys.readouterr().err
    assert (pages / "DOCS" / "toy.md").read_text() == before
    toy(measure=lambda lab: fewer).main(["--cache", str(pages / "cache"), "--fewer"])
    assert "Best: 80.1" in (pages / "DOCS" / "toy.md").read_text()


def test_a_page_asks_for_what_there_is_and_shows_it_all(pages):
    record = Record(command="c", made_by="b", figures=FIGURES)
    with pytest.raises(UsageError, match="found best, expected some of made, scores, words"):
        render("toy", record)
    more = Figures(tables={**FIGURES.tables, "more": SCORES}, values=FIGURES.values)
    with pytest.raises(UsageError, match="no place for more"):
        render("toy", Record(command="c", made_by="b", figures=more), best)
    write_record("toy", record)
    assert read_record("toy").figures.values == {"words": "10"}


def test_a_small_copy_keeps_the_beginning(tmp_path):
    for name in ("treebanks", "bitext", "pud"):
        (tmp_path / "data" / name).mkdir(parents=True)
    sentence = "1\tword\n\n"
    for name in ("treebanks/en.conllu.gz", "pud/en.conllu.gz"):
        (tmp_path / "data" / name).write_bytes(gzip.compress(sentence.encode() * 100))
    (tmp_path / "data/bitext/en-de.tsv.xz").write_bytes(lzma.compress(b"a\tb\n" * 1000))
    copy = small_copy(tmp_path / "data", tmp_path / "copy")
    assert gzip.decompress((copy / "treebanks/en.conllu.gz").read_bytes()).decode() == sentence * SENTENCES
    assert len(gzip.decompress((copy / "pud/en.conllu.gz").read_bytes())) == 100 * len(sentence)
    assert lzma.decompress((copy / "bitext/en-de.tsv.xz").read_bytes()) == b"a\tb\n" * PAIRS


def test_another_process_returns_what_it_found():
    assert in_own_process(span, [1.0, 2.0], digits=0) == "1 to 2"
