"""Symmetrisations against sets of links in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qsproj.alignment.aligners import (
    KNOWN,
    SYMMETRIZATIONS,
    align_words,
    directed_links,
    link_weights,
    symmetrize,
)
from qsproj.errors import UsageError
from tests.oracles import alignment as oracle

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 6))
TABLES = SHAPES.flatmap(lambda shape: st.tuples(arrays(bool, shape), arrays(bool, shape)))


def as_set(links):
    return set(map(tuple, np.argwhere(links).tolist()))


@given(TABLES)
def test_intersection_and_union(tables):
    forward, backward = map(as_set, tables)
    assert as_set(SYMMETRIZATIONS["intersection"](*tables)) == forward & backward
    assert as_set(SYMMETRIZATIONS["union"](*tables)) == forward | backward


@given(TABLES)
def test_growing(tables):
    """Like links in any order: both are grown until no neighbour can be added, which fixes coverage."""
    forward, backward = map(as_set, tables)
    before = [table.copy() for table in tables]
    for name in ("grow-diag", "grow-diag-final-and"):
        links = as_set(SYMMETRIZATIONS[name](*tables))
        assert forward & backward <= links <= forward | backward
        if name == "grow-diag":
            assert oracle.grow_diag(links, links) == links
    assert all((table == copy).all() for table, copy in zip(tables, before))


GROWING = [
    # A chain that grows from one link of the intersection, in more than one round.
    ([(0, 0), (1, 1), (2, 2)], [(0, 0)], [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (2, 2)]),
    # 1-1 touches, but both of its words are aligned by then.
    ([(0, 0), (0, 1), (1, 1)], [(0, 0), (1, 0), (1, 1)], None, None),
    # 3-3 is out of reach of growing; "final-and" finds both of its words free.
    ([(0, 0), (3, 3)], [(0, 0)], [(0, 0)], [(0, 0), (3, 3)]),
    # 2-0 is not: the target word is taken.
    ([(0, 0), (2, 0)], [(0, 0)], [(0, 0)], [(0, 0)]),
]


@pytest.mark.parametrize(("forward", "backward", "grown", "final"), GROWING)
def test_growing_by_hand(forward, backward, grown, final):
    tables = np.zeros((2, 4, 4), dtype=bool)
    for table, links in zip(tables, (forward, backward)):
        table[tuple(np.transpose(links))] = True
    expected = oracle.grow_diag(set(forward), set(backward)) if grown is None else set(grown)
    assert as_set(SYMMETRIZATIONS["grow-diag"](*tables)) == expected
    expected = oracle.grow_diag_final_and(set(forward), set(backward)) if final is None else set(final)
    assert as_set(SYMMETRIZATIONS["grow-diag-final-and"](*tables)) == expected


def test_directed_links_take_the_best_unless_null_is_better():
    posteriors = np.array([[0.6, 0.2, 0.1], [0.3, 0.5, 0.2]])
    assert directed_links(posteriors).tolist() == [[True, False, False], [False, True, False]]
    assert directed_links(np.zeros((0, 0))).shape == (0, 0)


def test_weights_are_the_mean_of_both_directions():
    forward, backward = np.array([[0.9, 0.4]]), np.array([[0.3, 0.4]])
    np.testing.assert_allclose(link_weights(forward, backward), [[0.6, 0.4]])


def test_each_direction_is_read_its_own_way():
    """Backward links are one for each source word, forward ones one for each target word."""
    forward = np.array([[0.9, 0.9], [0.0, 0.0]])
    backward = np.array([[0.9, 0.0], [0.9, 0.0]])
    assert symmetrize(forward, backward, name="union").tolist() == [[True, True], [True, False]]
    assert symmetrize(forward, backward, name="intersection").tolist() == [[True, False], [False, False]]


def test_bad_names_and_thresholds():
    with pytest.raises(UsageError, match="grow-diag-final-and") as caught:
        align_words([], symmetrization="grow")
    assert all(name in str(caught.value) for name in KNOWN)
    with pytest.raises(UsageError, match="probability"):
        align_words([], symmetrization="threshold", threshold=1.5)
