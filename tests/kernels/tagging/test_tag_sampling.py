"""Drawn tag sequences come as often as enumeration says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from qsproj.kernels.tagging.linear_chain import posterior
from qsproj.kernels.tagging.tag_sampling import draw_sequences
from tests.oracles.linear_chain import score


def draw(emissions, transitions, uniforms):
    forward = emissions.copy()
    posterior(forward, transitions, np.empty_like(forward), np.zeros_like(transitions))
    drawn = np.empty(uniforms.shape, dtype=np.int32)
    draw_sequences(forward, transitions, uniforms, drawn)
    return drawn


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_sequences_come_as_often_as_they_are_probable(scale):
    rng = np.random.default_rng(4)
    emissions, transitions = scale * rng.normal(size=(3, 3)), scale * rng.normal(size=(4, 3))
    count = 40_000
    found = Counter(map(tuple, draw(emissions, transitions, rng.random((count, 3))).tolist()))
    weights = {tags: np.exp(score(emissions, transitions, tags)) for tags in np.ndindex(3, 3, 3)}
    total = sum(weights.values())
    for tags, weight in weights.items():
        expected = weight / total
        assert abs(found[tags] / count - expected) < 4 * np.sqrt(expected / count) + 1e-4


def test_what_is_nearly_certain_is_drawn_and_the_edges_of_chance_are_legal():
    emissions, transitions = np.zeros((4, 3)), np.zeros((4, 3))
    emissions[:, 1] = 200.0
    for chance in (1e-9, 0.5, np.nextafter(1.0, 0.0)):
        assert draw(emissions, transitions, np.full((2, 4), chance)).tolist() == [[1] * 4] * 2


def test_one_word():
    drawn = draw(np.log([[0.25, 0.75]]), np.zeros((3, 2)), np.array([[0.2], [0.3]]))
    assert drawn.tolist() == [[0], [1]]
