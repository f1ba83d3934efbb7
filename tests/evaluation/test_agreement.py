"""Agreement of two annotators: Cohen's example, a table counted by hand, and the command."""

from __future__ import annotations

import json
import math

import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.agreement import agreement


def tagged(tags):
    return [Sentence.from_words(["w"] * len(tags), upos=tags)]


def test_kappa_of_counts_by_hand():
    """20 times both A, 5 times A and B, 10 times B and A, 15 times both B: 0.7 observed, 0.5 by chance."""
    first, second = ["A"] * 25 + ["B"] * 25, ["A"] * 20 + ["B"] * 5 + ["A"] * 10 + ["B"] * 15
    row = agreement(tagged(first), tagged(second))[0]
    assert (row.column, row.words, row.same) == ("UPOS", 50, 35)
    assert row.kappa == pytest.approx((0.7 - 0.5) / 0.5)


def test_cells_that_one_left_out_do_not_count():
    row = agreement(tagged(["A", None, "B"]), tagged(["A", "B", "B"]))[0]
    assert (row.words, row.same, row.kappa) == (2, 2, 1.0)
    assert math.isnan(agreement(tagged(["A"]), tagged(["A"]))[0].kappa)


def test_heads_agree_where_they_are_the_same_word():
    def tree(heads):
        return [Sentence.from_words(["w"] * 4, heads=heads, deprels=["a", "b", "c", "d"])]

    rows = {row.column: row for row in agreement(tree([2, 0, 2, 3]), tree([2, 0, 2, 2]))}
    # Distances +1 root -1 -1 and +1 root -1 -2.
    assert (rows["HEAD"].words, rows["HEAD"].same) == (4, 3)
    assert rows["HEAD"].kappa == pytest.approx((3 / 4 - 4 / 16) / (1 - 4 / 16))
    assert rows["DEPREL"].kappa == 1.0
    assert rows["HEAD and DEPREL"].same == 3


def test_the_command_prints_it(tmp_path, run_cli):
    sentences = list(read_conllu("corpora/de.conllu"))[:5]
    other = [with_columns(one, upos=["X", *one.upos[1:]]) for one in sentences]
    path = tmp_path / "other.conllu"
    write_conllu(other, path)
    told = json.loads(run_cli("eval", "corpora/de.conllu", "corpora/de.conllu", "--agreement", "--json").out)
    assert {row["kappa"] for row in told.values()} == {1.0}
    first = tmp_path / "first.conllu"
    write_conllu(sentences, first)
    table = run_cli("eval", first, path, "--agreement").out
    assert "kappa" in table
    assert "HEAD and DEPREL" in table


def test_no_features_are_an_annotation_beside_words_with_features():
    def features(*cells):
        return [Sentence.from_words(["w"] * len(cells), feats=cells)]

    row = agreement(features("Case=Nom", "Case=Acc", "_"), features("Case=Nom", "_", "_"))[1]
    assert (row.column, row.words, row.same) == ("FEATS", 3, 2)
    assert agreement(features("Case=Nom"), features("_"))[1].words == 0
