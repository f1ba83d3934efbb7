"""Experiments: help without data, and pages that are what figures make of templates."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest

import scripts.experiments
from scripts.experiments.harness.experiment import Experiment
from scripts.experiments.harness.page import DOCS, PAGES, read_record, render

MODULES = [
    module.name
    for module in pkgutil.walk_packages(scripts.experiments.__path__, "scripts.experiments.")
    if not module.ispkg
]
EXPERIMENTS: dict[str, Experiment] = {
    name: experiment
    for name in MODULES
    if (experiment := getattr(import_module(name), "EXPERIMENT", None)) is not None
}
ALL_EXPERIMENTS = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
MADE_BY = re.compile(r"(?:Made|Written) by\s+`([^`]*)`")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\d.]*\d)")
# Sections, tables and figures of the thesis.
OF_THE_THESIS = {
    "2.1",
    "3.1",
    "3.2",
    "3.3",
    "4.1",
    "4.2",
    "4.3",
    "4.4",
    "4.5",
    "4.6",
    "4.7",
    "5.3",
    "5.4",
    "5.6",
}
# Decimals in the text of a page that are not figures of a run: settings, aims, and what the thesis measured.
NOT_FIGURES = {
    "adaptation": {"99.6"},
    "alignment": {"0.001", "0.3"},
    "arguments": {"0.4", "0.5"},
    "feature-selection": {"0.05"},
    "graph-parsing": {"0.8", "1.0"},
    "hard-constraints": {"0.05"},
    "hidden-clusters": {"0.05"},
    "joint-parsing": {"0.1", "0.5", "0.001", "0.01", "80.3"},
    "joint-parsing-links": {"0.05", "0.1", "0.5"},
    "joint-tagging": {"0.3", "0.001"},
    "new-testament": {
        "83.5",
        "59.5",
        "76.3",
        "55.0",
        "43.7",
        "66.0",
        "51.1",
        "31.3",
        "67.6",
        "41.5",
        "24.4",
    },
    "hidden-tree": {"0.05", "0.4"},
    "labels": {"0.05", "0.03", "0.4"},
    "ladder": {"0.15"},
    "nonprojective-parsing": {"0.05"},
    "nonprojective-trees": {"0.0", "1.7", "2.2"},
    "relaxation": {"0.003"},
    "search-error": {"0.003", "0.4", "2.4"},
    "search-error-learned": {"0.4", "2.4"},
    # versions of UD, and what others publish
    "sentences": {"2.3", "2.5", "77.1", "89.4", "95.6", "96.4", "90.6"},
    "tags-through-links": {"88.5", "91.5", "92.5"},
    "training-objectives": {"0.05"},
    "unspaced": {"0.5", "0.1"},
}


def test_experiments_are_found():
    assert len(EXPERIMENTS) > 20


@ALL_EXPERIMENTS
def test_help_needs_no_data(experiment, monkeypatch, capsys):
    monkeypatch.delenv("QSPROJ_DATA", raising=False)
    with pytest.raises(SystemExit) as exit_:
        experiment.main(["--help"])
    shown = capsys.readouterr().out
    assert exit_.value.code == 0
    assert experiment.about.splitlines()[0] in shown
    assert "--quick" in shown


@pytest.mark.parametrize("experiment", [one for one in EXPERIMENTS.values() if one.needs_data])
def test_missing_data_is_one_line(experiment, monkeypatch, capsys):
    monkeypatch.delenv("QSPROJ_DATA", raising=False)
    with pytest.raises(SystemExit) as exit_:
        experiment.main([])
    assert exit_.value.code == 2
    assert capsys.readouterr().err.startswith("QSPROJ_DATA: found '', expected")


@ALL_EXPERIMENTS
def test_a_page_is_its_template_and_figures(experiment):
    record = read_record(experiment.page)
    assert record.command == experiment.command
    page = (DOCS / f"{experiment.page}.md").read_text(encoding="utf-8")
    assert page == render(experiment.page, record, experiment.reading), f"run {experiment.command} --page"


def test_each_page_has_one_command():
    pages = [experiment.page for experiment in EXPERIMENTS.values()]
    assert sorted(pages) == sorted(path.stem for path in PAGES.glob("*.json"))
    assert sorted(pages) == sorted(path.stem for path in PAGES.glob("*.md"))


def test_documents_name_commands_that_exist():
    by_page = {experiment.page: experiment.command for experiment in EXPERIMENTS.values()}
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        named = MADE_BY.findall(text)
        assert named == ([by_page[path.stem]] if path.stem in by_page else []), path
        assert not re.search(r"scripts/experiments/\w+\.py", text), path


@ALL_EXPERIMENTS
def test_figures_in_the_text_come_from_tables(experiment):
    template = (PAGES / f"{experiment.page}.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`]*`|\{\{.*?\}\}", "", template, flags=re.DOTALL)
    allowed = OF_THE_THESIS | NOT_FIGURES.get(experiment.page, set())
    assert set(DECIMAL.findall(prose)) <= allowed
