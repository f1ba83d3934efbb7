"""How many factors there are over all arcs."""

import numpy as np
import pytest

from qsproj.models.graph.graph_factors import sentence_graph
from qsproj.models.tree_decoder import TreeDecoder
from scripts.experiments.parsing.relaxation import factors_of


@pytest.mark.parametrize("n", range(1, 9))
def test_factors_over_all_arcs_are_those_of_a_graph(n):
    everything = np.ones((n + 1, n + 1), dtype=bool)
    inference = TreeDecoder(projective=True, single_root=True)
    graph = sentence_graph(everything, inference, families=("grand", "childseq", "valence"))
    assert factors_of(n) == graph.n_factors
