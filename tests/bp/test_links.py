"""The index tables of factors over arcs, against loops over words."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.bp.factors.chains import step_table
from qsproj.bp.links import (
    arcs_of,
    candidate_heads,
    chosen_links,
    dependent_chains,
    grandparents,
    rival_heads,
    siblings,
    two_cycles,
)
from tests.bp.links import all_links

PRUNED = np.random.default_rng(3).random((6, 6)) < 0.7


@pytest.fixture(params=["all", "pruned"])
def links(request):
    return all_links(5) if request.param == "all" else chosen_links(PRUNED)


def rows(*columns):
    return sorted(zip(*(np.asarray(column).tolist() for column in columns)))


def test_every_allowed_arc_has_a_variable_of_its_own(links):
    heads, dependents, variables = arcs_of(links)
    assert variables.tolist() == list(range(variables.size))
    assert np.array_equal(links[heads, dependents], variables)
    assert (dependents > 0).all()
    assert (heads != dependents).all()
    assert all_links(5).max() == 24
    assert candidate_heads(links)[2].tolist() == [int(v) for v in links[:, 3] if v >= 0]


def test_pairs_of_arcs(links):
    arcs = {(int(h), int(d)): int(v) for h, d, v in zip(*arcs_of(links))}
    chains = [(g, h, d) for g, h in arcs for k, d in arcs if h == k and g != d]
    variables, words = grandparents(*arcs_of(links))
    assert rows(variables, words) == sorted(([arcs[g, h], arcs[h, d]], [g, h, d]) for g, h, d in chains)
    variables, words = siblings(links)
    assert rows(variables, words) == sorted(
        ([arcs[h, a], arcs[h, b]], [h, a, b]) for h, a in arcs for k, b in arcs if h == k and a < b
    )
    assert sorted(rival_heads(links).tolist()) == sorted(
        [arcs[a, d], arcs[b, d]] for a, d in arcs for b, e in arcs if d == e and a < b
    )
    assert sorted(two_cycles(links).tolist()) == sorted(
        [arcs[a, b], arcs[b, a]] for a, b in arcs if a < b and (b, a) in arcs
    )


def test_chains_run_outwards_and_cover_every_arc_once(links):
    chains = dependent_chains(*arcs_of(links), size=len(links))
    assert sorted(chains.variables.tolist()) == list(range(links.max() + 1))
    assert rows(chains.heads, chains.sides) == sorted(
        [(0, 1)] + [(h, s) for h in range(1, 6) for s in (0, 1)]
    )
    for f, (head, side) in enumerate(zip(chains.heads, chains.sides)):
        part = slice(chains.starts[f], chains.starts[f + 1])
        dependents = chains.dependents[part]
        assert (links[head, dependents] == chains.variables[part]).all()
        assert ((dependents > head) == bool(side)).all()
        assert (np.diff(np.abs(dependents - head)) > 0).all()


def test_the_step_table_names_every_score():
    table = step_table([0, 2, 2])
    assert table.tolist() == [
        *[[0, p, q, int(q > p)] for p in range(3) for q in (1, 2, 3)],
        [1, 0, 1, 1],
    ]
