"""Scores of files with other sentences: those of the same ID, as on the command line."""

import pytest

import qsproj
from qsproj.errors import DataError


def sentence(name, *words, heads):
    return qsproj.Sentence.from_words(words, heads=heads, sent_id=name)


GOLD = [sentence(name, "Dogs", "bark", heads=[2, 0]) for name in ("a", "b", "c")]


def test_common_sentences_are_scored_in_any_order():
    system = [sentence("c", "Dogs", "bark", heads=[0, 1]), sentence("a", "Dogs", "bark", heads=[2, 0])]
    with pytest.warns(UserWarning, match="paired 2 sentences by sent_id; left out 1 of gold"):
        scores = qsproj.evaluate(GOLD, system)
    assert (scores.sentences, scores.uas) == (2, 50.0)


def test_other_words_of_the_same_id_are_an_error():
    with pytest.raises(DataError, match="Cats"):
        qsproj.evaluate(GOLD, [sentence(name, "Cats", "bark", heads=[2, 0]) for name in ("a", "b", "c")])
