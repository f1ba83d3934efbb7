"""Uncertainty of words, by which `qsproj suggest` ranks sentences."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.parser import ArcPosterior
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.pipelines.suggest import word_uncertainties
from qsproj.trees import nonprojective, projective
from tests.oracles import suggest as oracle
from tests.oracles.trees import all_trees
from tests.sentences import make_sentence

SENTENCE = make_sentence("the dog sleeps here", "DET NOUN VERB ADV")


@dataclass(frozen=True)
class Opinion:
    """A parser that knows arc probabilities and nothing else."""

    marginals: np.ndarray

    def posterior(self, sentence, given=None):
        return ArcPosterior(self.marginals)

    def parse(self, sentence, *, decode="mbr", confidence=False):
        return sentence


def opinion(seed, n=4):
    scores = np.random.default_rng(seed).normal(scale=2.0, size=(n + 1, n + 1))
    return Opinion(nonprojective.posterior(scores).marginals)


def certain(heads):
    marginals = np.zeros((len(heads) + 1, len(heads) + 1))
    marginals[heads, np.arange(1, len(heads) + 1)] = 1.0
    return Opinion(marginals)


def parser(*, projective, single_root, seed=3):
    """Return a parser with random weights."""
    scorer = ArcScorer.untrained("words", hash_bits=12)
    weights = np.random.default_rng(seed).normal(size=len(scorer.weights)).astype(np.float32)
    return ArcParser(
        ArcScorer("words", weights), None, TreeDecoder(projective=projective, single_root=single_root)
    )


@pytest.mark.parametrize("seed", range(3))
def test_what_suggest_ranks_by_agrees_with_plain_python(seed):
    one = opinion(seed)
    assert word_uncertainties(one, SENTENCE) == pytest.approx(oracle.errors(one.marginals))


def test_what_suggest_ranks_by_is_told_at_the_temperature_of_a_parser_and_without_tags():
    model = replace(parser(projective=True, single_root=True), temperature=2.0)
    bare = make_sentence("the dog sleeps here", "_ _ _ _")
    for sentence in (SENTENCE, bare):
        marginals = projective.posterior(model.scores(sentence) / 2.0, single_root=True).marginals
        assert word_uncertainties(model, sentence) == pytest.approx(oracle.errors(marginals))


def test_a_certain_word_has_no_uncertainty():
    assert word_uncertainties(certain([2, 3, 0, 3]), SENTENCE) == pytest.approx([0.0] * 4)


def test_one_word_has_one_head():
    one = make_sentence("yes", "INTJ")
    found = word_uncertainties(parser(projective=True, single_root=False), one)
    assert found == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("is_projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_the_entropy_of_the_tree_is_that_of_all_trees(is_projective, single_root):
    model = parser(projective=is_projective, single_root=single_root)
    scores = model.scores(SENTENCE)
    trees = all_trees(4, projective=is_projective, single_root=single_root)
    totals = np.array([sum(scores[head, word] for word, head in enumerate(tree[1:], 1)) for tree in trees])
    chances = np.exp(totals - np.logaddexp.reduce(totals))
    module = projective if is_projective else nonprojective
    assert module.entropy(scores, single_root=single_root) == pytest.approx(oracle.entropy(chances))
