"""A grammar trained on a few trees more: its probabilities against counts in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_heads
from qsproj.errors import NothingToLearnError
from qsproj.models.dmv.dmv import tag_numbers
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.dmv.dmv_training import OWN_DECISIONS, e_step_of, fine_tuned_dmv, pack, train_dmv
from qsproj.trees.crossings import crossing_arcs
from tests.sentences import make_sentence


@pytest.fixture(scope="module")
def sample():
    projective = (one for one in read_conllu("corpora/de.conllu") if not crossing_arcs(one.heads).any())
    return list(islice(projective, 40))


def test_decisions_of_trees_are_counted_beside_its_own(sample):
    options = DmvOptions(iterations=3, punctuation="keep", max_words=40)
    grammar, _ = train_dmv(sample[:20], options=options)
    tuned = fine_tuned_dmv(grammar, sample[20:], rng=np.random.default_rng(1))
    places = {tag: number for number, tag in enumerate(grammar.inventory)}
    roots, children, stops = Counter(), Counter(), Counter()
    for sentence in sample[20:]:
        tags, heads = [places.get(tag, 0) for tag in ("", *sentence.upos)], sentence.heads.tolist()
        for word in range(1, len(heads)):
            if heads[word] == 0:
                roots[tags[word]] += 1
            else:
                children[tags[heads[word]], int(word > heads[word]), tags[word]] += 1
            for side, of_side in enumerate((range(1, word), range(word + 1, len(heads)))):
                own = sum(heads[other] == word for other in of_side)
                for valence in (0, 1):
                    # With valence 0 it decides once, with 1 after each dependent.
                    stops[tags[word], side, valence, "stop"] += own == 0 if valence == 0 else own > 0
                    stops[tags[word], side, valence, "go"] += min(own, 1) if valence == 0 else max(own - 1, 0)
    old, new, n = grammar.parameters, tuned.parameters, OWN_DECISIONS
    size = len(grammar.inventory)
    for head in range(size):
        assert new.root[head] == pytest.approx((n * old.root[head] + roots[head]) / (n + roots.total()))
        for side in (0, 1):
            seen = sum(children[head, side, other] for other in range(size))
            for child in range(size):
                expected = (n * old.child[head, side, child] + children[head, side, child]) / (n + seen)
                assert new.child[head, side, child] == pytest.approx(expected)
            for valence in (0, 1):
                stop, go = (stops[head, side, valence, one] for one in ("stop", "go"))
                expected = (n * old.stop[head, side, valence] + stop) / (n + stop + go)
                assert new.stop[head, side, valence] == pytest.approx(expected)
    assert set(tuned.labeller.relations) == {name for one in sample[20:] for name in one.deprels}


def test_only_long_sentences_are_refused_with_a_remedy(sample):
    long = [one for one in sample if len(one) > 3]
    told = r"left out: \d+ for no words, or more than 3 words\); add shorter sentences, or choose another"
    with pytest.raises(NothingToLearnError, match=told):
        train_dmv(long, options=DmvOptions(max_words=3, punctuation="keep"))


def test_trees_are_needed(sample):
    grammar, _ = train_dmv(sample, options=DmvOptions(iterations=1))
    with pytest.raises(NothingToLearnError, match="HEAD"):
        fine_tuned_dmv(grammar, [], rng=np.random.default_rng(1))


def test_partial_trees_teach_by_expected_decisions(sample):
    grammar, _ = train_dmv(sample[:20], options=DmvOptions(iterations=3, punctuation="keep", max_words=40))
    parts = [with_heads(one, np.where(np.arange(len(one) + 1) == 1, -1, one.heads)) for one in sample[20:]]
    own, tuned = grammar.parameters, fine_tuned_dmv(grammar, parts, rng=np.random.default_rng(1)).parameters
    tags = [tag_numbers(one.upos, grammar.inventory) for one in parts]
    counts, _ = e_step_of(pack(parts, tags, punctuation="keep", heads=[one.heads for one in parts]), own)
    expected = OWN_DECISIONS * own.root + counts.root
    np.testing.assert_allclose(tuned.root, expected / expected.sum(axis=-1, keepdims=True))
    assert not np.allclose(tuned.root, own.root)


@pytest.mark.parametrize("heads", [[3, 4, 0, -1, 2], [0, 0, -1, -1, -1]])
def test_heads_that_no_tree_has_teach_nothing(sample, heads):
    grammar, _ = train_dmv(sample[:20], options=DmvOptions(iterations=1))
    odd = make_sentence("a b c d e", "NOUN NOUN NOUN NOUN NOUN", heads)
    with pytest.raises(NothingToLearnError, match="no possible tree has the known heads"):
        fine_tuned_dmv(grammar, [odd], rng=np.random.default_rng(1))
