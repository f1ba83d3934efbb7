"""The page on joint parsing: tables and sentences where figures are missing; time of broken runs."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from scripts.experiments.joint.conditions import TRAINING
from scripts.experiments.joint.corpora import CORPORA
from scripts.experiments.joint.goals import GOALS, aims, goals
from scripts.experiments.joint.parsing import SHOWN, conditions_of, tables_of
from scripts.experiments.joint.timed import going_on
from scripts.experiments.pages.joint import ALONE
from scripts.experiments.pages.joint_parsing import (
    JOINT,
    NOT_MEASURED,
    SECOND_ALONE,
    SECOND_JOINT,
    SECOND_PIPELINED,
    SYNCHRONOUS,
    joint_parsing,
)


def measured(uas: float, milliseconds: float = 10.0) -> dict[str, float]:
    return {"target": uas, "target LAS": uas - 6, "source": uas + 1, "milliseconds": milliseconds}


@pytest.fixture
def named():
    """LinES alone, with 100, 200 and 800 trees."""
    lines = {
        100: {ALONE: measured(76.0), SECOND_ALONE: measured(77.5), JOINT: measured(79.0)},
        200: {ALONE: measured(78.5), SECOND_ALONE: measured(80.0), JOINT: measured(80.5)},
        800: {SECOND_JOINT: measured(85.0, 41.5) | {TRAINING: 480.0}, SECOND_PIPELINED: measured(84.0, 8.0)},
    }
    lines[100][SECOND_JOINT] = measured(79.5, 12.0) | {TRAINING: 60.0}
    return {name: lines if name == "lines" else {} for name in CORPORA}


def test_goals_are_differences_of_figures_that_are_there(named):
    found = {(row[0], row[1]): row[2:] for row in goals({"lines": named["lines"]}).rows}
    assert found == {
        ("full QG, joint, above target only with twice the trees", "100"): ("0", "+0.50"),
        ("English, full QG, joint, above the English parser", "100"): ("0.5", "+3.00"),
        ("English, full QG, joint, above the English parser", "200"): ("0.5", "+2.00"),
        ("order 2, joint, above the better of order 2, alone and full QG, joint", "100"): ("0.6", "+0.50"),
        ("order 2, joint, above order 2, alone with twice the trees", "100"): ("0", "-0.50"),
    }


def test_the_better_of_two_needs_both(named):
    better = next(goal for goal in GOALS if "the better of" in goal.what)
    del named["lines"][100][JOINT]
    assert better.found(named["lines"], 100) is None


def test_aims_show_the_longest_time(named):
    found = {row[0]: row[2] for row in aims(named).rows}
    assert found["order 2, joint: Swedish UAS with 800 trees"] == "85.00"
    assert found["order 2, joint: Italian UAS with 400 trees"] == ""
    assert found["order 2, joint: milliseconds a pair of LinES, at most"] == "41.5"
    assert found["order 2, joint: minutes of training on 800 pairs of LinES, at most"] == "8.0"


def test_sentences_say_what_there_is_and_what_is_missing(named):
    said = joint_parsing(tables_of(named))
    assert said["twice: above"] == "Swedish (100)"
    assert said["twice: below"] == "none"
    assert said["order 2, twice: below"] == "Swedish (100)"
    assert said["order 2: joint over alone"] == "+2.00 (Swedish)"
    assert said["training time"] == "1.0 minutes with 100 trees and 8.0 minutes with 800 trees"
    assert said["synchronous settled"] == said["families over MONO"] == said["true trees"] == NOT_MEASURED


def test_nothing_measured_is_a_page_too():
    said = joint_parsing(tables_of({name: {} for name in CORPORA}))
    assert said["twice: above"] == said["time"] == said["English gain"] == NOT_MEASURED


def test_many_trees_are_few_conditions():
    assert len(conditions_of("lines", 2738)) == 5
    assert SYNCHRONOUS in conditions_of("pud-zh", 600)
    assert all(size <= 2738 for name in SHOWN for size in CORPORA[name].sizes)


def test_time_of_a_training_that_was_broken_off_is_counted(tmp_path):
    def keep(seconds):
        """Go on, keep a state after so many seconds, and spend as many more that are lost."""
        state = replace(going_on(tmp_path / "state"), started=time.process_time() - seconds)
        state.write("epochs", {"fingerprint": "one"}, {"weights": np.zeros(2)})
        return replace(state, started=state.started - seconds).seconds

    about = partial(pytest.approx, abs=100.0)
    assert keep(5000.0) == about(10000.0)
    assert keep(4000.0) == about(13000.0)
    assert going_on(tmp_path / "state").seconds == about(9000.0)
