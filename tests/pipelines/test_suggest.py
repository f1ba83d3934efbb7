"""The order of suggestions: against plain Python, its limits, and what is said of each sentence."""

import numpy as np
import pytest

from qsproj.corpus.editing import comment_value
from qsproj.errors import UsageError
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.converter.converter import Converter
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.pipelines.suggest import (
    Candidate,
    Costs,
    kinds_for,
    rank,
    source_kinds,
    tag_kinds,
    with_uncertainty,
)
from tests.oracles import suggest as oracle
from tests.sentences import make_sentence


def candidate(tags, uncertainties):
    return Candidate(
        make_sentence(" ".join("x" * len(tags.split())), tags), np.array(uncertainties, dtype=float)
    )


def random_candidates(seed, size=25):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, size=size)
    return [candidate(" ".join(rng.choice(["A", "B", "C"], n)), rng.random(n)) for n in lengths]


def order(candidates, **arguments):
    places = {id(one): place for place, one in enumerate(candidates)}
    return [places[id(one)] for one in rank(candidates, **arguments)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sentence_cost", [0.0, 2.0, 50.0])
def test_the_order_is_that_of_plain_python(seed, sentence_cost):
    candidates = random_candidates(seed)
    annotated = [one.sentence for one in random_candidates(seed + 100, size=5)]
    plain = [(one.sentence.upos, one.uncertainties.tolist()) for one in candidates]
    for kinds in (tag_kinds, None):
        found = order(candidates, annotated=annotated, costs=Costs.in_words(sentence_cost), kinds=kinds)
        tags = [sentence.upos for sentence in annotated]
        assert found == oracle.ranking(plain, tags, sentence_cost=sentence_cost, variety=kinds is not None)


def test_the_uncertain_come_first():
    candidates = [candidate("A B", [0.1, 0.1]), candidate("A B", [0.5, 0.4]), candidate("A B", [0.2, 0.3])]
    assert order(candidates) == [1, 2, 0]


def test_what_is_like_a_better_one_waits():
    candidates = [candidate("A B", [0.5, 0.5]), candidate("A B", [0.4, 0.4]), candidate("C D", [0.2, 0.2])]
    assert order(candidates, kinds=tag_kinds) == [0, 1, 2]
    twice = [candidate("A B", [0.5, 0.5]), candidate("A B", [0.3, 0.3]), candidate("C D", [0.4, 0.4])]
    assert order(twice, kinds=tag_kinds) == [0, 2, 1]
    assert order(twice, kinds=None) == [0, 2, 1]
    near = [*twice, candidate("C D", [0.1, 0.1])]
    assert order(near, kinds=tag_kinds) == [0, 2, 1, 3]


def test_what_is_annotated_counts_less():
    candidates = [candidate("A B", [0.5, 0.5]), candidate("C D", [0.4, 0.4])]
    annotated = [make_sentence("x y", "A B")]
    assert order(candidates) == [0, 1]
    assert order(candidates, annotated=annotated) == [1, 0]
    assert order(candidates, annotated=annotated, kinds=None) == [0, 1]


def test_common_kinds_count_more():
    rare = candidate("R R R", [0.5, 0.5, 0.5])
    common = [candidate("A B A", [0.4, 0.4, 0.4]) for _ in range(3)]
    assert order([rare, *common])[0] == 1


def test_a_sentence_costs_more_than_its_words():
    short, long = candidate("A", [0.9]), candidate("B C D E", [0.6] * 4)
    assert order([short, long], costs=Costs.in_words(0.0)) == [0, 1]
    assert order([short, long], costs=Costs.in_words(2.0)) == [1, 0]


def test_the_earlier_of_equals_comes_first():
    assert order([candidate("A B", [0.5, 0.5]) for _ in range(5)]) == [0, 1, 2, 3, 4]


def test_no_more_sentences_than_asked_for():
    candidates = random_candidates(1)
    everything = order(candidates)
    assert sorted(everything) == list(range(25))
    assert order(candidates, count=4) == everything[:4]
    assert order(candidates, count=99) == everything


def test_no_more_words_than_asked_for_and_what_does_not_fit_is_passed_over():
    candidates = [candidate("A B C", [0.9] * 3), candidate("D E F G", [0.8] * 4), candidate("H", [0.1])]
    assert order(candidates, words=5, costs=Costs.in_words(0.0)) == [0, 2]
    assert order(candidates, words=2) == [2]


def test_without_tags_there_is_one_order_still():
    candidates = [candidate("_ _", [0.1, 0.2]), candidate("_ _ _", [0.5, 0.4, 0.4])]
    assert order(candidates) == [1, 0]


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_a_sentence_costs_no_less_than_its_words(cost):
    with pytest.raises(UsageError, match=f"the cost of a sentence is {cost}, expected a number, 0 or more"):
        Costs.in_words(cost)


def test_a_budget_that_no_sentence_fits_is_refused():
    candidates = [candidate("A B C", [0.5] * 3), candidate("A B", [0.5] * 2)]
    with pytest.raises(UsageError, match="found 1 as the maximum number of words, expected at least 2"):
        next(rank(candidates, words=1))


def test_kinds_of_words():
    sentence = make_sentence("a b c", "A B C", [2, 0, -1], "p q _")
    assert tag_kinds(sentence) == [("", "A", "B"), ("A", "B", "C"), ("B", "C", "")]
    assert source_kinds(sentence) == [("B", "p", "A"), ("", "q", "B"), ("", "_", "C")]


def test_a_converter_goes_by_the_source_tree():
    assert kinds_for(Converter.untrained()) is source_kinds
    parser = ArcParser(
        ArcScorer.untrained("words", hash_bits=8), None, TreeDecoder(projective=True, single_root=True)
    )
    assert kinds_for(parser) is tag_kinds


ROWS = "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2-3\tbc\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\t_\t_\t_\t_\t_\t_\n"
ROWS += "3\tc\t_\tX\t_\t_\t_\t_\t_\tNote=1\n\n"


def test_the_uncertainty_of_a_sentence_is_the_mean_of_its_words():
    (shown,) = with_uncertainty([candidate("A B", [0.1, 0.3])], Converter.untrained(), predict=False)
    assert comment_value(shown, "uncertainty") == "0.2000"
