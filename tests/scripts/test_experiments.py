"""Experiments: help without data, and pages that are what figures make of templates."""

from __future__ import annotations

import argparse
import pkgutil
import re
from importlib import import_module

import pytest

import scripts.experiments
from scripts.experiments.harness.experiment import Experiment
from scripts.experiments.harness.page import (
    DOCS,
    PAGES,
    page_names,
    read_record,
    record_names,
    records_of,
    render,
)

MODULES = [
    module.name
    for module in pkgutil.walk_packages(scripts.experiments.__path__, "scripts.experiments.")
    if not module.ispkg and not module.name.endswith("__main__")
]
EXPERIMENTS: dict[str, Experiment] = {
    name: experiment
    for name in MODULES
    if (experiment := getattr(import_module(name), "EXPERIMENT", None)) is not None
}
ALL_EXPERIMENTS = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
ALL_PAGES = pytest.mark.parametrize("page", page_names())
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\d.]*\d)")
# Decimals in the text of a page that no run made: sections and figures of the thesis, versions.
NOT_FIGURES = {
    "parsers-and-taggers": {"2.0"},
    "without-gain": {"2.2", "5.1", "0.9"},
    "thesis": {
        *("2.6", "2.7", "2.8", "3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7"),
        *("5.1", "5.3", "5.6", "0.4", "2.4", "2.2", "1.7", "64.3", "28.4", "30.2", "66.2", "58.6", "68.5"),
    },
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


def test_experiments_share_the_folder_of_stages():
    shared = []
    for experiment in EXPERIMENTS.values():
        parser = argparse.ArgumentParser()
        if experiment.add_arguments is not None:
            experiment.add_arguments(parser)
        shared += [(one.default, one.help) for one in parser._actions if "--work" in one.option_strings]
    assert len(shared) >= 5
    assert len(set(shared)) == 1


@pytest.mark.parametrize("experiment", [one for one in EXPERIMENTS.values() if one.needs_data])
def test_missing_data_is_one_line(experiment, monkeypatch, capsys):
    monkeypatch.delenv("QSPROJ_DATA", raising=False)
    with pytest.raises(SystemExit) as exit_:
        experiment.main([])
    assert exit_.value.code == 2
    assert capsys.readouterr().err.startswith("QSPROJ_DATA: found '', expected")


@ALL_PAGES
def test_a_page_is_its_template_and_figures(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert text == render(page), "run python -m scripts.experiments --pages"


def test_every_page_has_a_template():
    assert sorted(path.stem for path in DOCS.glob("*.md")) == page_names()


def test_every_record_is_of_an_experiment_and_on_a_page():
    """An experiment that has not run yet has no record."""
    commands = {experiment.record: experiment.command for experiment in EXPERIMENTS.values()}
    for name in record_names():
        assert f"{read_record(name).command} ".startswith(f"{commands[name]} ")
    shown = {name for page in page_names() for name in records_of((PAGES / f"{page}.md").read_text())}
    assert shown == set(record_names())


@ALL_PAGES
def test_figures_in_the_text_come_from_records(page):
    template = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`]*`|\{\{.*?\}\}", "", template, flags=re.DOTALL)
    assert set(DECIMAL.findall(prose)) <= NOT_FIGURES.get(page, set())


@ALL_PAGES
def test_a_page_names_no_aim_and_no_earlier_build(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert not re.search(r"\b(aims?|missed|was wanted|a build before|of today)\b", text)
