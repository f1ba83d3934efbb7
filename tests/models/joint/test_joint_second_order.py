"""Second-order factors in the graph of a pair: against all trees and links, and against parsers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.bp.run import Status
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import UsageError
from qsproj.features.joint_templates import FAMILIES
from qsproj.features.second_order import LARGEST_COUNT
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import arc_log_odds, propagate, sentence_graph
from qsproj.models.graph.graph_parser import GraphParser, train_graph_parser
from qsproj.models.joint.joint_graph import (
    JointScores,
    JointWeights,
    infer_jointly,
    joint_graph,
    pass_messages,
)
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions, Propagation
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_structure import (
    NO_VARIABLE,
    free_side,
    joint_structure,
    known_states,
    observed_side,
)
from qsproj.models.joint.joint_training import JointExample
from qsproj.models.joint.joint_trees import monolingual_heads, tree_scores
from qsproj.models.joint.tag_choices import TagChoices
from qsproj.models.storage import load_model
from qsproj.models.tree_decoder import TreeDecoder
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from tests.oracles.joint_pairs import PairEnumeration, second_order_parts
from tests.oracles.trees import all_trees

TREES = TreeDecoder(projective=False, single_root=False)
PRECISE = Propagation(max_iterations=500, tolerance=1e-9, damping=0.3)
SECOND_ORDER = ("grand", "childseq", "valence")
WORDS = 3
EVERY_TREE = all_trees(WORDS, projective=False, single_root=False)


def names_of(family):
    """Return what the oracle calls each factor of a family."""
    words = (family.members - 1).tolist()
    if family.name == "grand":
        return [("grand", *row) for row in words]
    places = [int(place) for place in family.places]
    if family.name == "childseq":
        return [("childseq", head, place & 1, *pair) for (head, *pair), place in zip(words, places)]
    return [("valence", row[0], (place - 1) & 1, (place - 1) // 2) for row, place in zip(words, places)]


class Pair:
    """Three words a side with all arcs, one link of each, MONO, and random scores of some families.

    ``joining`` are families of quasi-synchronous factors that stand beside MONO, or in its place.
    """

    def __init__(self, rng, *, source=SECOND_ORDER, target=SECOND_ORDER, scale=0.3, joining=("MONO",)):
        kept = ~np.eye(WORDS + 1, dtype=bool)
        kept[:, 0] = False
        layouts = [sentence_graph(kept, TREES, families=names) for names in (source, target)]
        self.second_order, factors = [], []
        for layout in layouts:
            drawn = [scale * rng.normal(size=len(family.scored)) for family in layout.families]
            named = [dict(zip(names_of(f), own.tolist())) for f, own in zip(layout.families, drawn)]
            self.second_order.append({part: score for scores in named for part, score in scores.items()})
            factors.append(tuple(drawn))
        self.names = [names_of(family) for family in layouts[1].families]
        likely = np.full(kept.shape, 0.9)
        first = free_side(likely, kept, 1, TREES, families=layouts[0].families)
        second = free_side(likely, kept, int(first.arcs.max()) + 1, TREES, families=layouts[1].families)
        links = np.array([[1, 1], [3, 2]], dtype=np.int32)
        self.structure = joint_structure(first, second, links, int(second.arcs.max()) + 1, families=joining)
        self.scores = JointScores(
            source=scale * rng.normal(size=kept.shape),
            target=scale * rng.normal(size=kept.shape),
            links=rng.normal(size=len(links)),
            fertility=np.zeros((2 * WORDS, 4)),
            factors=np.full(len(self.structure.rows), 1.0),
            source_factors=factors[0],
            target_factors=factors[1],
        )

    def truth(self, source_trees=EVERY_TREE, target_trees=EVERY_TREE):
        scores = self.scores
        return PairEnumeration(
            source_trees,
            target_trees,
            (scores.source.tolist(), scores.target.tolist()),
            {tuple(link): score for link, score in zip(self.structure.links.tolist(), scores.links)},
            scores.fertility.tolist(),
            list(zip(self.families(), self.structure.words.tolist(), scores.factors.tolist(), strict=True)),
            second_order=self.second_order,
            largest=LARGEST_COUNT,
        )

    def families(self):
        """Return the family of each quasi-synchronous factor."""
        return [FAMILIES[number] for number in self.structure.families]

    def infer(self, **observed):
        known = known_states(self.structure, **observed)
        return infer_jointly(self.structure, self.scores, known, propagation=PRECISE)


def errors_of_arcs(beliefs, truth, pair):
    arcs = np.argwhere(pair.structure.target.arcs != NO_VARIABLE).tolist()
    of_target = [
        beliefs.target[h, d] - truth.probability(lambda s, t, links, f, h=h, d=d: t[d] == h) for h, d in arcs
    ]
    of_source = [
        beliefs.source[h, d] - truth.probability(lambda s, t, links, f, h=h, d=d: s[d] == h) for h, d in arcs
    ]
    return np.abs(of_source), np.abs(of_target)


def test_no_messages_pass_over_a_tree_that_is_known():
    """What its factors say is constant then; only the other side's are in the graph."""
    pair = Pair(np.random.default_rng(13))
    heads = np.array([-1, 0, 1, 1], dtype=np.int32)
    for known, missing in (
        ({"target_heads": heads}, "target families"),
        ({"source_heads": heads}, "source families"),
    ):
        states = known_states(pair.structure, **known)
        graph = joint_graph(pair.structure, states)
        parts = {name: graph.graph.groups[where] for name, where in graph.parts.items()}
        assert {name for name in ("source families", "target families") if not parts[name]} == {missing}


@pytest.mark.parametrize("families", [("grand",), ("childseq",), ("valence",), SECOND_ORDER])
def test_free_beliefs_are_near_the_sum_over_all_trees_and_links(families):
    """Without these factors, or with those of the other side, they are off by more than twice as much."""
    rng = np.random.default_rng(11)
    pair = Pair(rng, source=families, target=families)
    truth, beliefs = pair.truth(), pair.infer()
    assert beliefs.status is Status.CONVERGED
    of_source, of_target = errors_of_arcs(beliefs, truth, pair)
    error = max(of_source.mean(), of_target.mean())
    assert error < 0.025
    swapped = replace(
        pair.scores, source_factors=pair.scores.target_factors, target_factors=pair.scores.source_factors
    )
    pair.scores = swapped
    assert errors_of_arcs(pair.infer(), truth, pair)[1].mean() > 2 * error
    none = tuple(np.zeros_like(values) for values in swapped.target_factors)
    pair.scores = replace(swapped, source_factors=none, target_factors=none)
    assert errors_of_arcs(pair.infer(), truth, pair)[1].mean() > 2 * error


def test_free_beliefs_of_the_factors_are_near_the_truth():
    """Nearly: a factor does not know that arcs of one tree go together for other reasons, too."""
    pair = Pair(np.random.default_rng(12), scale=0.1)
    truth, beliefs = pair.truth(), pair.infer()
    for names, found in zip(pair.names, beliefs.target_factors, strict=True):
        exact = [
            truth.probability(lambda s, t, links, f, name=name: name in second_order_parts(t, LARGEST_COUNT))
            for name in names
        ]
        assert np.abs(found - exact).mean() < 0.05
        assert np.corrcoef(found, exact)[0, 1] > 0.9


def test_clamped_beliefs_are_those_given_the_target_tree():
    """The source's own factors go on; those of the target are decided, each as the tree has it."""
    pair = Pair(np.random.default_rng(13), scale=0.1)
    for tree in EVERY_TREE[::5]:
        heads = np.array(tree, dtype=np.int32)
        truth, beliefs = pair.truth(target_trees=[list(tree)]), pair.infer(target_heads=heads)
        assert errors_of_arcs(beliefs, truth, pair)[0].mean() < 0.02
        counted = set(second_order_parts(list(tree), LARGEST_COUNT))
        for names, found in zip(pair.names, beliefs.target_factors, strict=True):
            np.testing.assert_array_equal(found, [name in counted for name in names])


def test_a_source_tree_that_is_given_has_no_factors():
    """What its parser thinks of it is of no consequence."""
    pair = Pair(np.random.default_rng(14))
    tree = EVERY_TREE[5]
    given = observed_side(np.array(tree, dtype=np.int32))
    first = int(given.arcs.max()) + 1
    kept = pair.structure.target.arcs != NO_VARIABLE
    families = sentence_graph(kept, TREES, families=SECOND_ORDER).families
    target = free_side(np.full(kept.shape, 0.5), kept, first, TREES, families=families)
    pair.structure = joint_structure(
        given, target, pair.structure.links, int(target.arcs.max()) + 1, families=("MONO",)
    )
    pair.scores = replace(pair.scores, factors=np.ones(len(pair.structure.rows)), source_factors=())
    truth = pair.truth(source_trees=[list(tree)])
    assert errors_of_arcs(pair.infer(), truth, pair)[1].mean() < 0.02


def test_graphs_of_an_example_give_the_same_beliefs_again():
    pair = Pair(np.random.default_rng(15))
    heads = np.array(EVERY_TREE[4], dtype=np.int32)
    prepared = type("Prepared", (), {"structure": pair.structure})()
    graphs = JointExample(prepared, heads, source_heads=heads).graphs()
    for graph, observed in zip(graphs, ({}, {"target_heads": heads}), strict=False):
        fresh = pair.infer(**observed)
        stored = pass_messages(graph, pair.scores, PRECISE)
        np.testing.assert_array_equal(stored.target, fresh.target)
        np.testing.assert_array_equal(stored.source, fresh.source)
        np.testing.assert_array_equal(stored.links, fresh.links)


OPTIONS = TrainingOptions(epochs=2)


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def source_parser():
    english = list(read_conllu("corpora/en.conllu"))[:15]
    return train_graph_parser(english, rng=np.random.default_rng(1), options=OPTIONS)[0]


@pytest.fixture(scope="module")
def trained(pairs, source_parser):
    options = BiparseOptions(
        order=2, target_training=OPTIONS, training=JointTrainingOptions(epochs=2, source_evidence=0.25)
    )
    return train_joint_parser(pairs[:20], source_parser, rng=np.random.default_rng(1), options=options)


def test_a_pair_that_nothing_joins_is_parsed_as_the_parsers_would(pairs, source_parser):
    """One unlikely link, weights of zero: each side's beliefs are those of its parser, messages settled."""
    pair = replace(pairs[3], alignment=make_alignment(len(pairs[3].source), len(pairs[3].target), [(1, 1)]))
    german = [pair.target for pair in pairs[:10]]
    target, _ = train_graph_parser(german, rng=np.random.default_rng(1), options=OPTIONS)
    options = JointOptions(propagation=PRECISE)
    joint = JointParser(
        source=source_parser, target=target, weights=JointWeights.untrained(), options=options
    )
    beliefs = joint.infer(joint.prepare(pair))
    assert beliefs.status is Status.CONVERGED
    for parser, sentence, found in (
        (source_parser, pair.source, beliefs.source),
        (target, pair.target, beliefs.target),
    ):
        said = tree_scores(parser, sentence)
        graph = sentence_graph(said.kept, parser.inference, families=SECOND_ORDER)
        links = said.links[graph.heads, graph.dependents]
        settled = arc_log_odds(propagate(graph, links, said.factors, iterations=200))
        expected = 1.0 / (1.0 + np.exp(-settled))
        np.testing.assert_allclose(found[graph.heads, graph.dependents], expected, atol=0.01)


def test_a_model_of_the_second_order_learns_and_is_stored(pairs, trained, tmp_path):
    parser, report = trained
    assert isinstance(parser.target, GraphParser)
    assert report.epochs[-1].loss < report.epochs[0].loss
    assert report.statuses[Status.CONVERGED] > 0.9 * report.statuses.total()
    parser.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    pair = pairs[20]
    first, second = (one.parse_pair(pair.source, pair.target, pair.alignment) for one in (parser, again))
    assert first.target.heads.tolist() == second.target.heads.tolist()
    assert first.alignment.weights.tolist() == second.alignment.weights.tolist()
    bare = replace(pair, alignment=make_alignment(len(pair.source), len(pair.target), []))
    alone = parser.parse_pair(bare.source, bare.target, bare.alignment)
    assert alone.alone
    assert alone.target.heads.tolist() == parser.target.parse(pair.target).heads.tolist()
    best = parser.parse_pair(pair.source, pair.target, pair.alignment, source_tree="best")
    assert best.source.heads.tolist() == parser.source.parse(pair.source).heads.tolist()


def test_a_sentence_with_too_many_factors_is_pruned_and_decoded_as_by_the_first_order(pairs, source_parser):
    base = replace(source_parser.base, temperature=4.0)
    limited = replace(source_parser, base=base, options=replace(source_parser.options, max_factors=3))
    for pair in pairs[:3]:
        found, first = (
            tree_scores(parser, pair.source, least_probability=0.05) for parser in (limited, base)
        )
        assert not found.families
        np.testing.assert_array_equal(found.kept, first.kept)
        usual = tree_scores(base, pair.source)
        assert found.kept.sum() < usual.kept.sum()
        assert monolingual_heads(limited, pair.source).tolist() == base.parse(pair.source).heads.tolist()


# A noun that may be a verb; both of its tags are read by the templates of its neighbours.
ONE_CHOICE = TagChoices(np.array([2], dtype=np.int32), (("NOUN", "VERB"),), np.array([[0.0, -0.5]]))


@pytest.mark.parametrize("kind", ["first order", "second order", "beyond the limit"])
@pytest.mark.parametrize("choices", [None, ONE_CHOICE])
def test_a_tree_that_is_required_is_never_pruned_away(pairs, source_parser, kind, choices):
    """Nor are its arcs under other tags: a chain of words from right to left, which no parser thinks of."""
    parser = source_parser.base if kind == "first order" else source_parser
    if kind == "beyond the limit":
        parser = replace(parser, options=replace(parser.options, max_factors=3))
    for pair in pairs[:3]:
        words = np.arange(len(pair.source) + 1)
        chain = np.append(-1, np.append(words[2:], 0)).astype(np.int32)
        usual, required = (
            tree_scores(parser, pair.source, least_probability=0.05, choices=choices, **more)
            for more in ({}, {"required": chain})
        )
        assert required.kept[chain[1:], words[1:]].all()
        assert not usual.kept[chain[1:], words[1:]].all()
        assert (required.kept | ~usual.kept).all()


@pytest.mark.parametrize("limit", [200_000, 3])
def test_arcs_under_other_tags_score_by_the_order_that_scores_the_arcs(pairs, source_parser, limit):
    """As LINK scores the retagged sentence where factors stand beside it, else as the first order does."""
    parser = replace(source_parser, options=replace(source_parser.options, max_factors=limit))
    sentence = with_columns(pairs[0].source, upos=("DET", "NOUN", *pairs[0].source.upos[2:]))
    retagged = with_columns(sentence, upos=("DET", "VERB", *sentence.upos[2:]))
    found = tree_scores(parser, sentence, choices=ONE_CHOICE)
    assert bool(found.families) == (limit > 3)
    grown = tree_scores(parser, retagged).links - found.links
    tagged = found.tagged
    for h, d, own in zip(tagged.heads.tolist(), tagged.dependents.tolist(), tagged.scores, strict=True):
        at = (1, 0) if h == 2 else (0, 1)
        assert own[at] == pytest.approx(grown[h, d], abs=1e-4)
    other = parser.base if found.families else replace(source_parser.base, scorer=source_parser.links)
    of_other = tree_scores(other, retagged).links - tree_scores(other, sentence).links
    assert np.abs(of_other - grown).max() > 0.01


def test_orders_that_are_none_are_refused():
    with pytest.raises(UsageError, match="found order 3, expected 1 or 2"):
        BiparseOptions(order=3)
