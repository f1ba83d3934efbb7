"""The rest of a tree under what is fixed: against all trees, and for every kind of parser."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, UsageError
from qsproj.models.storage import load_model
from qsproj.serve.review.inference import FixedCells, Inference, InferenceJob, infer_rest
from tests.oracles.trees import all_trees

KINDS = (
    "arc-parser",
    "cluster-parser",
    "dmv",
    "graph-parser",
    "labelled-parser",
    "tagging-parser",
    "text-parser",
)
FORMS, TAGS = ("the", "dog", "sees", "a", "cat"), ("DET", "NOUN", "VERB", "DET", "NOUN")
N = len(FORMS)
SENTENCE = Sentence.from_words(FORMS, upos=TAGS)


def fixed(heads=(), relations=(), tags=()):
    columns = [-1] * N, ["_"] * N, list(TAGS), [False] * N
    for column, cells in zip(columns, (heads, relations, tags), strict=False):
        for word, cell in cells:
            column[word - 1] = cell
    for word, _ in tags:
        columns[3][word - 1] = True
    return FixedCells(*map(tuple, columns))


def kept(kind):
    return load_model(f"tests/kept_models/{kind}.model")


def test_chances_are_those_of_all_trees_with_what_is_fixed():
    parser = kept("arc-parser")
    scores = parser.scores(SENTENCE) / parser.temperature
    shape = parser.inference
    for heads in ((), ((2, 5),), ((1, 5), (4, 3))):
        trees = [
            tree
            for tree in all_trees(N, projective=shape.projective, single_root=shape.single_root)
            if all(tree[word] == head for word, head in heads)
        ]
        weights = [math.exp(sum(scores[tree[word], word] for word in range(1, N + 1))) for tree in trees]
        chances = np.zeros((N + 1, N + 1))
        for tree, weight in zip(trees, weights, strict=True):
            for word in range(1, N + 1):
                chances[tree[word], word] += weight / sum(weights)
        found = infer_rest(parser, SENTENCE, fixed(heads))
        expected = [chances[head, word] for word, head in enumerate(found.heads, start=1)]
        assert found.chances == pytest.approx(expected, abs=1e-4)
        for word, (second, chance) in enumerate(found.seconds, start=1):
            others = {
                head: chances[head, word]
                for head in range(N + 1)
                if head not in (word, found.heads[word - 1])
            }
            assert chance == pytest.approx(max(others.values()), abs=1e-4)
            assert others[second] == pytest.approx(chance, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_fixed_stays_whatever_the_model(kind):
    parser = kept(kind)
    free = infer_rest(parser, SENTENCE, fixed())
    head = 4 if free.heads[0] != 4 else 5
    found = infer_rest(parser, SENTENCE, fixed([(1, head)], [(2, "strange")], [(3, "VERB")]))
    assert (found.heads[0], found.relations[1], found.upos[2]) == (head, "strange", "VERB")
    assert found.chances[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("kind", ["arc-parser", "graph-parser", "labelled-parser", "text-parser"])
def test_arcs_that_cross_are_answered_all_the_same(kind):
    crossing = fixed([(1, 3), (2, 4)])
    assert infer_rest(kept(kind), SENTENCE, crossing).heads[:2] == (3, 4)
    with pytest.raises(SentenceError):
        infer_rest(kept(kind), SENTENCE, fixed([(1, 2), (2, 1)]))


def test_cells_that_do_not_fit_are_refused():
    untagged = replace(fixed(), upos=("",) * N)
    for wrong in (fixed([(1, 9)]), FixedCells((-1,), ("_",), ("X",), (False,)), untagged):
        with pytest.raises(UsageError, match="expected"):
            infer_rest(kept("arc-parser"), SENTENCE, wrong)


def test_a_model_that_was_trained_since_answers():
    inference = Inference(kept("arc-parser"))
    other = "tests/kept_models/labelled-parser.model"
    found = inference(InferenceJob(SENTENCE, fixed(), (other, 1)))
    assert found == infer_rest(load_model(other), SENTENCE, fixed())
