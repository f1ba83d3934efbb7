"""The experiment on joint parsing: what is measured, and the time of broken runs."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from scripts.experiments.joint.conditions import SYNCHRONOUS
from scripts.experiments.joint.corpora import CORPORA
from scripts.experiments.joint.parsing import SHOWN, conditions_of
from scripts.experiments.joint.timed import going_on


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
