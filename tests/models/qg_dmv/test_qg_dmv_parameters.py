"""Parameters of the QG-DMV by plain loops: where EM starts, what it estimates, and what its prior weighs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from qsproj.errors import UsageError
from qsproj.features.qg_configurations import CONFIGURATION_NAMES, PARENT_CHILD
from qsproj.models.dmv.dmv import DmvParameters, added, log_dirichlet, uniform_parameters
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.models.qg_dmv.qg_dmv import QgCounts, biased_parameters

TAGS, SENSES, KINDS = 3, 4, len(CONFIGURATION_NAMES)


@pytest.fixture
def counts():
    rng = np.random.default_rng(5)
    shapes = ((TAGS, 2, 2, 2), (KINDS,), (TAGS, 2, SENSES, TAGS), (SENSES, TAGS))
    return QgCounts(*(rng.uniform(0.5, 4.0, shape) for shape in shapes))


def test_nothing_is_preferred_but_parent_child():
    start = biased_parameters(uniform_parameters(TAGS), SENSES, parent_child=0.7)
    others = [share for kind, share in enumerate(start.configuration) if kind != PARENT_CHILD]
    assert start.configuration[PARENT_CHILD] == 0.7
    assert others == pytest.approx([0.3 / (KINDS - 1)] * (KINDS - 1))
    assert start.stop.shape == (TAGS, 2, 2) and set(start.stop.ravel()) == {0.5}
    assert start.child.shape == (TAGS, 2, SENSES, TAGS) and start.child == pytest.approx(1 / TAGS)
    assert start.root.shape == (SENSES, TAGS) and start.root == pytest.approx(1 / TAGS)


@pytest.mark.parametrize("share", [-0.1, 0.0, 1.0, 1.5])
def test_a_preference_is_a_probability(share):
    with pytest.raises(UsageError, match=f"parent_child is {share}, expected a probability between"):
        QgOptions(parent_child=share)


def test_a_start_is_the_same_for_every_sense():
    rng = np.random.default_rng(6)
    dmv = DmvParameters(
        rng.uniform(0.1, 0.9, (TAGS, 2, 2)),
        rng.dirichlet(np.ones(TAGS), (TAGS, 2)),
        rng.dirichlet(np.ones(TAGS)),
    )
    start = biased_parameters(dmv, SENSES, parent_child=0.7)
    assert start.configuration[PARENT_CHILD] == 0.7
    np.testing.assert_array_equal(start.stop, dmv.stop)
    for sense in range(SENSES):
        np.testing.assert_array_equal(start.child[:, :, sense], dmv.child)
        np.testing.assert_array_equal(start.root[sense], dmv.root)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_estimates_are_relative_frequencies_of_smoothed_counts(counts, smoothing):
    estimated = counts.estimate(smoothing)
    for where in np.ndindex(TAGS, 2, 2):
        stop, go_on = counts.stop[where] + smoothing
        assert estimated.stop[where] == pytest.approx(stop / (stop + go_on))
    for table, found in (
        (counts.configuration[None], estimated.configuration[None]),
        (counts.child.reshape(-1, TAGS), estimated.child.reshape(-1, TAGS)),
        (counts.root, estimated.root),
    ):
        for row, shares in zip(table, found, strict=True):
            total = sum(value + smoothing for value in row)
            assert shares == pytest.approx([(value + smoothing) / total for value in row])


def test_the_prior_is_the_sum_of_the_logs_of_all_probabilities(counts):
    parameters = counts.estimate(0.0)
    logs = [math.log(p) + math.log(1 - p) for p in parameters.stop.ravel()]
    for table in (parameters.configuration, parameters.child, parameters.root):
        logs += map(math.log, table.ravel())
    own = parameters.stop, parameters.configuration, parameters.child, parameters.root
    assert log_dirichlet(0.3, *own) == pytest.approx(0.3 * sum(logs))
    assert log_dirichlet(0.0, *own) == 0.0


def test_dependents_without_a_sense_do_not_count_for_new_text(counts):
    alone = counts.without_source()
    np.testing.assert_array_equal(alone.stop, counts.stop)
    for head, direction, tag in np.ndindex(TAGS, 2, TAGS):
        linked = sum(counts.child[head, direction, sense, tag] for sense in range(SENSES - 1))
        assert alone.child[head, direction, tag] == pytest.approx(linked)
    for tag in range(TAGS):
        assert alone.root[tag] == pytest.approx(sum(counts.root[sense, tag] for sense in range(SENSES - 1)))


def test_counts_add_up(counts):
    twice = added(counts, counts)
    for name in ("stop", "configuration", "child", "root"):
        np.testing.assert_array_equal(getattr(twice, name), 2 * getattr(counts, name))
