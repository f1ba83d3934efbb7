"""Errors: they come back from other processes as they were."""

from __future__ import annotations

import pickle

import pytest

import qsproj
from qsproj.errors import (
    DataError,
    MissingTreeError,
    SentenceLengthError,
    UsageError,
    WrongTypeError,
    pluralise,
)


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no file"),
        DataError("a.conllu", 3, found="a tab", expected="ten columns", remedy="add them"),
        SentenceLengthError(1001, 1000),
        MissingTreeError(2),
        WrongTypeError("found 3 (int)"),
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
    assert pluralise(count, "sentence pair") == text


SENTENCE = qsproj.Sentence.from_words(["Dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: qsproj.Sentence.from_words(["a"], heads=[5]),
        lambda: qsproj.Sentence.from_words(["a"], upos=["X", "X"]),
        lambda: qsproj.train_parser([]),
        lambda: qsproj.train_parser([SENTENCE], objective="best"),
        lambda: qsproj.train_parser([SENTENCE], seed=-1),
        lambda: qsproj.align([["a"]], [["a"], ["b"]]),
        lambda: qsproj.load_model("no-such.model"),
        lambda: list(qsproj.read_conllu("no-such.conllu")),
    ],
)
def test_wrong_values_are_value_errors(call):
    with pytest.raises(ValueError) as raised:
        call()
    assert isinstance(raised.value, qsproj.QsprojError)
    assert not isinstance(raised.value, TypeError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: qsproj.Sentence.from_words("a dog"),
        lambda: qsproj.Sentence.from_words([3]),
        lambda: qsproj.Sentence.from_words(["a"], heads="0"),
        lambda: qsproj.Sentence.from_words(["a"], heads=["0"]),
        lambda: qsproj.Sentence.from_words(["a"], sent_id=3),
        lambda: qsproj.train_parser(3),
        lambda: qsproj.train_parser("en.conllu"),
        lambda: qsproj.train_parser(SENTENCE),
        lambda: qsproj.train_parser([["Dogs", "bark"]]),
        lambda: qsproj.train_parser([SENTENCE], seed=1.5),
        lambda: qsproj.train_parser([SENTENCE], seed=True),
        lambda: qsproj.train_parser([SENTENCE], features=3),
        lambda: qsproj.project([SENTENCE], [SENTENCE], [], method=None),
        lambda: qsproj.align([["a"]], [["a"]], threshold="high"),
        lambda: qsproj.draw("a dog"),
        lambda: qsproj.load_model(None),
        lambda: qsproj.read_conllu(None).__next__(),
        lambda: qsproj.write_conllu(SENTENCE, "-"),
    ],
)
def test_wrong_types_are_type_errors(call):
    with pytest.raises(TypeError) as raised:
        call()
    assert isinstance(raised.value, qsproj.QsprojError)
