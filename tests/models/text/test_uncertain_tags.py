"""Arc scores under uncertain tags are the mean over what the tagger believes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.models.text.uncertain_tags import draw_tags, mean_scores


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="module")
def model(sample):
    rng = np.random.default_rng(1)
    tagger = train_tagger(sample[:15], rng=rng, language="de", options=TaggerOptions(epochs=3))
    parser, _ = train_arc_parser(sample, rng=rng, options=TrainingOptions(epochs=2, template_set="words"))
    return text_parser(tagger, parser, draws=200)


def untagged(sentence):
    return with_columns(sentence, upos=("_",) * len(sentence))


def test_draws_follow_the_taggers_posterior(model, sample):
    sentence = untagged(sample[40])
    sequences = draw_tags(model.tagger, sentence, 4000)
    marginals = model.tagger.tag_distribution(sentence)
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


def test_scores_are_the_mean_over_the_sequences(model, sample):
    sentence = untagged(sample[40])
    sequences = draw_tags(model.tagger, sentence, 30)
    expected = sum(
        count * model.parser.scores(with_columns(sentence, upos=tags)) for tags, count in sequences.items()
    )
    np.testing.assert_allclose(mean_scores(model.parser, sentence, sequences), expected / 30)


def test_what_is_tagged_is_parsed_as_given(model, sample):
    for sentence in sample[:10]:
        assert list(model.parse(sentence).heads) == list(model.parser.parse(sentence).heads)


def test_trees_and_probabilities_are_those_of_the_mean(model, sample):
    sentence = untagged(sample[40])
    scores = mean_scores(model.parser, sentence, draw_tags(model.tagger, sentence, model.draws))
    marginals = model.parser.inference.infer(scores / model.parser.temperature)[1]
    np.testing.assert_allclose(model.arc_probabilities(sentence), marginals)
    assert list(model.parse(sentence).heads) == list(model.parser.heads(scores))


def test_draws_are_stored(model, sample, tmp_path):
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.draws == model.draws
    sentence = untagged(sample[40])
    assert list(loaded.parse(sentence).heads) == list(model.parse(sentence).heads)
