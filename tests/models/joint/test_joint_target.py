"""The gradient of joint training by the scores of target arcs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.features.joint_templates import FERTILITY_BINS
from qsproj.models.joint.joint_graph import PreparedPair
from qsproj.models.joint.joint_options import JointTrainingOptions
from qsproj.models.joint.joint_structure import free_side, joint_structure
from qsproj.models.joint.joint_training import (
    JointExample,
    JointTrainer,
)
from qsproj.models.tree_decoder import TreeDecoder
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
    pair = replace(example.pair, target=example.pair.target + added / trainer.weights.target_scale)
    free, clamped = trainer.infer(replace(example, pair=pair))
    gradient = free.target - clamped.target
    numerical = numerical_gradient(loss, added)
    np.testing.assert_allclose(gradient[:, 1:], numerical[:, 1:], atol=2e-3)
    assert np.abs(gradient).max() > 0.1
