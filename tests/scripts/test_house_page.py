"""What docs/house.md counts: lines by kind, circles of imports, and which functions call which."""

from __future__ import annotations

from qsproj.corpus.cells import bare_relation
from scripts.experiments.bench.house import Layers, in_circles, kinds_of
from scripts.experiments.bench.walks import calls_in

TEXT = '''"""A module
of two lines."""

import os

# Why.
def one(
    name: str,
) -> str:
    """A docstring."""
    return name
'''


def test_each_line_is_of_one_kind():
    kinds = ["docstring"] * 2 + ["blank", "import", "blank", "comment"]
    assert kinds_of(TEXT) == [*kinds, *["signature"] * 3, "docstring", "code"]


def test_circles_are_found():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}, "e": set()}) == {"b", "c"}


def test_the_first_contract_that_tells_modules_apart_says_which_is_above():
    layers = Layers()
    assert layers.is_above("qsproj.models.arc.labeller", "qsproj.training.loop")
    assert layers.is_above("qsproj.models.joint.joint_trees", "qsproj.models.arc.labeller")
    assert not layers.is_above("qsproj.training.loop", "qsproj.models.arc.labeller")
    assert not layers.is_above("qsproj.bp.run", "qsproj.features.atoms")


def test_calls_of_our_functions_are_found():
    assert calls_in(lambda: bare_relation("nsubj:pass")) == {(None, ("corpus/cells.py", "bare_relation"))}
    assert calls_in(lambda: len("")) == set()
