"""Kept figures know where they come from; tables and pages say what they hold."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from xml.etree import ElementTree

import pytest

from qsproj.errors import UsageError
from scripts.experiments.__main__ import changes, main
from scripts.experiments.harness import build, page
from scripts.experiments.harness.build import CHECKOUT, Build, files_of, this_build
from scripts.experiments.harness.cache import Cache, said
from scripts.experiments.harness.experiment import Experiment
from scripts.experiments.harness.page import (
    Figures,
    Record,
    read_record,
    record_names,
    records_of,
    render,
    write_pages,
    write_record,
)
from scripts.experiments.harness.process import in_own_process
from scripts.experiments.harness.small import PAIRS, SENTENCES, small_copy
from scripts.experiments.harness.tables import listed, numbers, table

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
    assert not any(name.startswith(("harness", "joint")) for name in names)


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


SHOWN = table(["system", "UAS", "said"], [["a, b", "81.2", "yes"], ["c", "", "no"]])


def test_tables_are_shown_in_markdown():
    assert SHOWN.markdown() == "| system | UAS | said |\n|---|---:|---|\n| a, b | 81.2 | yes |\n| c |  | no |"
    assert SHOWN.filled == 5


def test_a_part_of_a_table_has_the_rows_and_columns_that_are_named():
    part = SHOWN.part(rows=["c", "a, b > 81.2"], columns=["said", "UAS = score"])
    assert part == table(["said", "score"], [["no", ""], ["yes", "81.2"]])
    with pytest.raises(KeyError, match="no row"):
        SHOWN.part(rows=["d"])
    with pytest.raises(KeyError, match="no column"):
        SHOWN.part(columns=["LAS"])


def test_cells_hold_numbers_in_several_ways():
    cells = ["1,234 ± 0.5", "+0.31*", "52.9* (78.7*)", "3.5e-09"]
    assert [numbers(cell)[0] for cell in cells] == [1234.0, 0.31, 52.9, 3.5e-09]


def test_words_for_sentences():
    assert [listed(names) for names in ([], ["a"], ["a", "b", "c"])] == ["none", "a", "a, b and c"]


TEMPLATE = """# Toy

{{transfer.ladder: scores}}

{{transfer.ladder: scores
rows: b
columns: UAS = heads}}

Best: {{transfer.ladder: scores > b > UAS}},
{{transfer.ladder: scores > b > UAS minus transfer.ladder: scores > a > UAS}};
{{transfer.ladder: words}} words.

{{made}}
"""


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Return folders of templates, records and documents of a test's own."""
    for name in ("PAGES", "RECORDS", "DOCS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(page, name, tmp_path / name)
    (tmp_path / "PAGES" / "toy.md").write_text(TEMPLATE)
    return tmp_path


SCORES = table(["system", "UAS"], [["a", "80.1"], ["b", "81.2"]])
FIGURES = Figures(tables={"scores": SCORES}, values={"words": "10"})
FEWER = Figures(tables={"scores": table(["system", "UAS"], [["b", "81.3"]])}, values={"words": "10"})


def toy(**changed):
    fields = {"measure": lambda lab: FIGURES, "needs_data": False}
    return Experiment(file=str(LADDER), about="A toy.", **{**fields, **changed})


def test_a_run_records_its_figures_and_writes_pages(pages, capsys):
    toy().main(["--cache", str(pages / "cache")])
    text = (pages / "DOCS" / "toy.md").read_text()
    assert "- `python -m scripts.experiments.transfer.ladder` (commit " in text
    assert "| b | 81.2 |" in text
    assert "| heads |\n|---|\n| 81.2 |" in text
    assert "Best: 81.2,\n+1.1;\n10 words." in text
    assert read_record("transfer.ladder").figures.tables == FIGURES.tables
    (pages / "DOCS" / "toy.md").unlink()
    write_pages()
    assert (pages / "DOCS" / "toy.md").read_text() == text


def test_a_record_shows_the_options_that_change_its_figures(pages):
    def options(parser):
        parser.add_argument("--a", default="")
        parser.add_argument("--b", action="append", default=[])
        parser.add_argument("--seeds", type=int, nargs="+", default=[1])
        parser.add_argument("--work", type=Path, default=Path())
        parser.add_argument("--jobs", type=int, default=1)
        parser.add_argument("--tags", action="store_true")

    given = [
        "--a=--no-text",
        "--b=--sources en es",
        "--b=--cut never",
        "--seeds",
        "2",
        "3",
        "--tags",
        "--jobs",
        "2",
        "--work",
        "w",
    ]
    toy(add_arguments=options).main([*given, "--cache", str(pages / "cache")])
    command = "python -m scripts.experiments.transfer.ladder"
    changes = "--a=--no-text --b='--sources en es' --b='--cut never'"
    assert read_record("transfer.ladder").command == f"{command} {changes} --seeds 2 3 --tags"


def test_a_quick_run_prints_only(pages, capsys):
    toy().main(["--cache", str(pages / "cache"), "--quick"])
    assert "| b | 81.2 |" in capsys.readouterr().out
    assert not list((pages / "DOCS").iterdir())
    assert not list((pages / "RECORDS").iterdir())


def test_a_record_does_not_lose_cells_unasked(pages, capsys):
    (pages / "PAGES" / "toy.md").write_text("Best: {{transfer.ladder: scores > b > UAS}}\n")
    toy().main(["--cache", str(pages / "cache")])
    with pytest.raises(SystemExit) as exit_:
        toy(measure=lambda lab: FEWER).main(["--cache", str(pages / "cache")])
    assert exit_.value.code == 2
    assert "found figures for 2 cells, expected 4" in capsys.readouterr().err
    assert (pages / "DOCS" / "toy.md").read_text() == "Best: 81.2\n"
    toy(measure=lambda lab: FEWER).main(["--cache", str(pages / "cache"), "--fewer"])
    assert (pages / "DOCS" / "toy.md").read_text() == "Best: 81.3\n"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("transfer.ladder: score", "found 'score', expected one of scores, words"),
        ("transfer.ladder: scores > c > UAS", "no row"),
        ("transfer.ladder: scores > a > LAS", "no column 'LAS'"),
        ("transfer.ladders: scores", "found no record transfer.ladders, expected one of transfer.ladder"),
    ],
)
def test_a_page_asks_for_figures_that_a_record_has(pages, asked, message):
    write_record("transfer.ladder", Record(command="c", made_by="b", figures=FIGURES))
    (pages / "PAGES" / "toy.md").write_text(f"{{{{{asked}}}}}")
    with pytest.raises(UsageError, match=message):
        render("toy")


def test_a_page_names_the_records_that_it_reads():
    assert records_of(TEMPLATE) == ["transfer.ladder"]


def test_changed_cells_are_named():
    same = Figures(tables={"scores": table(["system", "UAS"], [["a", "80.1"], ["b", "81.3"]])}, values={})
    assert list(changes(FIGURES, same)) == [
        "words: 10 -> nothing",
        "scores > row 2, b > UAS: 81.2 -> 81.3",
    ]


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
    assert in_own_process(listed, ["a", "b"]) == "a and b"


def test_the_experiments_that_would_run_are_listed(capsys):
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.split() == list(record_names())
    assert main(["--list", "--only", "transfer.bootstrap"]) == 0
    assert capsys.readouterr().out == "transfer.bootstrap\n"


def test_a_chart_is_drawn_beside_its_page(pages):
    rows = [
        ["Wolof", "all & any", "0", "42.0"],
        ["Wolof", "all & any", "60", "58.0"],
        ["Thai", "none", "0", "30"],
    ]
    scores = table(["", "asked", "minutes", "LAS"], rows)
    (pages / "PAGES" / "toy.md").write_text("{{transfer.ladder: scores\nchart: asked; minutes; LAS}}\n")
    toy(measure=lambda lab: Figures(tables={"scores": scores})).main(["--cache", str(pages / "cache")])
    assert (pages / "DOCS" / "toy.md").read_text() == "![LAS by minutes](toy-las.svg)\n"
    drawn = ElementTree.parse(pages / "DOCS" / "toy-las.svg")
    texts = [one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Wolof", "Thai", "all & any", "none", "30", "60"} <= set(texts)
    paths = [one.get("d") for one in drawn.iter("{http://www.w3.org/2000/svg}path") if len(one)]
    # 42 is three fifths from the top between 60 and 30, 58 a fifteenth; 60 minutes end at the right.
    assert paths[0] == "M 34.0 98.8 L 218.0 30.5"
