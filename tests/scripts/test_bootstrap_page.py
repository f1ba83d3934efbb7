"""What the page on bootstrapping says: aims reached and missed, what is not measured, lines of stages."""

from __future__ import annotations

import pytest

from scripts.experiments.harness.tables import table
from scripts.experiments.pages.transfer import bootstrap
from scripts.experiments.transfer.bootstrap import (
    aims_table,
    readings_table,
    runs_table,
    score_table,
    stages_table,
)
from scripts.experiments.transfer.bootstrap_runs import ENGLISH, OTHERS, other_treebanks
from scripts.experiments.transfer.by_tags import BEST_TAGS, GOLD_TAGS, UNCERTAIN_TAGS

LINES = [
    "prior: /data/en.conllu.gz: 3 sentences, weight 1/2 (all) (12 s)",
    "compiling ...",
    "links: 58% linked (kept)",
]


def scored(uas: float) -> dict[str, dict[str, float]]:
    one = {"upos": 89.0, "uas": uas, "las": 60.0, "las_no_subtypes": 68.5, "ece": 2.0}
    return {UNCERTAIN_TAGS: one, BEST_TAGS: {**one, "uas": uas - 2.5}, GOLD_TAGS: {**one, "uas": uas + 5.0}}


def row(uas: float) -> dict[str, object]:
    run = {"cpu": 400.4, "wall": 800.0, "peak": 1234.0, "said": LINES}
    return {"run": run, "PUD": scored(uas), "dev": scored(uas - 1.0)}


@pytest.fixture
def rows():
    """German is measured in two ways, Spanish not at all."""
    return {
        ("German", ENGLISH): row(78.5),
        ("German", OTHERS): row(79.7),
        ("Spanish", ENGLISH): None,
    }


@pytest.fixture
def phrases(rows):
    tables = {"PUD": score_table(rows, "PUD"), "dev": score_table(rows, "dev")}
    return bootstrap({**tables, "readings": readings_table(rows), "aims": aims_table()})


def test_aims_are_reached_or_missed_by_so_much(phrases):
    reached = "UPOS 89.0, aim 89: reached; UAS 78.5, aim 78.5: reached; "
    assert phrases["German: aims"] == f"{reached}LAS, no subtypes 68.5, aim 69.5: missed by 1.0"


def test_what_is_not_measured_is_said(phrases):
    assert phrases["missing"] == "Spanish (English)"
    assert phrases["Spanish: aims"] == phrases["Swedish: aims"] == "not measured yet"


def test_differences_are_those_of_the_cells(phrases):
    assert phrases["others"] == phrases["others on dev"] == "+1.2 (German)"
    assert phrases["gold tags"] == "+5.0 (German)"
    assert (phrases["readings: UAS"], phrases["readings: ECE"]) == ("+2.5 (German)", "+0.0 (German)")


def test_stages_are_shown_by_the_run_that_made_them(rows):
    assert runs_table(rows).rows[0] == ("German", ENGLISH, "400", "800", "1234", "1 of 2")
    assert runs_table(rows).rows[2] == ("Spanish", ENGLISH, "", "", "", "")
    made = ("prior", "en.conllu.gz: 3 sentences, weight 1/2 (all)", "12 s")
    assert stages_table(rows, "German").rows == ((ENGLISH, *made), (OTHERS, *made))
    assert stages_table(rows, "Spanish") == table(["trees of", "stage", "what it did", "took"], [])


def test_no_treebank_of_the_target_votes(tmp_path):
    class Lab:
        data = tmp_path

    (tmp_path / "treebanks").mkdir()
    for name in ("english-ewt", "spanish-gsd", "spanish-ancora", "german-gsd"):
        (tmp_path / "treebanks" / f"{name}-dev.conllu.gz").touch()
    (tmp_path / "treebanks" / "german-gsd-test.conllu.gz").touch()
    assert [path.name for path in other_treebanks(Lab, "es")] == [
        "german-gsd-dev.conllu.gz",
        "it-dev.conllu.gz",
    ]
