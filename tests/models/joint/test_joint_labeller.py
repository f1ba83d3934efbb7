"""Relations of the target with those of the source as evidence, against enumeration and the formula."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns, with_heads
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence
from qsproj.features.joint_templates import FAMILIES
from qsproj.kernels.features.sense_mixture import step_mixture
from qsproj.models.arc.arc_training import cross_fitted_relations, train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_labeller import (
    ARC_FAMILIES,
    CONFIGURATIONS,
    JointLabeller,
    Senses,
    expected_senses,
    known_relations,
)
from qsproj.models.joint.joint_options import BiparseOptions
from qsproj.models.joint.joint_structure import known_states
from qsproj.models.joint.joint_trees import relation_chances
from qsproj.models.storage import load_model
from qsproj.pipelines.bilingual.biparse import parse_pairs, train_joint_parser
from qsproj.progress import notices
from qsproj.training.choices import SenseWeights
from tests.models.joint.test_joint_structure import all_trees, draw_scores, enumeration, infer, structure_of
from tests.oracles.finite_differences import gradient

OPTIONS = TrainingOptions(epochs=2)


def senses_of(found):
    """Return the chance of each (word, configuration, source word)."""
    names = [CONFIGURATIONS[number] for number in found.configurations]
    chances: dict[tuple[int, str, int], float] = {}
    for key, chance in zip(zip(found.words.tolist(), names, found.sources.tolist()), found.chances.tolist()):
        chances[key] = chances.get(key, 0.0) + chance
    return chances


def enumerated_senses(structure, truth, target_heads):
    """Return the same by the definition, summed over source trees and alignments."""
    expected: dict[tuple[int, str, int], float] = {}
    links = [tuple(link) for link in structure.links.tolist()]
    left = {link: truth.probability(lambda s, t, on, f, link=link: link in on) for link in links}
    for f, (family, words) in enumerate(zip(structure.families.tolist(), structure.words.tolist())):
        head, word, source_head, source = words
        name = FAMILIES[family]
        of_relation = source_head if name == "SWAP" else source
        if name not in ARC_FAMILIES or target_heads[word] != head or of_relation == 0:
            continue
        chance = truth.probability(lambda s, t, on, fired, f=f: fired[f])
        key = word, name, of_relation
        expected[key] = expected.get(key, 0.0) + chance
        left[source, word] -= chance
    for (source, word), chance in left.items():
        expected[word, "LINKED", source] = max(chance, 0.0)
    said = {word: sum(p for key, p in expected.items() if key[0] == word) for word, _, _ in expected}
    return {key: chance / max(said[key[0]], 1.0) for key, chance in expected.items() if chance >= 1e-3}


@pytest.mark.parametrize(
    ("families", "scale", "bound"), [(FAMILIES[:4], 0.02, 0.001), ((*FAMILIES[:4], "SSIB"), 0.5, 0.02)]
)
def test_senses_are_those_of_all_source_trees_and_alignments(families, scale, bound):
    """Loops mislead beliefs, the less the weaker factors are; not all ways to be linked are families here."""
    rng = np.random.default_rng(3)
    structure = structure_of(2, 2, [(1, 1), (2, 2)], families=families)
    scores = draw_scores(structure, rng, scale)
    errors = []
    for target_heads in all_trees(2):
        truth = enumeration(structure, scores, all_trees(2), [target_heads])
        beliefs = infer(structure, scores, known_states(structure, target_heads))
        found = senses_of(expected_senses(structure, beliefs, target_heads))
        exact = enumerated_senses(structure, truth, target_heads)
        assert {name for _, name, _ in exact} >= {"MONO", "LINKED"}
        errors += [found.get(key, 0.0) - exact.get(key, 0.0) for key in found.keys() | exact.keys()]
    assert np.abs(errors).mean() < bound


def test_senses_of_known_trees_and_links_are_certain():
    """Three words a side, each linked to its own: the configuration is that of the trees."""
    links = [(1, 1), (2, 2), (3, 3)]
    for source_heads, target_heads in itertools.product(all_trees(3)[::3], all_trees(3)[::5]):
        structure = structure_of(3, 3, links, source_heads=source_heads)
        sure = replace(draw_scores(structure, np.random.default_rng(1), 0.0), links=np.full(3, 60.0))
        beliefs = infer(structure, sure, known_states(structure, target_heads))
        for (word, name, source), chance in senses_of(
            expected_senses(structure, beliefs, target_heads)
        ).items():
            head = target_heads[word]
            assert chance == pytest.approx(1.0, abs=1e-6)
            if name == "MONO":
                assert source_heads[word] == head
            if name == "SWAP":
                assert source_heads[head] == word
                assert source == head
            else:
                assert source == word


def test_a_word_with_two_links_has_one_sense_in_all():
    target_heads = np.array([-1, 0, 1], dtype=np.int32)
    structure = structure_of(2, 2, [(1, 1), (2, 1)], source_heads=np.array([-1, 0, 1], dtype=np.int32))
    sure = replace(draw_scores(structure, np.random.default_rng(1), 0.0), links=np.full(2, 60.0))
    beliefs = infer(structure, sure, known_states(structure, target_heads))
    found = senses_of(expected_senses(structure, beliefs, target_heads))
    assert pytest.approx(found) == {(1, "MONO", 1): 0.5, (1, "SGRAND", 2): 0.5}


@pytest.fixture
def labeller():
    """A labeller of two source relations and three of the target, with weights drawn at random."""
    start = JointLabeller.untrained(("nsubj", "obj"), ("nsubj", "obj", "obl"))
    weights = np.random.default_rng(5).normal(size=start.table.weights.shape).astype(np.float32)
    return replace(start, table=SenseWeights(weights, 0.7))


SENTENCE = Sentence.from_words(("a", "b"), upos=("NOUN", "VERB"))
FOUND = Senses(
    np.array([1, 1, 2], dtype=np.int32),
    np.array([0, len(CONFIGURATIONS) - 1, 1], dtype=np.int8),
    np.array([2, 1, 1], dtype=np.int32),
    np.array([0.5, 0.3, 1.0]),
)
SOURCE = np.array([[0.0, 0.0], [0.2, 0.8], [0.9, 0.1]])


def test_evidence_sums_over_senses_and_source_relations(labeller):
    senses = labeller.senses(SENTENCE, FOUND, SOURCE)
    found = labeller.table.evidence(senses, 3)
    n_source, n_tags = 2, 18
    for word, tag in ((1, 7), (2, 15)):
        for relation in range(3):
            total = 0.2 if word == 1 else 1e-4
            for of_word, configuration, source, chance in zip(
                FOUND.words, FOUND.configurations.tolist(), FOUND.sources, FOUND.chances
            ):
                if of_word != word:
                    continue
                for r in range(n_source):
                    related = configuration * n_source + r
                    rows = (
                        configuration,
                        len(CONFIGURATIONS) + related,
                        len(CONFIGURATIONS) * (1 + n_source) + related * n_tags + tag,
                    )
                    score = sum(float(labeller.table.weights[row, relation]) for row in rows)
                    total += chance * SOURCE[source, r] * math.exp(score)
            assert found[word, relation] == pytest.approx(math.log(total) / 0.7, abs=1e-6)
    np.testing.assert_array_equal(found[0], 0.0)


def test_a_step_goes_down_the_loss(labeller):
    """Gradients by finite differences; the first step of AdaGrad goes by their signs."""
    senses = labeller.senses(SENTENCE, FOUND, SOURCE)
    base = np.random.default_rng(6).normal(size=(3, 3))
    known = np.array([-1, 2, 0], dtype=np.int32)

    def loss(weights, scale=0.7):
        own = SenseWeights(weights.astype(np.float64))
        scores = scale * base + own.evidence(senses, 3)
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return -np.log(chances[[1, 2], known[1:]]).sum()

    weights, state = labeller.table.weights.astype(np.float64), np.zeros((2, *labeller.table.weights.shape))
    tables = senses.words, senses.chances, senses.rows, base, known
    used = np.unique(senses.rows)

    def of_used(values):
        changed = labeller.table.weights.astype(np.float64)
        changed[used] = values
        return loss(changed)

    slopes = gradient(of_used, labeller.table.weights[used].astype(np.float64))
    before = weights.copy()
    value, by_scale = step_mixture(*tables, 0.7, weights, state, 1e-6, 0.0)
    assert value == pytest.approx(loss(before))
    assert by_scale == pytest.approx((loss(before, 0.7001) - loss(before, 0.6999)) / 0.0002, rel=1e-4)
    steep = np.abs(slopes) > 5e-3
    assert np.count_nonzero(steep) > 20
    np.testing.assert_array_equal(np.sign(weights - before)[used][steep], -np.sign(slopes[steep]))
    once = np.array([np.count_nonzero(senses.rows == row) == 1 for row in used])
    np.testing.assert_allclose(state[0][used][once][steep[once]], slopes[once][steep[once]] ** 2, rtol=1e-4)


def test_relations_are_known_by_name_where_heads_are():
    tree = with_heads(SENTENCE, [-1, 2, 0], ("nsubj", "root"))
    relations = ("nsubj", "obj", "root")
    assert known_relations(relations, tree, tree.heads).tolist() == [-1, 0, -1]
    assert known_relations(relations, tree, np.array([-1, 0, 1])).tolist() == [-1, -1, -1]
    assert known_relations(("obj",), tree, tree.heads).tolist() == [-1, -1, -1]


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def source_parser(pairs):
    sentences = [pair.source for pair in pairs]
    return train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS)[0]


@pytest.fixture(scope="module")
def trained(pairs, source_parser):
    options = BiparseOptions(target_training=OPTIONS)
    return train_joint_parser(pairs[:12], source_parser, rng=np.random.default_rng(1), options=options)[0]


def right_relations(parser, pairs):
    parsed = parse_pairs(parser, pairs)
    return sum(
        one == other
        for found, pair in zip(parsed, pairs, strict=True)
        for one, other in zip(found.target.deprels, pair.target.deprels, strict=True)
    )


def test_relations_of_the_source_help(pairs, trained):
    """Twelve trees teach few relations; heads do not change."""
    after = replace(trained, labeller=None)
    test = pairs[30:60]
    assert right_relations(trained, test) > right_relations(after, test)
    one, other = (next(parse_pairs(parser, test)).target.heads for parser in (trained, after))
    assert one.tolist() == other.tolist()


def test_the_labeller_is_stored_and_dropped_for_other_languages(pairs, trained, tmp_path):
    trained.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.labeller.relations == trained.labeller.relations == trained.target.labeller.relations
    for one, other in zip(parse_pairs(trained, pairs[30:34]), parse_pairs(again, pairs[30:34])):
        assert one.target.deprels == other.target.deprels
    assert trained.of_parsers(trained.source, trained.target).labeller is None


def test_given_relations_of_an_observed_source_are_believed(pairs, source_parser):
    sentence = pairs[0].source
    names = (*source_parser.labeller.relations, "never")
    given = ("never", "unheard of", *sentence.deprels[2:-1], "_")
    chances = relation_chances(source_parser, sentence, sentence.heads, names=names, given=given)
    labelled = relation_chances(source_parser, sentence, sentence.heads, names=names, given=None)
    assert chances[1, names.index("never")] == 1.0
    assert chances[2].sum() == 0.0
    assert chances[3, names.index(sentence.deprels[2])] == 1.0
    np.testing.assert_array_equal(chances[-1], labelled[-1])
    np.testing.assert_allclose(labelled[1:].sum(axis=1), 1.0)


def test_columns_that_the_source_parser_ignores_are_not_read(pairs):
    sentences = [pair.source for pair in pairs[:20]]
    options = TrainingOptions(epochs=2, template_set="morphology")
    parser, _ = train_arc_parser(sentences, rng=np.random.default_rng(1), options=options)
    assert "xpos" in parser.scorer.ignored
    for sentence in sentences:
        filled = with_columns(sentence, xpos=sentence.forms)
        found, wanted = (
            relation_chances(parser, one, one.heads, names=parser.labeller.relations, given=None)
            for one in (filled, sentence)
        )
        np.testing.assert_array_equal(found, wanted)


def test_a_labeller_of_the_other_trees_has_the_same_columns(pairs):
    """The relation of one tree alone is one that no other labeller knows: it gets the least score."""
    odd = with_heads(pairs[0].target, pairs[0].target.heads, ("odd", *pairs[0].target.deprels[1:]))
    sentences = [odd, *(pair.target for pair in pairs[1:6])]
    parser, _ = train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS)
    scores = cross_fitted_relations(sentences, parser.labeller, rng=np.random.default_rng(1), folds=2)
    column = parser.labeller.relations.index("odd")
    assert [own.shape for own in scores] == [(len(s) + 1, len(parser.labeller.relations)) for s in sentences]
    np.testing.assert_array_equal(scores[0][:, column], scores[0].min())
    assert (scores[0].max(axis=1)[1:] > scores[0].min()).all()


def test_other_trees_without_relations_are_not_told(pairs):
    """A fold without relations says nothing of the parser, which has some."""
    first, *others = (pair.target for pair in pairs[:4])
    sentences = [first, *(with_heads(one, one.heads, ("_",) * len(one)) for one in others)]
    parser, _ = train_arc_parser(sentences, rng=np.random.default_rng(1), options=OPTIONS)
    told = []
    with notices(told.append):
        scores = cross_fitted_relations(sentences, parser.labeller, rng=np.random.default_rng(1), folds=2)
    np.testing.assert_array_equal(scores[0], 0.0)
    assert told == []
