"""The kernels of arcs in clusters against those of arcs alone, cluster by cluster."""

import numpy as np
import pytest

from qsproj.features.arc_templates import MORPHOLOGY, arc_features, compile_templates
from qsproj.features.atoms import encode
from qsproj.kernels.features.arc_features import gather_arcs, gather_clusters, score_arcs, score_clusters
from qsproj.models.arc.arc_scorer import bit_mask
from qsproj.training.optimiser import PlainSteps
from tests.sentences import make_sentence

BUCKETS, CLUSTERS = 1 << 12, 3
SENTENCE = make_sentence("Der Hund , der laut bellt , sieht", "DET NOUN PUNCT PRON ADV VERB PUNCT VERB")
SIZE = len(SENTENCE) + 1


@pytest.fixture
def features():
    compiled = compile_templates(MORPHOLOGY)
    return arc_features(encode(SENTENCE, compiled.attributes), compiled, BUCKETS)


def test_each_cluster_scores_as_its_weights_alone(features):
    weights = np.random.default_rng(5).normal(size=(BUCKETS, CLUSTERS)).astype(np.float32)
    scores = np.full((SIZE, SIZE, CLUSTERS), 7.0)
    score_clusters(features, weights.reshape(-1), scores)
    for cluster in range(CLUSTERS):
        alone = np.full((SIZE, SIZE), 7.0)
        score_arcs(features, np.ascontiguousarray(weights[:, cluster]), 0, alone)
        np.testing.assert_allclose(scores[:, :, cluster], alone, atol=1e-5)


@pytest.mark.parametrize("capacity", [1 << 20, 1 << 10])
def test_each_cluster_gets_its_share_of_the_gradient_of_an_arc(features, capacity):
    """With little room, the gradient comes in several parts."""
    rng = np.random.default_rng(7)
    slopes = rng.normal(size=(SIZE, SIZE))
    chances = rng.dirichlet(np.ones(CLUSTERS), size=(SIZE, SIZE))
    support = bit_mask(rng.random(BUCKETS) < 0.7)
    moved = PlainSteps(np.zeros(BUCKETS * CLUSTERS), capacity=capacity)
    moved.gather(gather_clusters, features, slopes, chances, support, 0.1)
    moved.step()
    assert np.any(moved.weights)
    for cluster in range(CLUSTERS):
        alone = PlainSteps(np.zeros(BUCKETS))
        shared = np.where(np.abs(slopes) > 0.1, slopes * chances[:, :, cluster], 0.0)
        alone.gather(gather_arcs, features, shared, support, 0.0)
        alone.step()
        np.testing.assert_allclose(
            moved.weights.reshape(BUCKETS, CLUSTERS)[:, cluster], alone.weights, atol=1e-9
        )
