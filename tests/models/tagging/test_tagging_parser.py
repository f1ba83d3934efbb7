"""The parser of words alone: what it reads, its training, its file, and what it refuses."""

import dataclasses

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.errors import DataError, SentenceLengthError, UsageError
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.parser import load_parser
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tagging.tagging_parser import TaggingOptions, TaggingParser
from qsproj.models.tagging.tagging_parser_training import cross_fitted_tags, train_tagging_parser
from tests.sentences import make_sentence


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/en.conllu"))


@pytest.fixture(scope="module")
def parser(sample):
    return train(sample, epochs=5)


def train(sentences, **options):
    rng = np.random.default_rng(1)
    return train_tagging_parser(sentences, rng=rng, options=TrainingOptions(**options))[0]


def untagged(sentence):
    blank = ("_",) * len(sentence)
    return with_columns(sentence, upos=blank, xpos=blank, lemmas=blank, feats=blank)


def test_tags_and_trees_are_learned(parser, sample):
    parsed = [parser.parse(untagged(sentence)) for sentence in sample]
    words = sum(map(len, sample))
    heads = sum(int((p.heads == s.heads)[1:].sum()) for p, s in zip(parsed, sample))
    tags = sum(a == b for p, s in zip(parsed, sample) for a, b in zip(p.upos, s.upos))
    assert heads > 0.95 * words
    assert tags > 0.97 * words


def test_nothing_but_forms_is_read(parser, sample):
    for sentence in sample[:10]:
        wrong = with_columns(sentence, upos=["VERB"] * len(sentence), feats=["Case=Nom"] * len(sentence))
        one, other = parser.parse(wrong), parser.parse(untagged(sentence))
        assert (one.upos, one.deprels, one.heads.tolist()) == (
            other.upos,
            other.deprels,
            other.heads.tolist(),
        )


def test_beliefs_are_probabilities(parser, sample):
    believed = parser.posterior(sample[3])
    np.testing.assert_allclose(believed.marginals[:, 1:].sum(axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(believed.tags.sum(axis=1), 1.0, atol=1e-9)


def test_confidence_tells_the_chances_of_arc_and_tag(parser, sample):
    parsed = parser.parse(sample[3], confidence=True)
    believed = parser.posterior(sample[3])
    arcs = believed.marginals[parsed.heads[1:], np.arange(1, len(parsed.heads))]
    assert misc_values(parsed, "ArcProb") == tuple(f"{p:.4f}" for p in arcs)
    assert misc_values(parsed, "UposProb") == tuple(f"{p:.4f}" for p in believed.tags.max(axis=1))


def test_a_sentence_of_one_word_is_parsed(parser):
    parsed = parser.parse(make_sentence("Sleep", "_"))
    assert parsed.heads.tolist() == [-1, 0]
    assert parsed.upos[0] in parser.tagger.tags


def test_a_model_comes_back_from_its_file(parser, sample, tmp_path):
    parser.save(tmp_path / "model")
    loaded = load_parser(tmp_path / "model")
    assert isinstance(loaded, TaggingParser)
    assert loaded.options == parser.options
    for sentence in sample[:10]:
        one, other = parser.posterior(sentence), loaded.posterior(sentence)
        np.testing.assert_array_equal(one.marginals, other.marginals)
        np.testing.assert_array_equal(one.tags, other.tags)


def test_the_same_seed_gives_the_same_model(sample, tmp_path):
    files = tmp_path / "one", tmp_path / "other"
    for file in files:
        train(sample[:12], epochs=2).save(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_each_sentence_is_tagged_by_a_tagger_that_has_not_seen_it(sample):
    odd = make_sentence("zyx zyx zyx", "INTJ INTJ INTJ", [0, 1, 1])
    sentences = [*sample[:20], odd]
    tagger = train_tagger(sentences, rng=np.random.default_rng(1))
    distributions, tagged = cross_fitted_tags(sentences, tagger, rng=np.random.default_rng(1))
    assert tagger.tag(odd).upos == odd.upos
    assert "INTJ" not in tagged[-1].upos
    assert distributions[-1][:, tagger.tags.index("INTJ")].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(distributions[-1].sum(axis=1), 1.0)


def test_partial_trees_train_the_tagger_and_what_prunes(sample):
    partial = [
        dataclasses.replace(s, heads=np.where(np.arange(len(s) + 1) == 1, -1, s.heads).astype(np.int32))
        if i % 2
        else s
        for i, s in enumerate(sample[:12])
    ]
    options = TrainingOptions(epochs=1)
    parser, report = train_tagging_parser(partial, rng=np.random.default_rng(1), options=options)
    assert report.skipped == {"not every word has a head": 6}
    assert (parser.parse(sample[0]).heads[1:] >= 0).all()
    with pytest.raises(UsageError, match="found 0 whole trees, expected at least 2"):
        train(partial[1::2], epochs=1)


def test_stopping_early_by_a_dev_set(sample):
    dev = sample[12:30]
    options = TrainingOptions(epochs=6)
    parser, report = train_tagging_parser(sample[:12], rng=np.random.default_rng(1), dev=dev, options=options)
    scores = [record.score for record in report.epochs]
    # Or the parser of the last epoch would do.
    assert scores[-1] < max(scores)
    right = sum(int((parser.parse(s).heads == s.heads)[1:].sum()) for s in dev)
    assert 100.0 * right / sum(map(len, dev)) == pytest.approx(max(scores))


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([("a b", "NOUN _")] * 5, r"word 2 \('b'\) has no UPOS"),
        ([("a b", "NOUN VERB")] * 2, "found 2 sentences to learn tags and trees from, expected at least 4"),
        ([("a b", "NOUN NOUN")] * 5, "found NOUN on every word, expected at least two different UPOS tags"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(sentences, message):
    with pytest.raises(UsageError, match=message):
        train([make_sentence(forms, tags, [2, 0]) for forms, tags in sentences])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "risk"}, "unknown objective of a parser that tags 'risk'; known: margin, likelihood"),
        ({"template_set": "morphology"}, "unknown features of a parser that tags 'morphology'; known: words"),
    ],
)
def test_wrong_options_of_training_are_refused(sample, options, message):
    with pytest.raises(UsageError, match=message):
        train(sample, **options)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"iterations": 0}, "iterations is 0, expected at least 1"),
        ({"arc_threshold": 0.0}, "arc_threshold is 0.0, expected a probability"),
        ({"tag_threshold": 1.0}, "tag_threshold is 1.0, expected a probability"),
    ],
)
def test_wrong_options_are_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        TaggingOptions(**wrong)


def test_what_cannot_be_parsed_is_refused(parser, sample):
    with pytest.raises(UsageError, match="unknown decoder 'map'; known: mbr"):
        parser.parse(sample[0], decode="map")
    with pytest.raises(SentenceLengthError):
        parser.parse(make_sentence("x " * 1001, "_ " * 1001))


def test_a_model_with_nan_weights_is_refused(parser, tmp_path):
    broken = parser.weights.trigrams.copy()
    broken[5] = np.nan
    weights = dataclasses.replace(parser.weights, trigrams=broken)
    dataclasses.replace(parser, weights=weights).save(tmp_path / "model")
    with pytest.raises(DataError, match="model: found NaN or infinite numbers"):
        load_parser(tmp_path / "model")
