"""Evidence of links for the tags of words, against sums by hand."""

import math

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.self_training import link_evidence


@pytest.fixture
def text():
    """Return two sentences whose third word has two links and fourth none."""
    source = Sentence.from_words(["a", "b", "c"], upos=["NOUN", "PRON", "VERB"])
    links = make_alignment(3, 4, [(1, 1), (2, 2), (2, 3), (3, 3)], weights=[1.0, 0.5, 0.8, 0.9])
    pairs = [SentencePair(source, Sentence.from_words(list(forms)), links) for forms in ("wxyz", "zyxw")]
    return read_linked_text([(pair,) for pair in pairs], link_power=4.0)


def by_hand(votes, weights):
    """Return the evidence of one word from its votes by tag, tag by tag."""
    total = sum(votes)
    belief = [(vote / total if total else 0.0) + 1 / len(votes) for vote in votes]
    likelihoods = [1 - min(total, 1) + min(total, 1) * one / max(belief) for one in belief]
    products = [weight * one for weight, one in zip(weights, likelihoods, strict=True)]
    return [math.log(one / max(products)) if one else -math.inf for one in products]


def test_half_of_the_evidence_of_a_link_is_for_all_tags(text):
    weights = np.random.default_rng(1).random((len(text.vocabulary), 3))
    weights[text.vocabulary.index("w"), 2] = 0.0
    evidence = link_evidence(text, weights, [0, 1])
    votes = [[1, 0, 0], [0, 0.5**4, 0], [0, 0.8**4, 0.9**4], [0, 0, 0]]
    assert text.tags == ("NOUN", "PRON", "VERB")
    for row, word, own in zip(evidence, "wxyzzyxw", votes * 2, strict=True):
        assert row.tolist() == pytest.approx(by_hand(own, weights[text.vocabulary.index(word)]), rel=1e-5)


def test_a_sure_link_makes_its_tag_as_likely_as_all_tags_and_itself(text):
    """Of three tags, that of the link has 1 + 1/3 and the others 1/3: 4 to 1."""
    evidence = link_evidence(text, np.ones((len(text.vocabulary), 3)), [0])
    np.testing.assert_allclose(np.exp(evidence[0]), [1.0, 0.25, 0.25], rtol=1e-6)
    assert evidence[3].tolist() == [0.0, 0.0, 0.0]


def test_evidence_is_of_the_given_sentences_in_their_order(text):
    sets = np.random.default_rng(1).random((len(text.vocabulary), 3)) < 0.7
    sets[:, 0] = True
    whole, some = link_evidence(text, sets, [0, 1]), [1, 0]
    evidence = link_evidence(text, sets, some)
    expected = [whole[text.words_of(sentence)] for sentence in some]
    assert np.array_equal(evidence, np.concatenate(expected))
    for one, other in zip(text.parted(evidence, some), expected, strict=True):
        assert np.array_equal(one, other)
