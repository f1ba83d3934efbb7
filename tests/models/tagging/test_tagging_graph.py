"""The graph over tags and arcs: its beliefs against enumeration, its gradient, its features."""

import numpy as np
import pytest

from qsproj.bp.run import BPOptions, bethe_log_z, run
from qsproj.corpus.editing import with_columns
from qsproj.features.atoms import encode
from qsproj.features.second_order import FAMILY, TAG_LINK_TEMPLATES, arc_places, tag_hashes, tag_link_features
from qsproj.kernels.features.second_order_features import gather_factors, score_factors
from qsproj.models.tagging.tagging_parser import (
    TAG,
    TRIGRAM,
    infer_tags_and_tree,
    observed_values,
    tagging_graph,
    trigram_rows,
)
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.training.optimiser import AdaGrad
from tests.oracles.factor_graphs import GraphEnumeration
from tests.oracles.second_order_features import features_of
from tests.sentences import make_sentence

PROJECTIVE = TreeDecoder(projective=True, single_root=False)
ALL_TREES = TreeDecoder(projective=False, single_root=True)
N_TAGS = 3
# Of each of three words; the second can only be tagged in one way.
POSSIBLE = np.array([[True, False, True], [False, True, False], [True, True, False]])


def graph_of(n, inference=PROJECTIVE):
    return tagging_graph(np.ones((n + 1, n + 1), dtype=bool), POSSIBLE[:n], inference)


def random_scores(graph, rng, *, scale):
    n = len(graph.possible)
    arcs, tags, trigrams, pairs = (
        scale * rng.normal(size=size)
        for size in (len(graph.heads), n * N_TAGS, (N_TAGS + 1) ** 3, len(graph.pair_arcs))
    )
    return arcs, [tags, trigrams, *graph.split_pairs(pairs)]


def truth(graph, scores):
    """Return log Z, the probability of each arc, tag, and pair of tags with its arc, by enumeration."""
    scored = graph.with_scores(*scores)
    everything = GraphEnumeration(scored.states, scored.groups, lambda v: np.array(v, dtype=np.int32))
    n_arcs, n = len(graph.heads), len(graph.possible)
    arcs = [everything.marginals(arc)[1] for arc in range(n_arcs)]
    tags = [everything.marginals(n_arcs + word) for word in range(n)]
    pairs = np.zeros(len(graph.pair_arcs))
    for values, score in everything.scored:
        state = [0, *values[n_arcs : n_arcs + n]]
        for pair, (head, dependent) in enumerate(graph.pair_candidates.tolist()):
            fits = all(state[graph.candidate_words[c]] == graph.candidate_tags[c] for c in (head, dependent))
            if values[graph.pair_arcs[pair]] and fits:
                pairs[pair] += np.exp(score - everything.log_z)
    return everything.log_z, arcs, np.array(tags), pairs


def without_loops(graph, scores, arc):
    """Leave only one arc that looks at tags, and tags that do not look at each other."""
    arcs, (tags, trigrams, *pairs) = scores
    alone = np.where(graph.pair_arcs == arc, np.concatenate(pairs), 0.0)
    return arcs, [tags, np.zeros_like(trigrams), *graph.split_pairs(alone)]


def expected_parts(graph, scores, **limits):
    """Return the expected arcs, tags float64[n, K] and pairs of tags."""
    _, _, (arcs, (tags, _, *pairs)) = infer_tags_and_tree(graph, scores, **limits)
    return arcs, tags.reshape(-1, N_TAGS), np.concatenate(pairs)


@pytest.mark.parametrize("inference", [PROJECTIVE, ALL_TREES])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_beliefs_are_exact_where_nothing_goes_round(n, inference, scale):
    graph = graph_of(n, inference)
    rng = np.random.default_rng(n)
    for arc in (0, len(graph.heads) - 1):
        scores = without_loops(graph, random_scores(graph, rng, scale=scale), arc)
        log_z, arcs, tags, pairs = truth(graph, scores)
        found = expected_parts(graph, scores, iterations=10)
        np.testing.assert_allclose(found[0], arcs, atol=1e-9)
        np.testing.assert_allclose(found[1], tags, atol=1e-9)
        of_arc = graph.pair_arcs == arc
        np.testing.assert_allclose(found[2][of_arc], pairs[of_arc], atol=1e-9)
        assert bethe_log_z(settled(graph, scores)) == pytest.approx(log_z, rel=1e-9)


@pytest.mark.parametrize("inference", [PROJECTIVE, ALL_TREES])
def test_beliefs_are_near_the_truth_where_something_does(inference):
    graph = graph_of(3, inference)
    scores = random_scores(graph, np.random.default_rng(5), scale=0.7)
    log_z, arcs, tags, pairs = truth(graph, scores)
    found = expected_parts(graph, scores, iterations=10)
    np.testing.assert_allclose(found[0], arcs, atol=0.05)
    np.testing.assert_allclose(found[1], tags, atol=0.05)
    np.testing.assert_allclose(found[2], pairs, atol=0.05)
    assert bethe_log_z(settled(graph, scores)) == pytest.approx(log_z, abs=0.05)


def settled(graph, scores):
    precise = BPOptions(schedule="sequential", max_iterations=500, tolerance=1e-12)
    beliefs = run(graph.with_scores(*scores), precise)
    assert beliefs.residuals[-1] < 1e-9
    return beliefs


def test_the_gradient_is_that_of_bethe_log_z():
    graph = graph_of(3)
    scores = random_scores(graph, np.random.default_rng(7), scale=0.7)
    *_, (arcs, families) = infer_tags_and_tree(graph, scores, iterations=500, tolerance=1e-12)
    step = 1e-5
    for place, slopes in enumerate((arcs, *families)):
        for cell in range(0, len(slopes), 3):
            moved = []
            for way in (step, -step):
                changed = [values.copy() for values in (scores[0], *scores[1])]
                changed[place][cell] += way
                moved.append(bethe_log_z(settled(graph, (changed[0], changed[1:]))))
            # A tag that is ruled out has no slope; its score is not read.
            assert slopes[cell] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-6)


def test_what_is_observed_is_what_fires_when_all_else_is_ruled_out():
    graph = graph_of(3)
    agrees = graph.heads == np.array([2, 0, 2])[graph.dependents - 1]
    tags = np.array([2, 1, 0], dtype=np.int32)
    observed = observed_values(graph, agrees, tags)
    _, nothing = random_scores(graph, np.random.default_rng(0), scale=0.0)
    nothing[TAG] = np.where(np.arange(N_TAGS) == tags[:, None], 0.0, -np.inf).reshape(-1)
    known = np.where(agrees, 0.0, -np.inf), nothing
    *_, clamped = infer_tags_and_tree(graph, known, iterations=2)
    np.testing.assert_allclose(clamped[0], observed[0], atol=1e-12)
    for found, expected in zip(clamped[1], observed[1], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert observed[1][TRIGRAM].sum() == 4


SENTENCE = make_sentence("she saw the old man", "PRON VERB DET ADJ NOUN", [2, 0, 5, 5, 2])
TAGS = ("ADJ", "NOUN", "VERB")
ATTRIBUTES = ("upos", "lower", "suffix")


def named_features(words, tags):
    """Return the features of an arc whose words have these tags, as a mapping from names to counts."""
    upos = list(SENTENCE.upos)
    for word, tag in zip(words, tags):
        if word:
            upos[word - 1] = TAGS[tag]
    head, dependent = words
    gap = abs(head - dependent)
    distance = next(bin_ for bin_, most in enumerate((1, 2, 3, 4, 9, 999), start=1) if gap <= most)
    place = 2 * distance + (head < dependent)
    return features_of(with_columns(SENTENCE, upos=upos), FAMILY, TAG_LINK_TEMPLATES, words, place)


def test_a_step_moves_scores_as_features_with_names_do():
    """AdaGrad's first step is minus the rate times the sign of a feature's summed gradient."""
    n = len(SENTENCE)
    possible = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    graph = tagging_graph(np.ones((n + 1, n + 1), dtype=bool), possible, PROJECTIVE)
    heads, dependents = graph.heads[graph.pair_arcs], graph.dependents[graph.pair_arcs]
    candidates = graph.candidate_words, tag_hashes(TAGS)[graph.candidate_tags]
    features = tag_link_features(
        encode(SENTENCE, ATTRIBUTES),
        ATTRIBUTES,
        candidates,
        graph.pair_candidates,
        arc_places(heads, dependents),
        buckets=1 << 20,
    )
    slopes = np.random.default_rng(3).normal(size=len(heads))
    descent = AdaGrad(np.zeros(1 << 20, np.float32), rate=0.5)
    descent.gather(gather_factors, features, slopes)
    descent.step()
    named = [
        named_features((int(head), int(dependent)), graph.candidate_tags[pair].tolist())
        for head, dependent, pair in zip(heads, dependents, graph.pair_candidates)
    ]
    sums = {}
    for counts, slope in zip(named, slopes):
        for feature, count in counts.items():
            sums[feature] = sums.get(feature, 0.0) + slope * count
    expected = [sum(-0.5 * np.sign(sums[f]) * c for f, c in counts.items()) for counts in named]
    assert np.mean(np.abs(score_factors(features, descent.weights) - expected) > 1e-3) < 0.02


def test_every_template_asks_for_a_tag():
    for template in (*TAG_LINK_TEMPLATES.plain, *TAG_LINK_TEMPLATES.placed):
        assert any(atom.endswith(".upos") for atom in template)


def test_a_trigram_has_weights_of_its_own_of_its_bigram_and_of_its_tag():
    rows = trigram_rows(2).reshape(3, 3, 3, 3)
    assert len(np.unique(rows[..., 0])) == 27
    assert (rows[..., 1] == 27 + np.arange(9).reshape(3, 3)).all()
    assert (rows[..., 2] == 36 + np.arange(3)).all()


def test_the_place_of_an_arc_is_its_direction_and_its_binned_distance():
    heads, dependents = np.array([0, 2, 1, 12, 1]), np.array([1, 1, 6, 1, 11])
    assert arc_places(heads, dependents).tolist() == [3, 2, 11, 12, 13]
