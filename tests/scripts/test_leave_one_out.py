"""The table of what ingredients are worth: ways as the bench reads them, means and losses."""

from __future__ import annotations

import pytest

from scripts.experiments.transfer.ablations import ABLATIONS
from scripts.experiments.transfer.by_tags import GOLD_TAGS, UNCERTAIN_TAGS
from scripts.experiments.transfer.leave_one_out import OF_TAGS, OF_TREES, TAGS, worth_table
from scripts.experiments.transfer.many_bench import Way


@pytest.mark.parametrize("way", [*(f"{TAGS} {way}" for way in OF_TAGS.values()), *OF_TREES.values()])
def test_each_way_leaves_one_ingredient_out(way):
    found, usual = Way.of(way), Way.of("")
    assert found != usual
    assert set(found.without) <= ABLATIONS.keys()
    own = [name for name in found.without if name != "features"]
    assert (
        len(own) + (found.soft != usual.soft) + (found.draws is not None) + (found.learn_text is False) == 1
    )


def runs(**upos):
    return {(code, 1): {UNCERTAIN_TAGS: {"upos": one}, GOLD_TAGS: {}} for code, one in upos.items()}


def test_what_is_worth_most_comes_first():
    usual = runs(wo=80.0, uk=70.0)
    changed = {
        "little": runs(wo=79.8, uk=70.1),
        "much": runs(wo=75.0, uk=71.0),
        "nothing": usual,
        "not run": {},
    }
    found = worth_table({name: (usual, one) for name, one in changed.items()}, ("UPOS",))
    assert found.names == ["much", "little", "nothing"]
    assert [found.cell("much", one) for one in ("UPOS", "UPOS, Wolof", "UPOS, Ukrainian")] == [
        "-2.0",
        "-5.0",
        "+1.0",
    ]
    assert found.cell("nothing", "UPOS") == "+0.0"


def test_of_trees_each_language_has_one_measure():
    kinds = {"uas": 60.0, "las_no_subtypes": 50.0}
    usual = {("hy", 1): {UNCERTAIN_TAGS: kinds, GOLD_TAGS: kinds}}
    less = {("hy", 1): {UNCERTAIN_TAGS: kinds | {"uas": 58.0}, GOLD_TAGS: kinds | {"las_no_subtypes": 49.0}}}
    found = worth_table({"one": (usual, less)}, ("UAS", "LAS", "LAS, gold tags"), each="LAS")
    row = [found.cell("one", one) for one in ("UAS", "LAS", "LAS, gold tags", "LAS, Armenian")]
    assert row == ["-2.0", "+0.0", "-1.0", "+0.0"]
