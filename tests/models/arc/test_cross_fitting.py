"""Scores by parsers that have not seen the sentence."""

from __future__ import annotations

from itertools import islice

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.arc.cross_fitting import cross_fitted_scores

OPTIONS = TrainingOptions(epochs=2)


def test_cross_fitted_scores_have_not_seen_their_sentence():
    """A parser that has seen a tree gives it more: with one odd tree, its own scores must not know it."""
    sentences = list(islice(read_conllu("corpora/de.conllu"), 10))
    parser, _ = train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS)
    scores = cross_fitted_scores(
        sentences,
        rng=np.random.default_rng(1),
        template_set=parser.scorer.template_set,
        inference=parser.inference,
        options=OPTIONS,
    )

    def right(of):
        return sum(
            int((parser.inference.best(one) == sentence.heads)[1:].sum())
            for one, sentence in zip(of, sentences)
        )

    assert right(scores) < right([parser.scores(sentence) for sentence in sentences])
