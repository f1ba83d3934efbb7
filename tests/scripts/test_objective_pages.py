"""Experiments on objectives and non-projective trees: parts of files, pairs of arcs, temperatures."""

from __future__ import annotations

import argparse
import gzip
import itertools

import numpy as np
import pytest

from qsproj.models.tree_inference import TreeInference
from scripts.experiments.harness.cache import Cache
from scripts.experiments.parsing.nonprojective_trees import CROSSING, pair_kinds
from scripts.experiments.parsing.objective_parts import Crossing, HeldOut, best_temperature
from tests.oracles.trees import all_trees

COLUMNS = "{0}\tw{0}\t_\tX\t_\t_\t{1}\tdep\t_\t_\n"


def write_treebank(folder, name, trees):
    folder.joinpath("treebanks").mkdir(exist_ok=True)
    with gzip.open(folder / "treebanks" / f"{name}.conllu.gz", "wt", encoding="utf-8") as file:
        for heads in trees:
            file.write("".join(COLUMNS.format(word, head) for word, head in enumerate(heads, 1)) + "\n")


def test_parts_hold_out_the_end_and_find_crossings(tmp_path):
    write_treebank(tmp_path, "x-dev", [[0]] * 4 + [[0, 1]])
    write_treebank(tmp_path, "x-test", [[0, 1], [2, 0, 2, 2], [3, 4, 0, 3]])
    where = (tmp_path, Cache(tmp_path, tmp_path), argparse.Namespace())
    held_out, crossing = HeldOut(*where), Crossing(*where)
    assert [len(held_out.treebank(f"x-{part}")) for part in ("dev", "test")] == [4, 1]
    assert len(held_out.treebank("x-test")[0]) == 2
    assert len(crossing.treebank("x-dev")) == 5
    assert [s.heads[1:].tolist() for s in crossing.treebank("x-test")] == [[3, 4, 0, 3]]


def test_a_temperature_undoes_a_scale():
    rng = np.random.default_rng(3)
    inference = TreeInference(projective=True, single_root=True)
    scores = [rng.normal(size=(6, 6)) for _ in range(30)]
    trees = [inference.best(one + rng.gumbel(size=one.shape)) for one in scores]
    one = best_temperature(scores, inference, trees)
    assert 0.6 < one < 2.0
    assert best_temperature([3 * matrix for matrix in scores], inference, trees) == pytest.approx(
        3 * one, rel=0.05
    )


def test_pairs_of_arcs_are_those_of_all_trees():
    words = 4
    arcs = [(head, word) for word in range(1, words + 1) for head in range(words + 1)]
    kinds = np.zeros((len(arcs), len(arcs)), dtype=int)
    for projective in (False, True):
        found = set()
        for heads in all_trees(words, projective=projective, single_root=False):
            found |= set(itertools.product([(head, word) for word, head in enumerate(heads)][1:], repeat=2))
        kinds += [[(one, other) in found for other in arcs] for one in arcs]
    assert (kinds == CROSSING).any()
    assert np.array_equal(pair_kinds(words), kinds)
