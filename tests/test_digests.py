"""Tiny models of every kind, and what they write, are byte for byte what they were.

A change of the code that is to leave behaviour alone leaves these alone. Where a change is meant, digests are
made anew by ``python -m scripts.digests NAME... --write``, and the commit says which changed and why.
"""

from __future__ import annotations

import pytest

from scripts.digests.cases import CASES, with_needs
from scripts.digests.comparing import difference, made, record, recorded, why_not_comparable


@pytest.fixture(scope="module")
def digests(request):
    """Digests of the cases whose tests were chosen, made in one process."""
    circumstances, on_record = recorded()
    reason = why_not_comparable(circumstances)
    if reason:
        pytest.skip(reason)
    chosen = [item.callspec.params["name"] for item in request.session.items if _compares(item)]
    return dict(made(chosen)), on_record


def _compares(item):
    return getattr(item, "originalname", "") == "test_models_and_outputs_are_as_on_record"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_models_and_outputs_are_as_on_record(name, digests):
    found, on_record = digests
    assert difference(found[name], on_record.get(name, {})) == []


def test_nothing_is_on_record_that_is_not_made():
    assert set(recorded()[1]) == set(CASES)


def test_cases_come_after_what_they_need():
    assert with_needs(["suggest", "joined"]) == [
        "likelihood",
        "suggest",
        "english",
        "joint",
        "joined",
    ]


def test_a_part_that_differs_is_named():
    assert difference({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == [
        "b: 2, on record 3",
        "c: missing, on record 4",
    ]
    assert difference({"a": "1"}, {"a": "1"}) == []


def test_a_stage_that_makes_something_else_must_have_another_version():
    circumstances, on_record = recorded()
    if why_not_comparable(circumstances):
        pytest.skip("made in other circumstances")
    stages = {part: digest for part, digest in on_record["bootstrap"].items() if part.startswith("stages/")}
    kinds = {part.removeprefix("stages/").partition("-")[0] for part in stages}
    assert kinds == {"source", "words", "links", "trees", "tagger", "tagged", "prior", "parser", "model"}
    with pytest.raises(RuntimeError, match="raise the version"):
        record({"bootstrap": {**on_record["bootstrap"], next(iter(stages)): "another"}})
    assert recorded() == (circumstances, on_record)
