"""What the joint weights are taught: the likelihood of target trees, and of the source parser's in part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.features.joint_templates import FERTILITY_BINS
from qsproj.models.joint.joint_graph import JointBeliefs, PreparedPair, interpolated
from qsproj.models.joint.joint_options import JointTrainingOptions
from qsproj.models.joint.joint_structure import FALSE_STATE, TRUE_STATE, UNKNOWN, free_side, joint_structure
from qsproj.models.joint.joint_training import JointExample, JointTrainer
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.finite_differences import gradient as numerical_gradient
from tests.oracles.joint_pairs import PairEnumeration
from tests.oracles.trees import all_trees

TREES = TreeDecoder(projective=False, single_root=False)
MONO_BUCKET = 7
CERTAIN = 60.0
PARALLEL, OTHER = (-1, 2, 0), (-1, 0, 1)


def side(first):
    kept = ~np.eye(3, dtype=bool)
    kept[:, 0] = False
    return free_side(np.full(kept.shape, 0.5), kept, first, TREES)


def featureless(count):
    return np.zeros((count, 0), dtype=np.int32)


def example(rng, target_heads, source_heads):
    """Two words a side and one candidate link: the only factor is MONO from the root, so there is no loop."""
    source = side(1)
    target = side(int(source.arcs.max()) + 1)
    first_link = int(target.arcs.max()) + 1
    links = np.array([[2, 2]], dtype=np.int32)
    structure = joint_structure(source, target, links, first_link, families=("MONO",))
    prepared = PreparedPair(
        structure=structure,
        source=rng.normal(size=(3, 3)),
        target=rng.normal(size=(3, 3)),
        prior=np.array([4.0]),
        buckets={
            "links": featureless(1),
            "fertility": featureless(4 * FERTILITY_BINS),
            "factors": np.full((len(structure.rows), 1), MONO_BUCKET, dtype=np.int32),
            "jumps": featureless(0),
        },
    )
    heads = (np.array(tree, dtype=np.int32) for tree in (target_heads, source_heads))
    target_tree, source_tree = heads
    return JointExample(prepared, target_tree, source_heads=source_tree)


def loss(given, scores, evidence):
    """Minus the log-likelihood of the target tree, and of the source tree given it, by enumeration."""
    trees = all_trees(2, projective=False, single_root=False)
    words = given.pair.structure.words.tolist()

    def log_z(source_trees, target_trees, link=0.0):
        return PairEnumeration(
            source_trees,
            target_trees,
            (scores.source.tolist(), scores.target.tolist()),
            {(2, 2): scores.links[0] + link},
            scores.fertility.tolist(),
            [("MONO", words[0], scores.factors[0])],
        ).log_z

    target, source = given.target_heads.tolist(), given.source_heads.tolist()
    link = 0.0
    if given.link_states is not None:
        # With so much the link is certain; what it adds is the same in both, and of no consequence.
        link = {TRUE_STATE: CERTAIN, FALSE_STATE: -np.inf, UNKNOWN: 0.0}[given.link_states[0]]
    hidden = log_z(trees, [target], link)
    return log_z(trees, trees) - hidden + evidence * (hidden - log_z([source], [target], link))


@pytest.mark.parametrize("evidence", [0.0, 0.25, 1.0])
def test_training_ends_where_the_likelihood_is_level(evidence):
    rng = np.random.default_rng(3)
    trees = [(PARALLEL, PARALLEL), (OTHER, OTHER), (PARALLEL, OTHER), (OTHER, PARALLEL), (PARALLEL, PARALLEL)]
    examples = [example(rng, *pair) for pair in trees]
    options = JointTrainingOptions(rate=0.3, l2=0.0, source_evidence=evidence)
    trainer = JointTrainer(options)
    for _ in range(300):
        for given in examples:
            trainer.step(given)
    end = trainer.weights

    def total(weight, power):
        end.weights[MONO_BUCKET] = weight[0]
        return sum(loss(given, end.scores(given.pair), power) for given in examples)

    found = end.weights[[MONO_BUCKET]].copy()
    slopes = {
        power: numerical_gradient(lambda w, p=power: total(w, p), found)[0] for power in (0.0, 0.25, 1.0)
    }
    assert abs(slopes.pop(evidence)) < 0.03
    assert min(map(abs, slopes.values())) > 0.06


LINK_BUCKET, FERTILITY_BUCKETS = 11, tuple(range(20, 20 + FERTILITY_BINS))


def with_link_features(given, state):
    """Give the link and the fertilities features, and say what is known of the link."""
    buckets = np.array(FERTILITY_BUCKETS * 4, dtype=np.int32).reshape(-1, 1)
    pair = replace(
        given.pair,
        buckets=dict(given.pair.buckets)
        | {"links": np.array([[LINK_BUCKET]], np.int32), "fertility": buckets},
    )
    return replace(given, pair=pair, link_states=np.array([state], dtype=np.int8))


def test_trees_and_links_that_are_observed_together_teach_all_weights():
    """At the end the likelihood of both, by enumeration, is level in all weights and in the target scale."""
    rng = np.random.default_rng(5)
    trees = [(PARALLEL, PARALLEL), (OTHER, OTHER), (PARALLEL, OTHER), (OTHER, PARALLEL)]
    states = TRUE_STATE, FALSE_STATE, UNKNOWN, TRUE_STATE, FALSE_STATE, TRUE_STATE
    pairs = [(pair, state) for state in states for pair in trees]
    examples = [with_link_features(example(rng, *pair), state) for pair, state in pairs]
    options = JointTrainingOptions(rate=0.3, l2=0.0, source_evidence=0.25)
    trainer = JointTrainer(options)
    for _ in range(30):
        for given in examples:
            trainer.step(given)
    end = trainer.weights
    moved = [MONO_BUCKET, LINK_BUCKET, *FERTILITY_BUCKETS[:2]]

    def total(point):
        end.weights[moved] = point[:-1]
        at = replace(end, target_scale=point[-1])
        return sum(loss(given, at.scores(given.pair), 0.25) for given in examples) / len(examples)

    found = np.append(end.weights[moved], end.target_scale)
    assert np.abs(numerical_gradient(total, np.append(np.zeros(4), 1.0))).min() > 0.1
    assert np.all(np.abs(numerical_gradient(total, found)) < [0.01] * 4 + [0.05])
    assert not end.weights[list(FERTILITY_BUCKETS[2:])].any()


def test_the_target_scale_is_averaged_over_all_steps():
    rng = np.random.default_rng(6)
    given = example(rng, PARALLEL, OTHER)
    trainer = JointTrainer(JointTrainingOptions(l2=0.0))
    scales, weights = [], []
    for _ in range(5):
        trainer.step(given)
        scales.append(trainer.weights.target_scale)
        weights.append(trainer.weights.weights[MONO_BUCKET])
    assert np.ptp(scales) > 0.05
    assert trainer.averaged().target_scale == pytest.approx(np.mean(scales))
    assert trainer.averaged().weights[MONO_BUCKET] == pytest.approx(np.mean(weights))


def test_a_mean_of_beliefs_contradicts_where_its_second_part_does():
    def beliefs(value, status):
        arrays = ("source", "target", "links", "fertility", "factors", "jumps")
        same = {name: np.full(2, value) for name in arrays}
        return JointBeliefs(**same, status=status)

    first = beliefs(0.0, Status.CONVERGED)
    mean = interpolated(first, beliefs(1.0, Status.LIMIT), 0.25)
    assert mean.status is Status.CONVERGED
    for name in ("source", "target", "links", "fertility", "factors", "jumps"):
        np.testing.assert_array_equal(getattr(mean, name), 0.25)
    assert interpolated(first, beliefs(1.0, Status.CONTRADICTION), 0.25).status is Status.CONTRADICTION
