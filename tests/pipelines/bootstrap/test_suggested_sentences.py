"""What a bootstrap suggests to annotate next: what teaches most, not short sentences that are unsure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qsproj.corpus.editing import with_misc
from qsproj.corpus.sentence import Sentence
from qsproj.pipelines.bootstrap.suggestions import suggested_sentences


@dataclass(frozen=True)
class Sure:
    """A tagger that is sure of all tags."""

    def tag_distribution(self, sentence):
        return np.ones((len(sentence), 1))


def parsed(name, chances):
    words = [f"{name}{number}" for number in range(len(chances))]
    heads = [-1, *range(len(chances))]
    # Tags that no other word has: kinds do not count.
    return with_misc(
        Sentence.from_words(words, upos=words, heads=heads, sent_id=name),
        "ArcProb",
        [str(chance) for chance in chances],
    )


def test_what_teaches_most_by_the_second_comes_first():
    short, long, sure = parsed("a", [0.2] * 2), parsed("b", [0.2] * 12), parsed("c", [0.99] * 12)
    found = list(suggested_sentences([sure, short, long], Sure(), [], count=2))
    # 12 x .8 in 12 + 3 x .7 x 9.6 + 2 seconds, against 2 x .8 in 2 + 3 x .7 x 1.6 + 2.
    assert [one.sent_id for one in found] == ["b", "a"]
    # A long sentence of which half is sure is not worth its reading.
    found = list(suggested_sentences([parsed("d", [0.6] * 12), short], Sure(), [], count=2))
    assert [one.sent_id for one in found] == ["a", "d"]


class Unsure:
    """A tagger that is unsure of all tags."""

    def tag_distribution(self, sentence):
        return np.full((len(sentence), 2), 0.5)


def test_a_tag_teaches_all_words_of_the_form():
    rare = Sentence.from_words(["x", "y"], upos=["A", "B"], heads=[-1, 0, 1], sent_id="rare")
    often = Sentence.from_words(["z", "z"], upos=["C", "D"], heads=[-1, 0, 1], sent_id="often")
    rare, often = (with_misc(one, "ArcProb", ["1.0"] * 2) for one in (rare, often))
    found = list(suggested_sentences([rare, often], Unsure(), [], count=2))
    assert [one.sent_id for one in found] == ["often", "rare"]
    # Where the form is known already, the other comes first.
    known = Sentence.from_words(["z", "z", "z"], upos=["C", "D", "C"], heads=[-1, 0, 1, 1])
    found = list(suggested_sentences([rare, often], Unsure(), [known] * 3, count=2))
    assert [one.sent_id for one in found] == ["rare", "often"]


def test_what_is_annotated_is_not_suggested_again():
    once = Sentence.from_words(["x", "y"], upos=["A", "B"], heads=[-1, 0, 1], sent_id="once")
    other = Sentence.from_words(["z", "y"], upos=["A", "B"], heads=[-1, 0, 1], sent_id="other")
    parsed = [with_misc(one, "ArcProb", ["1.0"] * 2) for one in (once, other)]
    found = list(suggested_sentences(parsed, Unsure(), [once], count=2))
    assert [one.sent_id for one in found] == ["other"]
