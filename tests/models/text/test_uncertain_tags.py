"""Arc scores under uncertain tags are the mean over what the tagger believes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.models.text.uncertain_tags import SHARPNESS, draw_tags, read_by
from tests.oracles.trees import all_trees, tree_score


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="module")
def model(sample):
    rng = np.random.default_rng(1)
    tagger = train_tagger(sample[:15], rng=rng, language="de", options=TaggerOptions(epochs=3))
    parser, _ = train_arc_parser(sample, rng=rng, options=TrainingOptions(epochs=2, template_set="words"))
    return text_parser(tagger, parser, draws=200)


def told(sentence):
    """Return all that a parser says of a sentence."""
    return sentence.upos, sentence.heads.tolist(), sentence.deprels, misc_values(sentence, "ArcProb")


def untagged(sentence):
    return with_columns(sentence, upos=("_",) * len(sentence))


def test_draws_follow_the_taggers_sharpened_posterior(model, sample):
    sentence, tagger = untagged(sample[40]), model.tagger
    sequences = draw_tags(tagger, sentence, 4000)
    sharper = replace(
        tagger,
        weights=np.float32(SHARPNESS) * tagger.weights,
        transitions=SHARPNESS * tagger.transitions,
    )
    marginals = sharper.tag_distribution(sentence)
    found = np.zeros_like(marginals)
    for tags, count in sequences.items():
        for word, tag in enumerate(tags):
            found[word, model.tagger.tags.index(tag)] += count / 4000
    np.testing.assert_allclose(found, marginals, atol=0.04)
    assert len(sequences) > 1


def test_tags_that_a_sentence_has_stay(model, sample):
    half = with_columns(sample[40], upos=("X", *untagged(sample[40]).upos[1:]))
    assert {tags[0] for tags in draw_tags(model.tagger, half, 20)} == {"X"}
    assert "X" not in {tags[0] for tags in draw_tags(model.tagger, half, 20, retag=True)}


def test_the_same_words_get_the_same_sequences(model, sample):
    sentence = untagged(sample[40])
    other = replace(sentence, sent_id="elsewhere")
    assert draw_tags(model.tagger, sentence, 20) == draw_tags(model.tagger, other, 20)


def entropy_of_trees(parser, scores):
    """By listing every tree that the parser may build."""
    shape = {"projective": parser.inference.projective, "single_root": parser.inference.single_root}
    trees = all_trees(len(scores) - 1, **shape)
    logs = np.array([tree_score(scores, tree) for tree in trees]) / parser.temperature
    logs -= logs.max()
    logs -= np.log(np.exp(logs).sum())
    return -(np.exp(logs) * logs).sum()


def test_sequences_weigh_by_draws_and_by_how_sure_the_parser_is_under_them(model, sample):
    sentence = untagged(next(one for one in sample if len(one) == 5))
    parser = replace(model.parser, temperature=2.0)
    sequences = {("DET", "NOUN", "VERB", "ADV", "PUNCT"): 3, ("PRON", "NOUN", "AUX", "ADJ", "PUNCT"): 5}
    scores = [parser.scores(with_columns(sentence, upos=tags)) for tags in sequences]
    weights = np.array([3.0, 5.0]) * np.exp([-entropy_of_trees(parser, matrix) / 2 for matrix in scores])
    weights /= weights.sum()
    readings = read_by(parser, sentence, sequences)
    np.testing.assert_allclose(readings.scores, weights[0] * scores[0] + weights[1] * scores[1])
    assert readings.tags == list(sequences)[int(weights[1] > weights[0])]


def test_each_word_gets_the_tag_with_the_most_weight(model, sample):
    sentence = untagged(next(one for one in sample if len(one) == 5))
    rest = ("NOUN", "VERB", "ADV", "PUNCT")
    sequences = {("DET", *rest): 1000, ("PRON", *rest[:3], "X"): 1, ("PRON", *rest): 1}
    assert read_by(model.parser, sentence, sequences).tags == ("DET", *rest)


def test_what_is_tagged_is_parsed_as_given(model, sample):
    for sentence in sample[:10]:
        assert list(model.parse(sentence).heads) == list(model.parser.parse(sentence).heads)


def test_what_is_tagged_is_parsed_several_at_a_time(model, sample, monkeypatch):
    """Tagged sentences in a row go to the first-order parser together; the others keep their places."""
    runs = []
    parse_all = ArcParser.parse_all

    def watched(parser, sentences, **options):
        run = list(sentences)
        runs.append([sentence.sent_id for sentence in run])
        return parse_all(parser, run, **options)

    monkeypatch.setattr(ArcParser, "parse_all", watched)
    mixed = [*sample[:3], untagged(sample[3]), *sample[4:6]]
    parsed = list(model.parse_all(mixed, confidence=True))
    assert runs == [[one.sent_id for one in sample[:3]], [one.sent_id for one in sample[4:6]]]
    monkeypatch.undo()
    alone = [model.parse(sentence, confidence=True) for sentence in mixed]
    assert [*map(told, parsed)] == [*map(told, alone)]
    again = model.parse_all(sample[:2], retag=True)
    assert [*map(told, again)] == [told(model.parse(sentence, retag=True)) for sentence in sample[:2]]


def test_trees_tags_and_probabilities_are_those_of_the_readings(model, sample):
    sentence = untagged(sample[40])
    readings = read_by(model.parser, sentence, draw_tags(model.tagger, sentence, model.draws))
    marginals = model.parser.inference.infer(readings.scores / model.parser.temperature)[1]
    np.testing.assert_allclose(model.arc_probabilities(sentence), marginals)
    parsed = model.parse(sentence)
    assert list(parsed.heads) == list(model.parser.heads(readings.scores))
    assert parsed.upos == readings.tags


def test_draws_are_stored(model, sample, tmp_path):
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.draws == model.draws
    sentence = untagged(sample[40])
    assert list(loaded.parse(sentence).heads) == list(model.parse(sentence).heads)
