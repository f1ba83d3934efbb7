"""The first-order parser on real trees, small enough for every run, and its file."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_training import richest_template_set, train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.parser import BLOCK
from qsproj.models.tree_decoder import TreeDecoder, choose_inference
from tests.sentences import make_sentence


def test_real_trees_are_learned(data_dir):
    folder = data_dir / "treebanks"
    train = list(itertools.islice(read_conllu(folder / "danish-ddt-dev.conllu.gz"), 300))
    test = list(itertools.islice(read_conllu(folder / "danish-ddt-test.conllu.gz"), 200))
    options = TrainingOptions(epochs=5)
    parser, report = train_arc_parser(train, rng=np.random.default_rng(1), options=options)
    (scores,) = attachment_scores(test, [[parser.parse(sentence) for sentence in test]])
    assert scores.uas > 74
    assert scores.las > 68
    losses = [record.loss for record in report.epochs]
    assert losses[-1] < losses[0] / 2


@pytest.fixture(scope="module")
def parser():
    sample = list(read_conllu("corpora/es.conllu"))
    return train_arc_parser(sample, rng=np.random.default_rng(1), options=TrainingOptions(epochs=2))[0]


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_temperature_changes_probabilities_and_no_tree(parser, temperature):
    doubting = replace(parser, temperature=temperature)
    for sentence in itertools.islice(read_conllu("corpora/es.conllu"), 10):
        np.testing.assert_array_equal(doubting.parse(sentence).heads, parser.parse(sentence).heads)
        expected = parser.inference.infer(parser.scores(sentence) / temperature)[1]
        np.testing.assert_allclose(doubting.arc_probabilities(sentence), expected)
        heads = parser.heads(parser.scores(sentence))
        chosen = [expected[head, word] for word, head in enumerate(heads) if word]
        reported = misc_values(doubting.parse(sentence, confidence=True), "ArcProb")
        assert [float(value) for value in reported] == pytest.approx(chosen, abs=1e-4)


def test_blocks_give_what_single_sentences_give(parser):
    sentences = list(read_conllu("corpora/en.conllu"))
    assert len(sentences) > 2 * BLOCK
    together = list(parser.parse_all(sentences, confidence=True))
    assert len(together) == len(sentences)
    for sentence, parsed in zip(sentences, together, strict=True):
        alone = parser.parse(sentence, confidence=True)
        np.testing.assert_array_equal(parsed.heads, alone.heads)
        assert parsed.deprels == alone.deprels
        assert misc_values(parsed, "ArcProb") == misc_values(alone, "ArcProb")


@pytest.mark.parametrize("decode", ["mbr", "map"])
@pytest.mark.parametrize(("projective", "scale"), [(True, 1.0), (True, 400.0), (False, 1.0)])
def test_blocks_give_what_steps_one_by_one_give(parser, decode, projective, scale):
    """Also where numbers leave the range of the kernel for blocks (scores of thousands)."""
    scorer = replace(parser.scorer, weights=np.float32(scale) * parser.scorer.weights)
    one = replace(parser, scorer=scorer, inference=replace(parser.inference, projective=projective))
    sentences = list(itertools.islice(read_conllu("corpora/en.conllu"), 40))
    sentences.insert(7, make_sentence("bark", "VERB", [0]))
    for sentence, parsed in zip(sentences, one.parse_all(sentences, decode=decode), strict=True):
        heads = one.heads(one.scores(sentence), decode=decode)
        np.testing.assert_array_equal(parsed.heads, heads)
        assert parsed.deprels == one.labeller.label(one.encode(sentence), heads)


def test_a_sentence_of_one_word_hangs_on_the_root(parser):
    parsed = parser.parse(make_sentence("Hola", "INTJ"))
    assert parsed.heads.tolist() == [-1, 0]
    assert parsed.deprels == ("root",)


def test_only_the_roots_child_is_labelled_root(parser):
    for sentence in read_conllu("corpora/de.conllu"):
        parsed = parser.parse(sentence)
        roots = [relation == "root" for relation in parsed.deprels]
        assert roots == (parsed.heads[1:] == 0).tolist()


def test_inference_is_read_off_the_trees():
    crossing, plain = np.array([-1, 3, 0, 2, 1]), np.array([-1, 2, 0, 2, 3])
    several = np.array([-1, 0, 0])
    assert choose_inference([plain] * 9, projective=None, single_root=None) == TreeDecoder(
        projective=True, single_root=True
    )
    assert not choose_inference([crossing, plain], projective=None, single_root=None).projective
    assert choose_inference([crossing], projective=True, single_root=None).projective
    assert not choose_inference([plain, several], projective=None, single_root=None).single_root


def test_features_are_as_rich_as_the_data():
    words = make_sentence("a b", "X X")
    assert richest_template_set([words]) == "words"
    assert richest_template_set([words, next(read_conllu("corpora/en.conllu"))]) == "morphology"


def test_arcs_that_no_tree_contains_are_counted():
    impossible = make_sentence("a b c", "X X X", [0, 0, -1])
    fine = make_sentence("a b c", "X X X", [2, 0, -1])
    options = TrainingOptions(epochs=1, single_root=True)
    _, report = train_arc_parser([impossible, fine], rng=np.random.default_rng(1), options=options)
    assert report.skipped == {"arcs that no possible tree contains": 1}


def test_a_whole_tree_of_two_roots_is_none_that_a_single_root_parser_builds():
    two, one = (make_sentence("a b", "X X", heads) for heads in ([0, 0], [0, 1]))
    options = TrainingOptions(epochs=1, single_root=True)
    _, report = train_arc_parser([two, one], rng=np.random.default_rng(1), options=options)
    assert report.skipped == {"arcs that no possible tree contains": 1}
