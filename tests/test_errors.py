"""Errors: they come back from other processes as they were."""

from __future__ import annotations

import pickle

import pytest

from qsproj.errors import DataError, MissingTreeError, SentenceLengthError, UsageError, counted


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no file"),
        DataError("a.conllu", 3, found="a tab", expected="ten columns", remedy="add them"),
        SentenceLengthError(1001, 1000),
        MissingTreeError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_can_be_pickled(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 sentence pairs"), (1, "1 sentence pair"), (1001, "1,001 sentence pairs")]
)
def test_counts_are_singular_and_plural(count, text):
    assert counted(count, "sentence pair") == text
