"""Choosing links by what hand alignments teach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.alignment.aligners import align_words
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.evaluation.alignment import alignment_scores
from qsproj.models.joint.joint_alignment import train_link_chooser
from tests.sentences import make_sentence


@pytest.fixture(scope="module")
def real_pairs(data_dir):
    """Hand-aligned pairs with the candidates of an aligner that has seen no more than them."""
    path = data_dir / "alignments" / "en-es" / "xl-wa-dev.tsv"
    rows = [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").split("\n") if line]
    words = [(source.split(), target.split()) for source, target in rows]
    candidates = align_words(words, threshold=0.1)
    sentences = [
        tuple(make_sentence(" ".join(side), " ".join("_" * len(side))) for side in pair) for pair in words
    ]
    pairs = [SentencePair(*pair, links) for pair, links in zip(sentences, candidates, strict=True)]
    return pairs, list(read_alignments(path, "tsv"))


def test_the_aligner_is_bettered_by_a_few_hand_alignments(real_pairs):
    pairs, gold = real_pairs
    by_hand = [replace(pair, hand=links) for pair, links in zip(pairs[:60], gold)]
    chooser = train_link_chooser(by_hand, rng=np.random.default_rng(1))
    test, hand = pairs[60:], gold[60:]
    own = [
        replace(
            pair.alignment,
            links=pair.alignment.links[pair.alignment.weights >= 0.5],
            sure=pair.alignment.sure[pair.alignment.weights >= 0.5],
            weights=None,
        )
        for pair in test
    ]
    before = alignment_scores(hand, own)
    after = alignment_scores(hand, [chooser.align(pair) for pair in test])
    assert after.error_rate < before.error_rate


def test_what_is_only_possible_is_hidden():
    """Two candidates for a word: the sure one is learned, the possible one is neither true nor false."""
    sentence = make_sentence("a b", "NOUN VERB")
    links = make_alignment(2, 2, [[1, 1], [1, 2], [2, 2]], weights=[0.5, 0.5, 0.5])
    pair = SentencePair(sentence, make_sentence("c d", "NOUN VERB"), links)
    hand = make_alignment(2, 2, [[1, 1], [2, 2]], sure=[True, False])
    chooser = train_link_chooser([replace(pair, hand=hand)] * 30, rng=np.random.default_rng(1))
    chances = dict(zip(map(tuple, links.links.tolist()), chooser.align(pair, threshold=0.0).weights))
    assert chances[1, 1] > 0.8
    assert chances[1, 2] < 0.2
    assert chances[1, 2] < chances[2, 2] < chances[1, 1]


def test_a_pair_without_candidates_keeps_none():
    sentence = make_sentence("a b", "NOUN VERB")
    pair = SentencePair(sentence, sentence, make_alignment(2, 2, [], weights=[]))
    chooser = train_link_chooser([replace(pair, hand=pair.alignment)], rng=np.random.default_rng(1))
    assert not len(chooser.align(pair).links)
