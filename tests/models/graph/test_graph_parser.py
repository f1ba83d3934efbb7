"""The second-order parser: its graphs, its gradient, its file, and what it does when it cannot."""

import json
from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import BPOptions, Status, bethe_log_z, run
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values
from qsproj.errors import DataError, UsageError
from qsproj.features.atoms import encode
from qsproj.features.second_order import LARGEST_COUNT, TEMPLATE_SETS, compile_family, factor_features
from qsproj.kernels.features.second_order_features import gather_factors, score_factors
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph import graph_factors
from qsproj.models.graph.graph_factors import (
    FAMILIES,
    Arcs,
    arc_log_odds,
    block_graph,
    expectations,
    propagate,
    sentence_graph,
)
from qsproj.models.graph.graph_parser import GraphOptions, GraphParser, train_graph_parser
from qsproj.models.storage import load_model
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.training.optimiser import AdaGrad
from tests.oracles.second_order_features import factors_of_tree, features_of
from tests.sentences import make_sentence

PRECISE = BPOptions(schedule="sequential", max_iterations=2000, tolerance=1e-12, damping=0.3)
PROJECTIVE = TreeDecoder(projective=True, single_root=False)
ALL_TREES = TreeDecoder(projective=False, single_root=False)
SENTENCE = make_sentence(
    "she gave him the very old book today", "PRON VERB PRON DET ADV ADJ NOUN ADV", [2, 0, 2, 7, 6, 7, 2, 2]
)
EVERY_FAMILY = tuple(FAMILIES)


def everything(n):
    return np.ones((n + 1, n + 1), dtype=bool)


def graph_of(n, inference=PROJECTIVE, families=EVERY_FAMILY):
    return sentence_graph(everything(n), inference, families=families)


def observed_factors(graph, heads):
    """Return which factors the tree has, as the training lays them out."""
    true = heads[graph.dependents] == graph.heads
    nothing = [np.zeros(len(family.scored)) for family in graph.families]
    fired = expectations(graph, np.where(true, np.inf, -np.inf), nothing, iterations=1)[1][1]
    return dict(zip((family.name for family in graph.families), fired))


def test_the_factors_of_a_tree_are_those_that_a_list_of_its_words_gives():
    graph = graph_of(len(SENTENCE))
    observed = observed_factors(graph, SENTENCE.heads)
    grand, sequence, counts = factors_of_tree(SENTENCE.heads.tolist(), LARGEST_COUNT)
    for family in graph.families:
        fired = observed[family.name] > 0.5
        np.testing.assert_allclose(observed[family.name], fired, atol=1e-12)
        words = {tuple(row) for row in (family.members[fired] - 1).tolist()}
        if family.name == "grand":
            assert words == grand
        elif family.name == "childseq":
            # The root has no left side, and the last word no right one: nothing to choose there.
            assert words == {w for w in sequence if w not in {(0, -1, 9), (8, -1, 9)}} | {(8, -1, 9)}
        elif family.name == "valence":
            sides_and_counts = {
                (h, (p - 1) % 2, (p - 1) // 2)
                for (h,), p in zip(
                    (family.members[fired] - 1).tolist(), family.places[fired].astype(int).tolist()
                )
            }
            assert sides_and_counts == counts - {(0, 0, 0), (1, 0, 0), (8, 1, 0)}


@pytest.mark.parametrize("family", EVERY_FAMILY)
@pytest.mark.parametrize("name", TEMPLATE_SETS)
def test_a_step_moves_scores_as_features_with_names_do(family, name):
    """AdaGrad's first step is minus the rate times the sign of a feature's summed gradient."""
    built = next(f for f in graph_of(len(SENTENCE)).families if f.name == family)
    templates = TEMPLATE_SETS[name][family]
    attributes = ("upos", "xpos", "lower", "lemma", "case", "verbform")
    compiled = compile_family(family, templates, attributes)
    buckets = 1 << 22
    features = factor_features(
        encode(SENTENCE, attributes), compiled, built.members, built.places, buckets=buckets
    )
    gradient = np.random.default_rng(3).normal(size=len(built.scored))
    descent = AdaGrad(np.zeros(buckets, np.float32), rate=0.5)
    descent.gather(gather_factors, features, gradient)
    descent.step()
    slopes = {}
    named = [
        features_of(SENTENCE, family, templates, (words - 1).tolist(), int(place))
        for words, place in zip(built.members, built.places)
    ]
    for counts, slope in zip(named, gradient):
        for feature, count in counts.items():
            slopes[feature] = slopes.get(feature, 0.0) + slope * count
    expected = [sum(-0.5 * np.sign(slopes[f]) * c for f, c in counts.items()) for counts in named]
    found = score_factors(features, descent.weights)
    # A few of several thousand features may share a bucket.
    assert np.mean(np.abs(found - expected) > 1e-3) < 0.02


@pytest.mark.parametrize("inference", [PROJECTIVE, ALL_TREES])
def test_the_gradient_is_that_of_bethe_log_z(inference):
    rng = np.random.default_rng(7)
    graph = graph_of(3, inference)
    links = rng.normal(size=len(graph.heads))
    scores = [0.3 * rng.normal(size=len(family.scored)) for family in graph.families]

    def log_z(links, scores):
        scored = graph.with_scores(links, scores)
        return bethe_log_z(run_to_the_end(scored))

    def run_to_the_end(scored):
        return run(scored, PRECISE)

    beliefs = run_to_the_end(graph.with_scores(links, scores))
    assert beliefs.residuals[-1] < 1e-9
    step = 1e-5
    for index, family in enumerate(graph.families):
        fired = family.expected(beliefs.graph.groups[index + 1], beliefs.incoming[index + 1])
        for k in range(0, len(fired), 3):
            moved = [values.copy() for values in scores]
            moved[index][k] += step
            raised = log_z(links, moved)
            moved[index][k] -= 2 * step
            slope = (raised - log_z(links, moved)) / (2 * step)
            assert fired[k] == pytest.approx(slope, abs=1e-6)


def test_damping_does_not_move_the_fixed_point():
    rng = np.random.default_rng(1)
    graph = graph_of(3)
    links = rng.normal(size=len(graph.heads))
    scores = [0.3 * rng.normal(size=len(family.scored)) for family in graph.families]
    scored = graph.with_scores(links, scores)
    plain, damped = (
        run(scored, replace(PRECISE, max_iterations=1000, damping=damping)) for damping in (0.0, 0.4)
    )
    np.testing.assert_allclose(plain.log_ratios, damped.log_ratios, atol=1e-9)


@pytest.mark.parametrize("inference", [PROJECTIVE, ALL_TREES])
def test_without_factors_beliefs_are_the_exact_posterior(inference):
    rng = np.random.default_rng(2)
    graph = graph_of(5, inference, families=())
    scores = 3 * rng.normal(size=(6, 6))
    _, (chances, _) = expectations(graph, scores[graph.heads, graph.dependents], [], iterations=2)
    np.testing.assert_allclose(chances, inference.infer(scores)[1][graph.heads, graph.dependents], atol=1e-9)


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/es.conllu"))[:60]


@pytest.fixture(scope="module")
def parser(sample):
    options = TrainingOptions(epochs=4)
    return train_graph_parser(sample, rng=np.random.default_rng(1), options=options)[0]


def test_training_trees_are_learned(parser, sample):
    right = sum(int((parser.parse(s).heads == s.heads)[1:].sum()) for s in sample)
    assert right > 0.97 * sum(map(len, sample))


def test_probabilities_of_heads_sum_to_one(parser, sample):
    for sentence in sample[:20]:
        believed = parser.arc_beliefs(sentence)
        assert believed.order == 2
        np.testing.assert_allclose(believed.probabilities[:, 1:].sum(axis=0), 1.0, atol=1e-6)


def test_reported_probabilities_fit_new_sentences_better_than_loopy_beliefs(parser):
    loopy = reported = 0.0
    for tree in list(read_conllu("corpora/es.conllu"))[60:]:
        heads, words = parser.parse(tree).heads[1:], np.arange(1, len(tree) + 1)
        believed, right = parser.arc_beliefs(tree), heads == tree.heads[1:]
        for found in (believed.probabilities, parser.arc_probabilities(tree)):
            assert found[:, 1:].sum(axis=0) == pytest.approx(1.0)
        loopy += log_loss(believed.probabilities[heads, words], right)
        reported += log_loss(parser.arc_probabilities(tree)[heads, words], right)
    assert reported < loopy


def log_loss(stated, right):
    sure = np.clip(stated, 1e-4, 1.0 - 1e-4)
    return -np.log(np.where(right, sure, 1.0 - sure)).sum()


def test_a_sentence_beyond_the_limit_is_parsed_first_order_and_says_so(parser, sample):
    options = replace(parser.options, max_factors=3)
    limited = replace(parser, options=options)
    parsed = limited.parse(sample[0])
    assert misc_values(parsed, "Order") == ("1",) * len(sample[0])
    assert parsed.heads.tolist() == parser.base.parse(sample[0]).heads.tolist()
    assert misc_values(parser.parse(sample[0]), "Order") == (None,) * len(sample[0])


@pytest.mark.parametrize("decode", ["mbr", "map"])
@pytest.mark.parametrize("why", ["too many factors", "contradiction"])
def test_where_the_first_order_stands_in_it_is_as_sure_as_it_is_alone(
    parser, sample, why, decode, monkeypatch
):
    """Its temperature counts for probabilities, not for trees."""
    base = replace(parser.base, temperature=4.0)
    limit = 3 if why == "too many factors" else parser.options.max_factors
    if why == "contradiction":

        def contradicting(*arguments, **options):
            return replace(propagate(*arguments, **options), status=Status.CONTRADICTION)

        monkeypatch.setattr(graph_factors, "propagate", contradicting)
    limited = replace(parser, base=base, options=replace(parser.options, max_factors=limit))
    for sentence in sample[:5]:
        np.testing.assert_array_equal(limited.arc_probabilities(sentence), base.arc_probabilities(sentence))
        parsed, alone = (one.parse(sentence, decode=decode, confidence=True) for one in (limited, base))
        assert parsed.heads.tolist() == alone.heads.tolist()
        assert misc_values(parsed, "ArcProb") == misc_values(alone, "ArcProb")


def test_a_model_with_nan_weights_is_refused(parser, tmp_path):
    broken = parser.factors.weights.copy()
    broken[5] = np.nan
    factors = replace(parser.factors, weights=broken)
    replace(parser, factors=factors).save(tmp_path / "model")
    with pytest.raises(DataError, match="model: found NaN or infinite numbers"):
        load_model(tmp_path / "model")


def test_partial_trees_train(sample):
    partial = [
        replace(s, heads=np.where(np.arange(len(s) + 1) % 3 == 2, -1, s.heads).astype(np.int32))
        for s in sample[:30]
    ]
    options = TrainingOptions(epochs=3)
    parser, _ = train_graph_parser(partial, rng=np.random.default_rng(1), options=options)
    right = sum(int((parser.parse(s).heads == s.heads)[1:].sum()) for s in sample[:30])
    assert right > 0.85 * sum(map(len, sample[:30]))


def test_crossing_arcs_are_penalised_where_they_may_be(sample):
    options = TrainingOptions(epochs=1, projective=False)
    parser, _ = train_graph_parser(sample[:10], rng=np.random.default_rng(1), options=options)
    assert parser.options.families == ("grand", "childseq", "valence", "nocross")
    assert (parser.parse(sample[0]).heads[1:] >= 0).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"families": ("grand", "luck")}, "unknown factors 'luck'; known: grand, childseq"),
        ({"iterations": 0}, "iterations is 0, expected at least 1"),
        ({"threshold": 0.0}, "threshold is 0.0, expected a probability"),
    ],
)
def test_wrong_options_are_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        GraphOptions(**wrong)


def test_max_product_finds_the_best_tree_where_it_is_exact():
    rng = np.random.default_rng(4)
    graph = graph_of(4, families=())
    scores = rng.normal(size=(5, 5))
    beliefs = propagate(graph, scores[graph.heads, graph.dependents], [], iterations=2, maximise=True)
    favourites = beliefs.log_ratios > 0
    best = PROJECTIVE.best(scores)
    assert (best[graph.dependents[favourites]] == graph.heads[favourites]).all()


def test_sentences_as_one_graph_have_the_beliefs_of_each_alone():
    rng = np.random.default_rng(6)
    inference, families = TreeDecoder(projective=True, single_root=True), ("grand", "childseq", "valence")
    allowed = [everything(3), rng.random((6, 6)) < 0.8, everything(2)]
    assert inference.admits(allowed[1])
    graphs = [sentence_graph(one, inference, families=families) for one in allowed]
    starts = [0, 6, 14]
    heads, dependents = (
        np.concatenate([getattr(graph, end) + start for graph, start in zip(graphs, starts)]).astype(np.int32)
        for end in ("heads", "dependents")
    )
    before, after = np.zeros((2, 17), dtype=np.int32)
    for one, start in zip(allowed, starts):
        before[start : start + len(one)], after[start : start + len(one)] = start - 1, start + len(one)
    trees, first = [], 0
    for graph in graphs:
        tree = graph.graph.groups[-1]
        trees.append(replace(tree, edges=tree.edges + np.int32(first)))
        first += len(graph.heads)
    together = block_graph(Arcs(heads, dependents, before, after), trees, families=families)
    for place, family in enumerate(together.families):
        members = [one.families[place].members + start for one, start in zip(graphs, starts)]
        places = [one.families[place].places for one in graphs]
        assert family.members.tolist() == np.concatenate(members).tolist()
        assert family.places.tolist() == np.concatenate(places).tolist()
    links = [rng.normal(size=len(graph.heads)) for graph in graphs]
    scores = [[rng.normal(size=len(family.scored)) for family in graph.families] for graph in graphs]
    kept = [np.concatenate(one) for one in zip(*scores)]
    options = {"iterations": 4, "tolerance": 0.0}
    alone = [arc_log_odds(propagate(*one, **options)) for one in zip(graphs, links, scores)]
    beliefs = propagate(together, np.concatenate(links), kept, **options)
    np.testing.assert_allclose(arc_log_odds(beliefs), np.concatenate(alone), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"max_factors": 150}, {"families": ("childseq",)}])
def test_trees_found_by_the_block_are_those_found_one_by_one(parser, options):
    parser = replace(parser, options=replace(parser.options, **options))
    sentences = list(read_conllu("corpora/en.conllu"))[:40]
    blocks = list(parser.parse_all(sentences))
    alone = list(parser.parse_all(sentences, confidence=True))
    assert [one.heads.tolist() for one in blocks] == [one.heads.tolist() for one in alone]
    assert [one.deprels for one in blocks] == [one.deprels for one in alone]
    orders = [[misc_values(one, "Order") for one in parsed] for parsed in (blocks, alone)]
    assert orders[0] == orders[1]
    assert ("max_factors" in options) == any("1" in order for order in orders[0])
    assert [one.heads.tolist() for one in map(parser.parse, sentences)] == [b.heads.tolist() for b in blocks]


def test_a_model_of_a_build_that_left_factors_out_by_doubt_is_read(parser):
    header, arrays = parser.to_archive()
    header["options"] = {**header["options"], "doubt": 0.1}
    assert GraphParser.from_archive(json.loads(json.dumps(header)), arrays).options == parser.options
