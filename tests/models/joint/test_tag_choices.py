"""TAG variables of a pair's graph against the sum over all trees, links and tags; arcs under other tags."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace

import numpy as np
import pytest

from qsproj.bp.run import BPOptions, Status, bethe_log_z, run
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.joint.joint_graph import (
    JointScores,
    PreparedPair,
    interpolated,
    joint_graph,
    pass_messages,
)
from qsproj.models.joint.joint_options import JointTrainingOptions, Propagation
from qsproj.models.joint.joint_structure import (
    NO_VARIABLE,
    TagVariables,
    free_side,
    joint_structure,
    known_states,
)
from qsproj.models.joint.joint_training import JointExample, JointTrainer
from qsproj.models.joint.tag_choices import (
    CERTAIN,
    PreparedTags,
    TagChoices,
    TaggedArcs,
    TagScores,
    tagged_arcs,
)
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles.factor_graphs import log_sum
from tests.oracles.finite_differences import gradient as numerical_gradient
from tests.oracles.joint_pairs import PairEnumeration
from tests.oracles.joint_tags import TagEnumeration
from tests.oracles.trees import all_trees

TREES = TreeDecoder(projective=False, single_root=False)
PRECISE = Propagation(max_iterations=500, tolerance=1e-10)
EVERY_TREE = all_trees(2, projective=False, single_root=False)
MOST = 3
ALL_ARCS = [(0, 1), (0, 2), (1, 2), (2, 1)]


class Tagged:
    """Two words a side with all arcs; uncertain words with three tags or two, and random scores.

    Parameters
    ----------
    tags : dict of int to int
        How many tags an uncertain target word has.
    arcs : list of (int, int)
        Target arcs that depend on tags.
    """

    def __init__(self, rng, *, tags, arcs, links, families=(), scale=0.5):
        kept = ~np.eye(3, dtype=bool)
        kept[:, 0] = False
        source = free_side(np.full(kept.shape, 0.9), kept, 1, TREES)
        target = free_side(np.full(kept.shape, 0.9), kept, int(source.arcs.max()) + 1, TREES)
        pairs = np.array(links, dtype=np.int32)
        structure = joint_structure(source, target, pairs, int(target.arcs.max()) + 1, families=families)
        words = sorted(tags)
        places = {word: place for place, word in enumerate(words)}
        heads, dependents = np.array(arcs, dtype=np.int32).reshape(-1, 2).T
        of_links = [k for k, (_, word) in enumerate(links) if word in places]
        first = structure.n_variables
        self.words, self.arcs, self.links = words, arcs, [links[k] for k in of_links]
        self.structure = replace(
            structure,
            tags=TagVariables(
                variables=np.arange(first, first + len(words), dtype=np.int32),
                possible=np.arange(MOST) < np.array([[tags[word]] for word in words]),
                arcs=target.arcs[heads, dependents],
                heads=np.array([places.get(h, CERTAIN) for h in heads.tolist()], dtype=np.int32),
                dependents=np.array([places.get(d, CERTAIN) for d in dependents.tolist()], dtype=np.int32),
                links=structure.link_variables[np.array(of_links, dtype=np.int32)],
                linked=np.array([places[links[k][1]] for k in of_links], dtype=np.int32),
            ),
        )
        self.scores = JointScores(
            source=scale * rng.normal(size=kept.shape),
            target=scale * rng.normal(size=kept.shape),
            links=scale * rng.normal(size=len(links)),
            fertility=scale * rng.normal(size=(4, 4)),
            factors=scale * rng.normal(size=len(structure.rows)),
            tags=TagScores(
                scale * rng.normal(size=(len(words), MOST)),
                scale * rng.normal(size=(len(arcs), MOST, MOST)),
                scale * rng.normal(size=(len(of_links), MOST)),
            ),
        )

    def truth(self, scores=None):
        scores = scores or self.scores
        rows = zip(self.structure.families, self.structure.words.tolist(), scores.factors, strict=True)
        pairs = PairEnumeration(
            EVERY_TREE,
            EVERY_TREE,
            (scores.source.tolist(), scores.target.tolist()),
            dict(zip(map(tuple, self.structure.links.tolist()), scores.links.tolist())),
            scores.fertility.tolist(),
            [(FAMILIES[family], words, score) for family, words, score in rows],
        )
        possible = np.where(self.structure.tags.possible, scores.tags.words, -np.inf)
        return TagEnumeration(
            pairs,
            dict(zip(self.words, possible.tolist())),
            dict(zip(self.arcs, scores.tags.arcs.tolist())),
            dict(zip(self.links, scores.tags.links.tolist())),
        )

    def graph(self, **observed):
        known = known_states(self.structure, **observed)
        return joint_graph(self.structure, known)

    def infer(self, **observed):
        return pass_messages(self.graph(**observed), self.scores, PRECISE)


def errors(beliefs, truth, pair, given=lambda *_: True):
    """Return how far every belief of target arcs, links, tags and factors of tags is from the truth."""
    found = []
    for h, d in ALL_ARCS:
        found.append(beliefs.target[h, d] - truth.probability(lambda s, t, *_, h=h, d=d: t[d] == h, given))
    for k, link in enumerate(map(tuple, pair.structure.links.tolist())):
        found.append(beliefs.links[k] - truth.probability(lambda s, t, x, *_, link=link: link in x, given))
    for u, word in enumerate(pair.words):
        for tag in range(MOST):
            found.append(
                beliefs.tags.words[u, tag]
                - truth.probability(lambda *values, w=word, tag=tag: values[4][w] == tag, given)
            )
    for f, (h, d) in enumerate(pair.arcs):
        for r, s in itertools.product(range(MOST), repeat=2):
            found.append(
                beliefs.tags.arcs[f, r, s]
                - truth.probability(
                    lambda a, t, b, c, tags, h=h, d=d, r=r, s=s: (
                        t[d] == h and (tags.get(h, 0), tags.get(d, 0)) == (r, s)
                    ),
                    given,
                )
            )
    for k, link in enumerate(pair.links):
        for tag in range(MOST):
            found.append(
                beliefs.tags.links[k, tag]
                - truth.probability(
                    lambda a, t, x, c, tags, link=link, tag=tag: link in x and tags[link[1]] == tag, given
                )
            )
    return np.array(found)


@pytest.mark.parametrize(
    ("tags", "arc"), [({2: 3}, (1, 2)), ({2: 2}, (2, 1)), ({1: 3, 2: 2}, (1, 2)), ({2: 3}, (0, 2))], ids=str
)
def test_beliefs_and_log_z_are_exact_without_loops(tags, arc):
    """One arc depends on tags, and one link: tree, arc, tag, link are a chain."""
    pair = Tagged(np.random.default_rng(5), tags=tags, arcs=[arc], links=[(1, 2)], scale=1.5)
    truth, beliefs = pair.truth(), pair.infer()
    assert beliefs.status is Status.CONVERGED
    assert np.abs(errors(beliefs, truth, pair)).max() < 1e-9
    passed = run(pair.graph().with_scores(pair.scores), BPOptions(schedule="sequential", **asdict(PRECISE)))
    # Variable 0, which stands for what is observed, has no factor: both of its states count.
    assert bethe_log_z(passed) == pytest.approx(truth.log_z + np.log(2.0), abs=1e-9)


@pytest.mark.parametrize(("scale", "bound"), [(0.5, 0.015), (1.0, 0.05)])
def test_beliefs_are_near_the_truth_with_all_arcs_and_links(scale, bound):
    rng, found = np.random.default_rng(6), []
    for _ in range(4):
        pair = Tagged(
            rng,
            tags={1: 3, 2: 2},
            arcs=ALL_ARCS,
            links=[(1, 1), (2, 2), (2, 1)],
            families=("MONO", "SWAP"),
            scale=scale,
        )
        beliefs = pair.infer()
        assert beliefs.status is Status.CONVERGED
        found.append(errors(beliefs, pair.truth(), pair))
    assert np.abs(np.concatenate(found)).mean() < bound


@pytest.mark.parametrize("clamped", [("heads", "tags"), ("heads",), ("tags",)], ids=str)
def test_clamped_beliefs_are_those_given_what_is_known(clamped):
    """Exact: with the tree or the tags known, what is left of one word's factors is a chain."""
    pair = Tagged(
        np.random.default_rng(7), tags={1: 2, 2: 3}, arcs=[(0, 1), (1, 2)], links=[(1, 1), (2, 2)], scale=1.5
    )
    truth = pair.truth()
    for heads, first, second in itertools.product(EVERY_TREE, range(2), range(3)):
        observed = {
            "target_heads": np.array(heads, dtype=np.int32) if "heads" in clamped else None,
            "target_tags": np.array([first, second], dtype=np.int8) if "tags" in clamped else None,
        }
        beliefs = pair.infer(**observed)

        def given(source, target, links, fired, tags, heads=heads, own=(first, second)):
            right_tree = "heads" not in clamped or tuple(target) == tuple(heads)
            return right_tree and ("tags" not in clamped or tags == dict(zip(pair.words, own)))

        assert np.abs(errors(beliefs, truth, pair, given)).max() < 1e-8


def test_beliefs_of_two_graphs_are_mixed():
    pair = Tagged(np.random.default_rng(8), tags={2: 3}, arcs=[(1, 2)], links=[(1, 2)])
    free, clamped = pair.infer(), pair.infer(target_tags=np.array([1], dtype=np.int8))
    half = interpolated(free, clamped, 0.25)
    for name in ("words", "arcs", "links"):
        parts = getattr(free.tags, name), getattr(clamped.tags, name)
        np.testing.assert_allclose(getattr(half.tags, name), 0.75 * parts[0] + 0.25 * parts[1])


def featureless(count):
    return np.zeros((count, 0), dtype=np.int32)


def prepared(pair, rng):
    """Return a pair whose scores of tags are made of values, scales, and features of links with tags."""
    structure, scores = pair.structure, pair.scores
    tags = PreparedTags(
        tagger=rng.normal(size=scores.tags.words.shape),
        trees=rng.normal(size=scores.tags.words.shape),
        arcs=scores.tags.arcs,
        links=scores.tags.links,
        buckets=np.arange(5, 5 + scores.tags.links.size, dtype=np.int32)[:, None],
    )
    return PreparedPair(
        structure=structure,
        source=scores.source,
        target=scores.target,
        prior=scores.links,
        buckets={
            "links": featureless(len(structure.links)),
            "fertility": featureless(16),
            "factors": featureless(len(structure.rows)),
            "jumps": featureless(0),
        },
        tags=tags,
    )


def test_training_follows_the_gradient_of_the_likelihood_of_tree_and_tags():
    """Beliefs, free minus clamped, against finite differences of the sum over everything."""
    rng = np.random.default_rng(9)
    pair = Tagged(rng, tags={1: 3, 2: 2}, arcs=[(1, 2)], links=[(1, 2)], scale=1.0)
    given = prepared(pair, rng)
    heads, true = (-1, 0, 1), np.array([2, 1], dtype=np.int8)
    options = JointTrainingOptions(l2=0.0, propagation=PRECISE)
    trainer = JointTrainer(options)
    weights = trainer.weights
    weights.weights[5:8] = rng.normal(size=3)
    before = weights.weights.copy()

    def loss(point):
        weights.weights[5:8] = point[4:]
        scores = replace(weights, tag_scales=tuple(point[:4])).scores(given)
        weights.weights[:] = before
        truth = pair.truth(scores)
        state = dict(zip(pair.words, true.tolist()))
        seen = truth.log_total(lambda s, t, x, f, tags: tuple(t) == heads and tags == state)
        return truth.log_z - seen

    point = np.array([*weights.tag_scales, *before[5:8]])
    slopes = numerical_gradient(loss, point)
    pair.scores = weights.scores(given)
    free = pair.infer()
    clamped = pair.infer(target_heads=np.array(heads, dtype=np.int32), target_tags=true)
    found = TagScores(*map(np.subtract, free.tags, clamped.tags))
    np.testing.assert_allclose(given.tags.slopes(found), slopes[:4], atol=1e-7)
    np.testing.assert_allclose(found.links.reshape(-1), slopes[4:], atol=1e-7)
    # A step goes down the gradient: AdaGrad's first is the rate, whatever the size of the slope.
    trainer.step(JointExample(given, np.array(heads, dtype=np.int32), target_tags=true))
    np.testing.assert_allclose(trainer.weights.tag_scales, 1.0 - 0.1 * np.sign(slopes[:4]), atol=1e-3)
    moved = trainer.weights.weights[5:8] - before[5:8]
    np.testing.assert_allclose(moved, -options.rate * np.sign(slopes[4:]), atol=1e-3)


def test_no_variable_is_both_an_arc_and_a_tag():
    pair = Tagged(np.random.default_rng(1), tags={2: 3}, arcs=[(1, 2)], links=[(1, 2)])
    target = pair.structure.target.arcs
    assert not set(target[target != NO_VARIABLE].tolist()) & set(pair.structure.tags.variables.tolist())
    assert pair.structure.states.tolist()[-2:] == [3, 1]


WORDS = ("Vi", "såg", "en", "katt", "som", "sov")
UPOS = ("PRON", "VERB", "DET", "NOUN", "PRON", "VERB")
TAGS = {2: ("VERB", "AUX"), 3: ("DET", "NUM", "ADV"), 6: ("VERB", "NOUN")}


def choices_of(tags):
    most = max(map(len, tags.values()))
    scores = [[-0.5 * k if k < len(names) else -np.inf for k in range(most)] for names in tags.values()]
    return TagChoices(np.array(list(tags), dtype=np.int32), tuple(tags.values()), np.array(scores))


@pytest.mark.parametrize("template_set", ["words", "morphology"])
def test_arcs_score_as_in_the_retagged_sentence(template_set):
    """All arcs and pairs of tags, neighbours among them, whose tags are features of each other's arcs."""
    rng = np.random.default_rng(2)
    blank = ArcScorer.untrained(template_set, hash_bits=16)
    scorer = ArcScorer(template_set, rng.normal(size=len(blank.weights)).astype(np.float32))
    sentence = Sentence.from_words(WORDS, upos=UPOS)
    kept = ~np.eye(7, dtype=bool)
    kept[:, 0] = kept[5, 2] = False
    found = tagged_arcs(scorer, sentence, choices_of(TAGS), kept)

    def scores(retagged):
        upos = [retagged.get(word, tag) for word, tag in enumerate(UPOS, start=1)]
        return scorer.scores(scorer.features(scorer.encode(with_columns(sentence, upos=upos))))

    plain = scores({})
    ends = list(zip(found.heads.tolist(), found.dependents.tolist()))
    assert set(ends) == {(h, d) for h, d in np.argwhere(kept).tolist() if h in TAGS or d in TAGS}
    for (h, d), own in zip(ends, found.scores, strict=True):
        for r, s in itertools.product(range(3), repeat=2):
            names = TAGS.get(h, ("",)), TAGS.get(d, ("",))
            if r >= len(names[0]) or s >= len(names[1]):
                assert own[r, s] == 0.0
                continue
            changed = {word: tags[k] for word, tags, k in zip((h, d), names, (r, s)) if k}
            assert own[r, s] == pytest.approx(scores(changed)[h, d] - plain[h, d], abs=1e-4)


def test_the_sum_over_trees_grows_by_what_is_said():
    """Exact where the arcs that change exclude each other, the heads of a word, or are one arc from it."""
    rng, n = np.random.default_rng(3), 3
    scores, changes = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    trees = all_trees(n, projective=False, single_root=False)
    choices = choices_of({2: ("NOUN", "VERB")})
    for arcs in ([(0, 2), (1, 2), (3, 2)], [(2, 1)]):

        def log_z(changed, arcs=arcs):
            table = scores + np.array(
                [[changed * changes[h, d] * ((h, d) in arcs) for d in range(4)] for h in range(4)]
            )
            return log_sum([sum(table[tree[d], d] for d in range(1, n + 1)) for tree in trees])

        weights = np.exp([sum(scores[tree[d], d] for d in range(1, n + 1)) for tree in trees])
        marginals = np.zeros((4, 4))
        for tree, weight in zip(trees, weights / weights.sum()):
            for d in range(1, n + 1):
                marginals[tree[d], d] += weight
        heads, dependents = np.array(arcs, dtype=np.int32).T
        tables = np.zeros((len(arcs), 2, 2))
        for table, (h, d) in zip(tables, arcs):
            table[(1, 0) if h == 2 else (0, 1)] = changes[h, d]
        grown = TaggedArcs(heads, dependents, tables).growth(choices, marginals)
        np.testing.assert_allclose(grown, [[0.0, log_z(1.0) - log_z(0.0)]], atol=1e-9)


def test_an_uncertain_word_at_the_other_end_counts_by_its_tags():
    """The change of an arc is the mean over the tags of its other word, by what the tagger says of them."""
    choices = choices_of({1: ("NOUN", "VERB"), 2: ("ADJ", "ADV")})
    tables = np.array([[[0.0, 0.7], [-0.4, 1.1]]])
    chances = np.zeros((3, 3))
    chances[1, 2] = 0.3
    arcs = TaggedArcs(np.array([1], dtype=np.int32), np.array([2], dtype=np.int32), tables)
    tags = np.exp([0.0, -0.5]) / np.exp([0.0, -0.5]).sum()

    def log_of(means):
        return np.log(1.0 + 0.3 * (means - 1.0))

    by_head, by_dependent = log_of(np.exp(tables[0]) @ tags), log_of(tags @ np.exp(tables[0]))
    expected = [[0.0, by_head[1] - by_head[0]], [0.0, by_dependent[1] - by_dependent[0]]]
    np.testing.assert_allclose(arcs.growth(choices, chances), expected, atol=1e-9)
