"""Target weights that are learned together with the joint ones."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.features.joint_templates import FERTILITY_BINS
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.residual import with_added
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_structure import free_side, joint_structure
from qsproj.models.joint.joint_training import (
    JointExample,
    JointTrainer,
    train_joint_weights,
    train_target_jointly,
)
from qsproj.models.joint.joint_trees import train_target, tree_scores
from qsproj.models.joint.joint_weights import JointWeights, PreparedPair
from qsproj.models.tree_decoder import TreeDecoder, reachable
from tests.oracles.factor_graphs import log_sum
from tests.oracles.finite_differences import gradient as numerical_gradient
from tests.oracles.joint_pairs import PairEnumeration
from tests.oracles.trees import all_trees

TREES = TreeDecoder(projective=False, single_root=False)


def side(first):
    kept = ~np.eye(3, dtype=bool)
    kept[:, 0] = False
    return free_side(np.full(kept.shape, 0.5), kept, first, TREES)


MONO_BUCKET = 7


def featureless(count):
    return np.zeros((count, 0), dtype=np.int32)


def example_without_loops(rng, target_heads):
    """One candidate link: the only factor is MONO from the root, with one feature."""
    source = side(1)
    target = side(int(source.arcs.max()) + 1)
    structure = joint_structure(
        source,
        target,
        np.array([[2, 2]], dtype=np.int32),
        int(target.arcs.max()) + 1,
        families=("MONO",),
    )
    prepared = PreparedPair(
        structure=structure,
        source=rng.normal(size=(3, 3)),
        target=rng.normal(size=(3, 3)),
        prior=rng.normal(size=1),
        buckets={
            "links": featureless(1),
            "fertility": featureless(4 * FERTILITY_BINS),
            "factors": np.full((len(structure.rows), 1), MONO_BUCKET, dtype=np.int32),
            "jumps": featureless(0),
        },
    )
    return JointExample(prepared, np.array(target_heads, dtype=np.int32))


@pytest.mark.parametrize("target_heads", [(-1, 0, 1), (-1, 2, 0), (-1, 0, 0)])
def test_the_gradient_is_that_of_the_likelihood_of_the_target_tree(target_heads):
    """Enumeration of all trees and links, with the target tree given and not; exact without loops."""
    rng = np.random.default_rng(8)
    example = example_without_loops(rng, target_heads)
    trainer = JointTrainer(JointTrainingOptions())
    trainer.weights.weights[MONO_BUCKET] = 1.5
    scores = trainer.weights.scores(example.pair)
    words = example.pair.structure.words.tolist()
    trees = all_trees(2, projective=False, single_root=False)

    def loss(added):
        def log_z(target_trees):
            return PairEnumeration(
                trees,
                target_trees,
                (scores.source.tolist(), (scores.target + added).tolist()),
                {(2, 2): scores.links[0]},
                scores.fertility.tolist(),
                [("MONO", words[0], scores.factors[0])],
            ).log_z

        return log_z(trees) - log_z([target_heads])

    added = rng.normal(size=(3, 3))
    _, gradient = trainer.step_above(example, added)
    numerical = numerical_gradient(loss, added)
    np.testing.assert_allclose(gradient[:, 1:], numerical[:, 1:], atol=2e-3)
    assert np.abs(gradient).max() > 0.1


@pytest.mark.parametrize("target_heads", [(-1, 0, 1), (-1, 2, 0), (-1, 0, 0)])
def test_without_a_source_the_gradient_is_that_of_the_tree_among_all_trees(target_heads):
    """And so again once the target scale has moved."""
    rng = np.random.default_rng(9)
    example = example_without_loops(rng, target_heads)
    trainer = JointTrainer(JointTrainingOptions())
    trees = all_trees(2, projective=False, single_root=False)
    words = range(1, 3)
    for _ in range(3):
        scale = trainer.weights.target_scale
        scores = scale * example.pair.target

        def loss(added, scores=scores):
            of_trees = [sum((scores + added)[tree[d], d] for d in words) for tree in trees]
            return log_sum(of_trees) - sum((scores + added)[target_heads[d], d] for d in words)

        added = rng.normal(size=(3, 3))
        expected = loss(added), numerical_gradient(loss, added)
        found, gradient = trainer.step_alone(example, added)
        assert found == pytest.approx(expected[0])
        np.testing.assert_allclose(gradient[:, 1:], expected[1][:, 1:], atol=1e-7)
        # The scale goes down its own slope: by the rule that it learns by, the first step is of full size.
        slope = (gradient * example.pair.target)[example.pair.structure.target.arcs >= 0].sum()
        assert np.sign(trainer.weights.target_scale - scale) == -np.sign(slope)
    assert abs(trainer.weights.target_scale - 1.0) > 0.05
    assert not trainer.weights.weights.any()


@pytest.fixture(scope="module")
def taught():
    """Return the joint parser that moves its target weights and the one that does not, from 20 pairs."""
    pairs = list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))[:20]
    rng = np.random.default_rng(1)
    target = train_target(pairs, rng=rng, training=TrainingOptions(epochs=2))
    sources = [pair.source for pair in pairs]
    source, _ = train_arc_parser(sources, rng=rng, options=TrainingOptions(epochs=2))
    untrained = JointParser(source=source, target=target.parser, weights=JointWeights.untrained())
    examples = []
    for pair, scores in zip(pairs, target.scores, strict=True):
        heads = reachable(pair.target.heads, target.parser.inference)
        examples.append(JointExample(untrained.prepare(pair, target_scores=scores), heads))
    options = JointTrainingOptions(epochs=2)
    fixed, records, _ = train_joint_weights(
        examples,
        rng=np.random.default_rng(2),
        options=options,
    )
    together = train_target_jointly(
        examples,
        [pair.target for pair in pairs],
        target.parser,
        rng=np.random.default_rng(2),
        options=options,
    )
    return pairs, target.parser, (fixed, records), together


def test_moving_the_target_weights_explains_the_trees_better(taught):
    _, _, (_, fixed_records), (_, _, records, statuses) = taught
    assert records[-1].loss < fixed_records[-1].loss
    assert [of_epoch.total() for of_epoch in statuses] == [2 * 20] * 2


def test_empty_sources_are_learned_from_beside_the_pairs(taught):
    """As many runs of belief propagation, none for an empty source; and other target weights."""
    pairs, given, _, _ = taught
    few = pairs[:3]
    parser = JointParser(source=given, target=given, weights=JointWeights.untrained())
    examples = []
    for pair in few:
        # Not the tree that the parser was trained on, which it is sure of.
        chain = np.arange(-1, len(pair.target), dtype=np.int32)
        scores = tree_scores(given, pair.target, required=chain)
        examples.append(JointExample(parser.prepare(pair, target_scores=scores), chain))
    weights = []
    for null_source in (False, True):
        trained, _, _, runs = train_target_jointly(
            examples,
            [pair.target for pair in few],
            given,
            rng=np.random.default_rng(2),
            options=JointTrainingOptions(epochs=1, null_source=null_source),
        )
        assert runs[0].total() == 2 * len(few)
        weights.append(trained.scorer.weights)
    assert not np.array_equal(*weights)


def test_what_is_added_counts_once_at_the_learned_scale(taught):
    pairs, given, _, (parser, _, _, _) = taught
    sentence = pairs[0].target
    features = given.scorer.features(given.scorer.encode(sentence))
    added = ArcScorer(given.scorer.template_set, parser.scorer.weights - given.scorer.weights)
    np.testing.assert_allclose(
        0.5 * with_added(given, added, scale=0.5).scores(sentence),
        0.5 * given.scores(sentence) + added.scores(features),
        atol=1e-4,
    )
