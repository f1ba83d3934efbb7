"""Noisy-channel training: source trees alone move a parser that needs no translation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.editing import with_heads
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import UsageError
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_graph import JointWeights
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions
from qsproj.models.joint.joint_structure import NO_VARIABLE
from qsproj.models.joint.noisy_channel import NO_FAMILY
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.cotrain import (
    NoisyChannelOptions,
    source_tree_likelihood,
    train_noisy_channel,
)

OPTIONS = TrainingOptions(epochs=3)
ANNOTATED = 15


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def bilingual(pairs):
    source, _ = train_arc_parser(
        [pair.source for pair in pairs], rng=np.random.default_rng(1), options=OPTIONS
    )
    options = BiparseOptions(target_training=OPTIONS)
    return train_joint_parser(pairs[:ANNOTATED], source, rng=np.random.default_rng(1), options=options)[0]


def trained(bilingual, pairs, trees=()):
    options = NoisyChannelOptions(training=TrainingOptions(epochs=2))
    return train_noisy_channel(bilingual, trees, pairs, rng=np.random.default_rng(1), options=options)


def right_heads(parser, sentences):
    return sum(int((parser.parse(s).heads == s.heads)[1:].sum()) for s in sentences)


def test_source_trees_alone_teach_the_target(pairs, bilingual):
    """From pairs without any target tree; tested on others, without their source."""
    parser, report = trained(bilingual, pairs[ANNOTATED:60])
    test = [pair.target for pair in pairs[60:]]
    assert right_heads(parser, test) > right_heads(bilingual.target, test)
    assert (report.trees, report.pairs, report.skipped) == (0, 45, {})
    assert report.statuses.total() == 2 * 2 * 45
    assert report.statuses[Status.CONVERGED] > 150


def test_target_heads_are_not_read_and_the_same_seed_gives_the_same_parser(pairs, bilingual):
    unannotated = [
        replace(pair, target=with_heads(pair.target, np.full(len(pair.target) + 1, -1)))
        for pair in pairs[ANNOTATED:20]
    ]
    first, _ = trained(bilingual, pairs[ANNOTATED:20])
    again, _ = trained(bilingual, unannotated)
    assert np.array_equal(first.scorer.weights, again.scorer.weights)
    assert not np.array_equal(first.scorer.weights, bilingual.target.scorer.weights)


def test_a_channel_that_says_nothing_teaches_nothing(pairs, bilingual):
    silent = replace(bilingual, weights=JointWeights.untrained())
    parser, _ = trained(silent, pairs[ANNOTATED:20])
    np.testing.assert_allclose(parser.scorer.weights, bilingual.target.scorer.weights, atol=1e-6)


def test_what_cannot_be_learned_from_is_counted(pairs, bilingual):
    pair = pairs[ANNOTATED]
    bare = replace(pair, alignment=make_alignment(len(pair.source), len(pair.target), []))
    _, report = trained(bilingual, [pair, bare], [pairs[0].target])
    assert (report.trees, report.pairs, report.skipped) == (1, 1, {"no candidate link": 1})
    assert report.summary().endswith("left out: 1 for no candidate link")
    with pytest.raises(UsageError, match="neither a whole tree nor a pair"):
        trained(bilingual, [bare])


def test_source_words_that_explain_their_tree_leave_nothing_to_learn(pairs, bilingual):
    """The source parser was trained on these very trees."""
    options = NoisyChannelOptions(training=TrainingOptions(epochs=1), source_scale=1.0)
    few = pairs[ANNOTATED:20]
    parser, _ = train_noisy_channel(bilingual, (), few, rng=np.random.default_rng(1), options=options)
    np.testing.assert_allclose(parser.scorer.weights, bilingual.target.scorer.weights, atol=1e-6)


def test_arcs_of_an_observed_source_tree_are_not_pruned(pairs, bilingual):
    """Each word is headed by the next, which the source parser finds next to impossible."""
    observed = replace(bilingual, options=JointOptions(source_tree="observed"))
    pair = pairs[20]
    m = len(pair.source)
    chain = np.array([-1, *range(2, m + 1), 0], dtype=np.int32)
    likely, unlikely = (
        source_tree_likelihood(
            observed,
            replace(pair, source=with_heads(pair.source, heads)),
            options=NoisyChannelOptions(),
        )
        for heads in (pair.source.heads, chain)
    )
    words = np.arange(1, m + 1)
    assert np.any(likely.structure.source.arcs[chain[1:], words] == NO_VARIABLE)
    assert np.all(unlikely.structure.source.arcs[chain[1:], words] != NO_VARIABLE)
    messages = np.count_nonzero(unlikely.structure.target.arcs != NO_VARIABLE)
    assert len(unlikely.scores.factors) + messages == len(unlikely.structure.rows)
    loss, gradient = unlikely.value_and_gradient(bilingual.target.scores(pair.target))
    assert np.isfinite(loss)
    assert np.abs(gradient).max() > 1e-3
    assert unlikely.statuses == {Status.CONVERGED: 2}


def test_the_channel_has_the_factors_that_are_asked_for(pairs, bilingual):
    """By the factors of the graph, and by what is learned through them."""

    def channel(*families):
        return NoisyChannelOptions(training=TrainingOptions(epochs=1), families=families)

    numbers = {name: FAMILIES.index(name) for name in ("MONO", "SWAP")}
    for families in (("MONO",), ("SWAP",), ("MONO", "SWAP")):
        graph = source_tree_likelihood(bilingual, pairs[20], options=channel(*families)).structure
        found = set(graph.families.tolist()) - {NO_FAMILY}
        assert found == {numbers[name] for name in families}
    parallel, turned = (
        train_noisy_channel(bilingual, (), pairs[20:24], rng=np.random.default_rng(1), options=channel(name))[
            0
        ].scorer.weights
        for name in numbers
    )
    assert not np.array_equal(parallel, turned)
    with pytest.raises(UsageError, match="expected one of NONE: without it"):
        source = channel("NONE")
        train_noisy_channel(bilingual, (), pairs[20:21], rng=np.random.default_rng(1), options=source)


def test_a_forest_takes_the_place_of_the_best_tree(pairs, bilingual):
    """Agreement with all trees: other weights, and no arc that was pruned."""
    few = pairs[20:22]
    weights = {}
    for forest in ("best", "agreement"):
        options = NoisyChannelOptions(training=TrainingOptions(epochs=1), source_forest=forest)
        objective = source_tree_likelihood(bilingual, few[0], options=options)
        assert not objective.seen.chances[objective.structure.source.arcs == NO_VARIABLE].any()
        rng = np.random.default_rng(1)
        parser, report = train_noisy_channel(bilingual, (), few, rng=rng, options=options)
        assert report.statuses.total() == len(few) * 2
        weights[forest] = parser.scorer.weights
    assert not np.array_equal(weights["best"], weights["agreement"])


def test_observed_source_trees_are_asked_for(pairs, bilingual):
    observed = replace(bilingual, options=JointOptions(source_tree="observed"))
    headless = with_heads(pairs[20].source, np.full(len(pairs[20].source) + 1, -1))
    with pytest.raises(UsageError, match="no head at word 1"):
        trained(observed, [replace(pairs[20], source=headless)])
    assert trained(observed, pairs[20:22])[1].pairs == 2
