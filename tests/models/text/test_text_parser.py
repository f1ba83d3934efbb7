"""What a tagger and a parser say together: probabilities where they are asked for, tags in doubt."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.errors import DataError, UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.dmv.dmv import Dmv, uniform_parameters
from qsproj.models.parser import load_tags
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/de.conllu"))[:10]


@pytest.fixture(scope="module")
def tagger(sample):
    return train_tagger(sample, rng=np.random.default_rng(1), epochs=1)


@pytest.fixture(scope="module")
def parser(sample):
    options = TrainingOptions(epochs=1, template_set="words")
    return train_arc_parser(sample, rng=np.random.default_rng(1), options=options)[0]


def untagged(sentence):
    return with_columns(sentence, upos=("_",) * len(sentence))


def test_probabilities_are_told_when_asked_for(sample, tagger, parser):
    valence = Dmv(tagger.tags, uniform_parameters(len(tagger.tags)))
    for model in (text_parser(tagger, valence), text_parser(tagger, parser, readings=2)):
        for confidence in (True, False):
            parsed = model.parse(untagged(sample[0]), confidence=confidence)
            assert all(misc_values(parsed, "ArcProb")) == confidence
            assert any(misc_values(parsed, "ArcProb")) == confidence


def test_a_tagged_sentence_has_the_probabilities_of_the_parser(sample, tagger, parser):
    model = text_parser(tagger, parser, readings=2)
    expected = parser.arc_probabilities(sample[0])
    np.testing.assert_array_equal(model.arc_probabilities(sample[0]), expected)
    assert not np.array_equal(model.arc_probabilities(untagged(sample[0])), expected)


def test_what_tags_is_found_in_a_tagger_and_in_a_model_of_text(sample, tagger, parser, tmp_path):
    for name, model in (("tagger", tagger), ("text", text_parser(tagger, parser)), ("parser", parser)):
        model.save(tmp_path / name)
    for name in ("tagger", "text"):
        assert load_tags(tmp_path / name).tag(sample[0]).upos == tagger.tag(sample[0]).upos
    with pytest.raises(DataError, match="found a model of kind arc-parser, expected a tagger"):
        load_tags(tmp_path / "parser")


def test_a_text_of_one_sentence_is_parsed(sample, parser):
    tagger = train_tagger(sample, rng=np.random.default_rng(1), epochs=1, language="de")
    model = text_parser(tagger, parser)
    parsed = model.parse("Der Hund schläft.\n")
    assert parsed.forms == ("Der", "Hund", "schläft", ".")
    assert parsed.upos == tagger.tag(parsed).upos and (parsed.heads[1:] >= 0).all()
    assert [one.forms for one in model.parse_text("Der Hund schläft.\n")] == [parsed.forms]
    assert model.arc_probabilities("Der Hund schläft.").shape == (5, 5)
    for text, lines in (("", "0 lines"), ("Er geht.\nSie bleibt.\n", "2 lines")):
        with pytest.raises(UsageError, match=f"found a text of {lines}, expected one sentence; .*model.text"):
            model.parse(text)


def test_a_text_for_a_parser_of_tagged_words_is_refused(parser):
    with pytest.raises(TypeError, match=r"expected a Sentence; .*; models of qsproj.bootstrap .* read text"):
        parser.parse("Der Hund schläft.")
