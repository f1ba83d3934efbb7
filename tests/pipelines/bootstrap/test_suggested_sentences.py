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


def test_a_sentence_with_more_to_learn_comes_before_a_short_one_that_is_less_sure():
    short, long, sure = parsed("a", [0.2] * 2), parsed("b", [0.6] * 12), parsed("c", [0.99] * 12)
    found = list(suggested_sentences([sure, short, long], Sure(), [], count=2))
    assert [one.sent_id for one in found] == ["b", "a"]
