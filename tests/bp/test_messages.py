"""Sums of messages with infinities among them, against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.kernels.bp.bp_messages import add_up, largest_change, leave_out, replace_messages, total_of_groups

INF = np.inf


@pytest.mark.parametrize(
    "messages",
    [
        [1.0, 2.0, -5.0],
        [INF, 2.0, -5.0],
        [INF, INF, 1.0],
        [-INF, 2.0, 3.0],
        [-INF, -INF, -INF],
        [INF],
        [1e300, -1e300, 1.0],
    ],
)
def test_every_message_can_be_left_out_of_the_sum(messages):
    outgoing = np.array(messages)
    slots = np.zeros(outgoing.size, dtype=np.int32)
    finite, infinite = np.full(1, 7.0), np.full(1, 7, dtype=np.int32)
    add_up(outgoing, slots, finite, infinite)
    incoming = np.empty(outgoing.size)
    leave_out(finite, infinite, slots, outgoing, incoming)
    expected = [sum(messages[:e] + messages[e + 1 :]) for e in range(len(messages))]
    if np.isfinite(messages).all():
        np.testing.assert_allclose(incoming, expected, atol=1e-12 + 1e-15 * np.abs(outgoing).max())
    np.testing.assert_array_equal(np.isinf(incoming), np.isinf(expected))
    np.testing.assert_array_equal(
        np.sign(incoming[np.isinf(expected)]), np.sign(expected)[np.isinf(expected)]
    )


def test_damping_holds_back_finite_messages_only():
    outgoing = np.array([0.0, 0.0, INF, 4.0])
    residual, contradiction = replace_messages(np.zeros(4), np.array([2.0, INF, INF, 4.0]), outgoing, 0.25)
    assert outgoing.tolist() == [1.5, INF, INF, 4.0]
    assert residual == INF
    assert not contradiction


@pytest.mark.parametrize(("incoming", "proposed"), [(0.0, np.nan), (INF, -INF), (-INF, INF)])
def test_contradictions_change_nothing(incoming, proposed):
    outgoing = np.array([1.0, 2.0])
    _, contradiction = replace_messages(np.array([0.0, incoming]), np.array([5.0, proposed]), outgoing, 0.0)
    assert contradiction
    assert outgoing.tolist() == [1.0, 2.0]


def test_equal_infinities_do_not_differ():
    assert largest_change(np.array([INF, -INF, 1.0]), np.array([INF, -INF, 1.5])) == 0.5
    assert largest_change(np.array([INF]), np.array([-INF])) == INF


def test_totals_are_sums_over_groups():
    finite_by_group = np.array([[0.5, -1.0], [2.0, 0.25], [0.0, 1.0]])
    infinite_by_group = np.array([[1, 0], [-1, 1], [1, 1]], dtype=np.int32)
    finite, infinite = np.full(2, 7.0), np.full(2, 7, dtype=np.int32)
    total_of_groups(finite_by_group, infinite_by_group, finite, infinite)
    assert finite.tolist() == [2.5, 0.25]
    assert infinite.tolist() == [1, 2]
