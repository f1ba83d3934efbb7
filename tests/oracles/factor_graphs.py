"""Every assignment of a small factor graph, one by one: slow, obvious, plain Python.

A factor group is used only through ``edges``, ``edge_states`` and :func:`tests.oracles.factors.log_score`.
"""

from __future__ import annotations

import itertools
import math

from tests.oracles.factors import log_score


def log_sum(values):
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def message_weights(ratios):
    """Return the log weight of each state under a message of log-ratios against state 0."""
    weights = [0.0, *ratios]
    if math.inf in weights:
        return [0.0 if weight == math.inf else -math.inf for weight in weights]
    return weights


def scored_assignments(states, log_score_of):
    """Yield every assignment with its log score, those of -inf left out."""
    for values in itertools.product(*(range(k) for k in states)):
        score = log_score_of(values)
        if score > -math.inf:
            yield values, score


class GroupEnumeration:
    """The belief of one factor group: every assignment of its edges under incoming messages."""

    def __init__(self, group, incoming, make_array):
        self.states = [int(k) for k in group.edge_states]
        self.weights, start = [], 0
        for k in self.states:
            self.weights.append(message_weights([float(r) for r in incoming[start : start + k - 1]]))
            start += k - 1
        self.scored = [
            (values, score + sum(weights[value] for weights, value in zip(self.weights, values)))
            for values, score in scored_assignments(
                self.states, lambda v: float(log_score(group, make_array(v)))
            )
        ]
        self.scored = [(values, score) for values, score in self.scored if score > -math.inf]

    @property
    def log_z(self):
        return log_sum([score for _, score in self.scored])

    def belief(self, edge, *, maximise):
        """Return the log total, or the best score, of the assignments with each state of an edge."""
        combine = (lambda scores: max(scores, default=-math.inf)) if maximise else log_sum
        return [
            combine([score for values, score in self.scored if values[edge] == state])
            for state in range(self.states[edge])
        ]


class GraphEnumeration:
    """The distribution of a whole factor graph."""

    def __init__(self, states, groups, make_array):
        def log_score_of(values):
            return math.fsum(
                float(log_score(group, make_array([values[v] for v in group.edges]))) for group in groups
            )

        self.states = [int(k) for k in states]
        self.scored = list(scored_assignments(self.states, log_score_of))

    @property
    def log_z(self):
        return log_sum([score for _, score in self.scored])

    def marginals(self, variable):
        log_z = self.log_z
        return [
            math.fsum(math.exp(score - log_z) for values, score in self.scored if values[variable] == state)
            for state in range(self.states[variable])
        ]

    def best(self):
        return max(self.scored, key=lambda pair: pair[1])
