"""Every factor against the enumeration of its assignments, at all score scales, with infinite messages."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pytest

from qsproj.bp.graph import factor_graph
from qsproj.bp.run import BPOptions, run
from qsproj.conventions import starts_of
from qsproj.kernels.bp.bp_messages import expected_messages
from tests.bp.cases import CASES
from tests.oracles.factor_graphs import GroupEnumeration, log_sum, message_weights
from tests.oracles.factors import log_score

SCALES = [1.0, 10.0, 100.0]
SHARES = [0.0, 0.25]
REPEATS = 4


def as_states(values):
    return np.array(values, dtype=np.int32)


def draw_incoming(group, rng, scale, share):
    """Draw messages, read-only, of which ``share`` are infinite; at most one ratio of an edge is +inf."""
    messages = []
    for n_states in group.edge_states:
        finite = scale * rng.normal(size=n_states - 1)
        message = np.where(rng.random(n_states - 1) < share, -np.inf, finite)
        if n_states > 1 and rng.random() < 0.3 * share:
            message[rng.integers(n_states - 1)] = np.inf
        messages.append(message)
    drawn = np.concatenate(messages)
    drawn.flags.writeable = False
    return drawn


# Parameters of the scope "module" bring the tests of one group together: it is enumerated once.
by_group = partial(pytest.mark.parametrize, scope="module")


@lru_cache(maxsize=1)
def specimens(name, scale, share):
    """Return groups, messages into them, and the sums over all of their assignments."""
    rng = np.random.default_rng([*name.encode(), int(scale), int(100 * share)])
    drawn = []
    for _ in range(REPEATS):
        group = CASES[name](rng, scale)
        incoming = draw_incoming(group, rng, scale, share)
        drawn.append((group, incoming, GroupEnumeration(group, incoming, as_states)))
    return drawn


def contradict(incoming, outgoing):
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(incoming + outgoing).any())


def edge_slices(group):
    ends = np.cumsum(group.edge_states - 1)
    return [slice(end - k + 1, end) for end, k in zip(ends.tolist(), group.edge_states.tolist())]


def normalised(weights):
    total = log_sum(weights)
    return [weight - total for weight in weights]


def assert_same_belief(found, expected, tolerance):
    """Compare log probabilities; where one is -inf, the other may be so small that it counts as 0."""
    for mine, truth in zip(normalised(found), normalised(expected)):
        if truth == -math.inf:
            assert mine < -5e4
        else:
            assert mine == pytest.approx(truth, abs=tolerance)


@pytest.mark.parametrize("maximise", [False, True], ids=["sums", "maxima"])
@by_group("share", SHARES)
@by_group("scale", [*SCALES, 1000.0])
@by_group("name", CASES)
def test_messages_equal_enumeration(name, scale, share, maximise):
    for group, incoming, truth in specimens(name, scale, share):
        outgoing = group.propagate(incoming, maximise=maximise)
        if truth.log_z == -math.inf:
            assert contradict(incoming, outgoing)
            continue
        assert not contradict(incoming, outgoing)
        for edge, where in enumerate(edge_slices(group)):
            belief = truth.belief(edge, maximise=maximise)
            sums = (incoming + outgoing)[where].tolist()
            assert_same_belief(message_weights(sums), belief, 1e-11 * scale * incoming.size)
            if group.edge_states[edge] == 2 and math.isfinite(incoming[where][0]):
                own = belief[1] - belief[0] - incoming[where][0]
                if abs(own) < math.inf or abs(outgoing[where][0]) < 5e4:
                    assert outgoing[where][0] == pytest.approx(own, abs=1e-11 * scale * incoming.size)


@by_group("share", SHARES)
@by_group("scale", SCALES)
@by_group("name", CASES)
def test_partition_and_entropy_equal_enumeration(name, scale, share):
    for group, incoming, truth in specimens(name, scale, share):
        if truth.log_z == -math.inf:
            assert group.log_partition(incoming) == -math.inf
            continue
        log_z = group.log_partition(incoming)
        assert log_z == pytest.approx(truth.log_z, rel=1e-12, abs=1e-11 * scale)
        factor_graph(group.edge_states, [replace_edges(group)])
        outgoing = group.propagate(incoming)
        bethe = log_z - expected_messages(incoming, outgoing, starts_of(group.edge_states - 1))
        chances = [math.exp(score - truth.log_z) for _, score in truth.scored]
        entropy = -math.fsum(p * math.log(p) for p in chances if p > 0)
        energy = math.fsum(
            p * log_score(group, as_states(values)) for p, (values, _) in zip(chances, truth.scored) if p > 0
        )
        assert bethe == pytest.approx(entropy + energy, rel=1e-11, abs=1e-10 * scale)


def replace_edges(group):
    """Give every edge a variable of its own, so that the graph accepts any specimen."""
    return replace(group, edges=np.arange(group.edges.size, dtype=np.int32))


@by_group("share", SHARES)
@by_group("scale", SCALES)
@by_group("name", [name for name in CASES if name != "LINK evidence"])
def test_expectations_equal_enumeration(name, scale, share):
    for group, incoming, truth in specimens(name, scale, share):
        if truth.log_z == -math.inf or not group.scores.size:
            continue
        expected = np.zeros(group.scores.size)
        for place in range(expected.size):
            # log F is linear in the scores: with one of them 1 and the rest 0 it counts uses of that one.
            unit = np.zeros(expected.size)
            unit[place] = 1.0
            counter = replace(group, scores=unit.reshape(group.scores.shape))
            expected[place] = math.fsum(
                math.exp(score - truth.log_z) * log_score(counter, as_states(values))
                for values, score in truth.scored
            )
        found = group.expected(incoming)
        assert found.shape == group.scores.shape
        np.testing.assert_allclose(found.reshape(-1), expected, atol=1e-11 * scale)


@pytest.mark.parametrize("name", CASES)
def test_tempering_divides_log_values(name):
    rng = np.random.default_rng(5)
    group = CASES[name](rng, 1.0)
    states = as_states([rng.integers(k) for k in group.edge_states])
    graph = factor_graph(group.edge_states, [replace_edges(group)])
    (tempered,) = run(graph, BPOptions(temperatures=(2.5,), max_iterations=1)).graph.groups
    assert log_score(tempered, states) == pytest.approx(log_score(group, states) / 2.5)
