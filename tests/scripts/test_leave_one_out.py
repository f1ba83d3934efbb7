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
    usual = runs(wo=80.0, uk=70.0, tr=60.0)
    changed = {
        "little": runs(wo=79.8, uk=70.1, tr=60.0),
        "much": runs(wo=75.0, uk=70.6, tr=59.4),
        "nothing": usual,
        "not run": {},
    }
    found = worth_table({name: (usual, one) for name, one in changed.items()}, ("UPOS",))
    assert found.names == ["much", "little", "nothing"]
    measures = ("UPOS", "UPOS, New Testament", "UPOS, news", "UPOS, 1,000 pairs", "loses", "gains")
    row = ["-1.7", "-2.2", "", "-0.6", "Wolof -5.0, Turkish -0.6", "Ukrainian +0.6"]
    assert [found.cell("much", one) for one in measures] == row
    assert [found.cell("little", one) for one in ("UPOS", "loses", "gains")] == ["+0.0", "", ""]


def test_news_are_named_apart_from_testaments():
    usual, less = runs(**{"de": 80.0, "de-news": 80.0}), runs(**{"de": 79.0, "de-news": 78.0})
    found = worth_table({"one": (usual, less)}, ("UPOS",))
    assert found.cell("one", "loses") == "German news -2.0, German -1.0"


def test_of_trees_each_language_has_one_measure():
    kinds = {"uas": 60.0, "las_no_subtypes": 50.0}
    usual = {("hy", 1): {UNCERTAIN_TAGS: kinds, GOLD_TAGS: kinds}}
    less = {("hy", 1): {UNCERTAIN_TAGS: kinds | {"uas": 58.0}, GOLD_TAGS: kinds | {"las_no_subtypes": 49.0}}}
    found = worth_table({"one": (usual, less)}, ("UAS", "LAS", "LAS, gold tags"), each="LAS")
    row = [found.cell("one", one) for one in ("UAS", "LAS", "LAS, gold tags", "LAS, New Testament", "loses")]
    assert row == ["-2.0", "+0.0", "-1.0", "+0.0", ""]
