"""Parsers learned by EM give relations: those that links carry over, as a labeller generalises them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.dmv.dmv import Dmv
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.models.parser import load_parser
from qsproj.pipelines.projection import em_projection
from qsproj.pipelines.projection.em_projection import (
    keeping_first,
    project_hard_em,
    project_qg,
    project_tags_only,
)
from qsproj.pipelines.projection.methods import EM_FROM_ARCS, EM_FROM_TAGS, ProjectedArcs
from tests.sentences import make_sentence

METHODS = {
    "em": lambda pairs, rng: project_tags_only(pairs, training=replace(EM_FROM_TAGS, iterations=2), rng=rng),
    "hard-em": lambda pairs, rng: project_hard_em(
        pairs, projection=ProjectedArcs(min_attached=0.0), training=EM_FROM_ARCS, rng=rng
    ),
    "qg": lambda pairs, rng: project_qg(pairs, training=QgOptions(min_linked=0.5), rng=rng),
}


@pytest.mark.parametrize("method", METHODS)
def test_most_arcs_that_are_right_have_the_right_relation(sample, method, tmp_path):
    projected = METHODS[method](sample, np.random.default_rng(1))
    gold = [pair.target for pair in sample]
    parsed = [projected.parser.parse(tree) for tree in gold]
    scores = attachment_scores(gold, [parsed])[0]
    assert scores.las_no_subtypes > 0.8 * scores.uas
    assert {name for tree in projected.trees() for name in tree.deprels} > {"nsubj", "obj", "det", "root"}
    projected.parser.save(tmp_path / "model")
    loaded = load_parser(tmp_path / "model")
    assert [loaded.parse(tree).deprels for tree in gold] == [tree.deprels for tree in parsed]


def test_one_pass_is_enough_and_the_seed_settles_it(sample):
    trees = [pair.target for pair in sample]
    one, other = (
        [parser.parse(tree).deprels for tree in trees]
        for pairs in (sample, iter(sample))
        for parser in [METHODS["hard-em"](pairs, np.random.default_rng(1)).parser]
    )
    assert one == other


def test_where_the_source_has_no_relations_there_are_none(sample):
    bare = [
        replace(pair, source=with_columns(pair.source, deprels=["_"] * len(pair.source))) for pair in sample
    ]
    parser = METHODS["em"](bare, np.random.default_rng(1)).parser
    assert isinstance(parser, Dmv)
    assert parser.labeller is None
    assert set(parser.parse(sample[0].target).deprels) == {"root", "dep"}


def test_of_a_long_bitext_the_first_pairs_are_kept(sample, monkeypatch):
    monkeypatch.setattr(em_projection, "LABELLED_PAIRS", 3)
    kept = []
    assert list(keeping_first(sample, kept)) == sample
    assert kept == sample[:3]


def test_relations_are_learned_from_pairs_with_words_and_links():
    word, nothing = make_sentence("a", "X", [0]), make_sentence("", "")
    pair = SentencePair(word, word, make_alignment(1, 1, [(1, 1)]))
    others = [replace(pair, target=nothing), replace(pair, alignment=make_alignment(1, 1, []))]
    kept = []
    assert list(keeping_first([*others, pair], kept)) == [*others, pair]
    assert kept == [pair]
