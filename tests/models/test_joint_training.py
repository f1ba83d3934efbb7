"""What the joint weights are taught: the likelihood of target trees, and of the source parser's in part."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.bp.status import Status
from qsproj.features.joint_templates import FERTILITY_BINS
from qsproj.models.joint_inference import JointBeliefs, mixed
from qsproj.models.joint_sides import free_side
from qsproj.models.joint_structure import joint_structure
from qsproj.models.joint_training import JointExample, JointTrainer, JointTrainingOptions
from qsproj.models.joint_weights import PreparedPair
from qsproj.models.tree_inference import TreeInference
from tests.oracles.finite_differences import gradient as numerical_gradient
from tests.oracles.joint_pairs import PairEnumeration
from tests.oracles.trees import all_trees

TREES = TreeInference(projective=False, single_root=False)
MONO_BUCKET = 7
PARALLEL, OTHER = (-1, 2, 0), (-1, 0, 1)


def side(first):
    kept = ~np.eye(3, dtype=bool)
    kept[:, 0] = False
    return free_side(np.full(kept.shape, 0.5), kept, first)


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
        structure,
        rng.normal(size=(3, 3)),
        rng.normal(size=(3, 3)),
        np.array([4.0]),
        featureless(1),
        featureless(4 * FERTILITY_BINS),
        np.full((len(structure.rows), 1), MONO_BUCKET, dtype=np.int32),
        featureless(0),
    )
    heads = (np.array(tree, dtype=np.int32) for tree in (target_heads, source_heads))
    target_tree, source_tree = heads
    return JointExample(prepared, target_tree, source_heads=source_tree)


def loss(given, scores, evidence):
    """Minus the log-likelihood of the target tree, and of the source tree given it, by enumeration."""
    trees = all_trees(2, projective=False, single_root=False)
    words = given.pair.structure.words.tolist()

    def log_z(source_trees, target_trees):
        return PairEnumeration(
            source_trees,
            target_trees,
            (scores.source.tolist(), scores.target.tolist()),
            {(2, 2): scores.links[0]},
            scores.fertility.tolist(),
            [("MONO", words[0], scores.factors[0])],
        ).log_z

    target, source = given.target_heads.tolist(), given.source_heads.tolist()
    hidden = log_z(trees, [target])
    return log_z(trees, trees) - hidden + evidence * (hidden - log_z([source], [target]))


@pytest.mark.parametrize("evidence", [0.0, 0.25, 1.0])
def test_training_ends_where_the_likelihood_is_level(evidence):
    rng = np.random.default_rng(3)
    trees = [(PARALLEL, PARALLEL), (OTHER, OTHER), (PARALLEL, OTHER), (OTHER, PARALLEL), (PARALLEL, PARALLEL)]
    examples = [example(rng, *pair) for pair in trees]
    options = JointTrainingOptions(rate=0.3, l2=0.0, source_evidence=evidence)
    trainer = JointTrainer(options, source_trees=TREES, target_trees=TREES)
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


def test_a_mean_of_beliefs_contradicts_where_its_second_part_does():
    def beliefs(value, status):
        return JointBeliefs(*(np.full(2, value) for _ in range(5)), status, 3, np.full(2, value))

    first = beliefs(0.0, Status.CONVERGED)
    mean = mixed(first, beliefs(1.0, Status.LIMIT), 0.25)
    assert mean.status is Status.CONVERGED
    for name in ("source", "target", "links", "fertility", "factors", "jumps"):
        np.testing.assert_array_equal(getattr(mean, name), 0.25)
    assert mixed(first, beliefs(1.0, Status.CONTRADICTION), 0.25).status is Status.CONTRADICTION
