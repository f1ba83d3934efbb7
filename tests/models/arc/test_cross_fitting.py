"""Scores by parsers that have not seen the sentence."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_training import cross_fitted_scores, train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions

OPTIONS = TrainingOptions(epochs=2)


@pytest.fixture(scope="module")
def sentences():
    return list(islice(read_conllu("corpora/de.conllu"), 10))


@pytest.fixture(scope="module")
def parser(sentences):
    return train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS)[0]


def cross_fitted(sentences, parser):
    return cross_fitted_scores(
        sentences,
        rng=np.random.default_rng(1),
        template_set=parser.scorer.template_set,
        inference=parser.inference,
        options=OPTIONS,
    )


def test_they_know_less_than_a_parser_that_saw_the_trees_and_more_than_nothing(sentences, parser):
    def right(of):
        return sum(
            int((parser.inference.best(one) == sentence.heads)[1:].sum())
            for one, sentence in zip(of, sentences)
        )

    seen = [parser.scores(sentence) for sentence in sentences]
    nothing = [np.zeros_like(scores) for scores in seen]
    assert right(nothing) + 5 < right(cross_fitted(sentences, parser)) < right(seen)


def test_another_tree_changes_the_scores_of_the_others_alone(sentences, parser):
    n = len(sentences[0])
    other = replace(sentences[0], heads=frozen_heads([-1, *range(n)]))
    before = cross_fitted(sentences, parser)
    after = cross_fitted([other, *sentences[1:]], parser)
    same = [np.array_equal(one, another) for one, another in zip(before, after, strict=True)]
    assert same[0]
    # Those of its own fold have not seen it, either.
    assert 6 <= same.count(False) <= 8
