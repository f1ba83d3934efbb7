"""The experiment on bootstrapping: lines of stages, and treebanks that vote."""

from __future__ import annotations

import pytest

from scripts.experiments.transfer.bootstrap import runs_table, score_table
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


def test_what_is_not_measured_is_an_empty_cell(rows):
    scores = score_table(rows, "PUD")
    assert scores.cell("German", OTHERS, "UAS") == "79.7"
    assert scores.cell("German", OTHERS, "UAS, gold tags") == "84.7"
    assert scores.cell("Spanish", ENGLISH, "UAS") == ""


def test_runs_have_their_times_and_memory(rows):
    assert runs_table(rows).rows[0] == ("German", ENGLISH, "400", "800", "1234")
    assert runs_table(rows).rows[2] == ("Spanish", ENGLISH, "", "", "")


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
