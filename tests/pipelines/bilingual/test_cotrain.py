"""Co-training: pairs without trees teach a parser that needs no translation; unusable ones are counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import BiparseOptions
from qsproj.parallel import Workers
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.cotrain import all_beliefs, cotrain, target_beliefs

OPTIONS = TrainingOptions(epochs=3)
ANNOTATED = 15


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def bilingual(pairs):
    source, _ = train_arc_parser(
        list(read_conllu("corpora/en.conllu")), rng=np.random.default_rng(1), options=OPTIONS
    )
    options = BiparseOptions(target_training=OPTIONS)
    return train_joint_parser(pairs[:ANNOTATED], source, rng=np.random.default_rng(1), options=options)[0]


def without_trees(pair):
    return replace(pair, target=replace(pair.target, heads=np.full_like(pair.target.heads, -1)))


def co_trained(bilingual, pairs, trees, *, seed=1, rounds=1):
    rng = np.random.default_rng(seed)
    return cotrain(bilingual, trees, pairs, rng=rng, rounds=rounds, training=OPTIONS)


def trees_of(pairs):
    return [pair.target for pair in pairs[:ANNOTATED]]


def right_heads(parser, sentences):
    return sum(int((parser.parse(s).heads == s.heads)[1:].sum()) for s in sentences)


def test_pairs_without_trees_teach_a_parser_that_needs_no_translation(pairs, bilingual):
    """Learned from 15 trees and 45 pairs; tested on others, without their source."""
    unannotated = [without_trees(pair) for pair in pairs[ANNOTATED:60]]
    parser, report = co_trained(bilingual, unannotated, trees_of(pairs))
    test = [pair.target for pair in pairs[60:]]
    assert right_heads(parser, test) > right_heads(bilingual.target, test)
    assert (report.trees, report.pairs, report.skipped) == (ANNOTATED, 45, {})
    assert "15 trees and 45 pairs" in report.summary()


def test_the_second_round_learns_from_a_bilingual_parser_that_has_learned(pairs, bilingual):
    """Two rounds are one after the other, the first round's parser being the second's target side."""
    unannotated, trees = [without_trees(pair) for pair in pairs[ANNOTATED:25]], trees_of(pairs)
    rng = np.random.default_rng(1)
    first, _ = cotrain(bilingual, trees, unannotated, rng=rng, training=OPTIONS)
    second, _ = cotrain(replace(bilingual, target=first), trees, unannotated, rng=rng, training=OPTIONS)
    twice, report = co_trained(bilingual, unannotated, trees, rounds=2)
    assert np.array_equal(twice.scorer.weights, second.scorer.weights)
    assert report.statuses.total() == 2 * len(unannotated)


def test_the_same_seed_gives_the_same_parser(pairs, bilingual):
    unannotated = pairs[ANNOTATED:25]
    first, _ = co_trained(bilingual, unannotated, trees_of(pairs))
    again, _ = co_trained(bilingual, [without_trees(pair) for pair in unannotated], trees_of(pairs))
    assert np.array_equal(first.scorer.weights, again.scorer.weights)


def test_beliefs_are_distributions_over_heads(pairs, bilingual):
    for pair in pairs[ANNOTATED:25]:
        chances, status = target_beliefs(bilingual, pair)
        assert np.allclose(chances[:, 1:].sum(axis=0), 1.0)
        assert (chances >= 0).all()
        assert not np.allclose(chances, bilingual.arc_probabilities(pair.target), atol=1e-2)
        assert status is Status.CONVERGED


def test_other_processes_believe_the_same(pairs, bilingual):
    here = list(all_beliefs(bilingual, pairs[ANNOTATED:20], Workers(jobs=1)))
    there = list(all_beliefs(bilingual, pairs[ANNOTATED:20], Workers(jobs=2)))
    assert len(here) == 5
    for (chances, status), (same, ending) in zip(here, there, strict=True):
        np.testing.assert_array_equal(chances, same)
        assert status is ending


def test_what_cannot_be_learned_from_is_counted(pairs, bilingual):
    pair = pairs[ANNOTATED]
    empty = make_alignment(len(pair.source), len(pair.target), np.zeros((0, 2), dtype=np.int32))
    trees = [*trees_of(pairs), without_trees(pair).target]
    _, report = co_trained(bilingual, [pair, replace(pair, alignment=empty)], trees)
    assert (report.trees, report.pairs) == (ANNOTATED, 1)
    assert report.skipped == {
        "sentences too long or without a whole tree": 1,
        "no candidate link": 1,
    }


def test_nothing_to_learn_from_is_an_error(pairs, bilingual):
    with pytest.raises(UsageError, match="neither a whole tree nor a pair"):
        co_trained(bilingual, [], [])
