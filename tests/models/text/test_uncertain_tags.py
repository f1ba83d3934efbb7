"""Text without tags is read by the tag sequences that tagger and trees together find likely."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_columns
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import (
    FLATTER,
    LEAST_TAG,
    TRUST_IN_TREES,
    read_uncertain,
    readings_of,
    text_parser,
)
from tests.oracles.trees import all_trees, tree_score


@pytest.fixture(scope="module")
def sample():
    return list(read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="module")
def model(sample):
    rng = np.random.default_rng(1)
    tagger = train_tagger(sample[:15], rng=rng, language="de", epochs=3)
    parser, _ = train_arc_parser(sample, rng=rng, options=TrainingOptions(epochs=2, template_set="words"))
    return text_parser(tagger, replace(parser, temperature=2.0), readings=200)


def told(sentence):
    """Return all that a parser says of a sentence."""
    return sentence.upos, sentence.heads.tolist(), sentence.deprels, misc_values(sentence, "ArcProb")


def untagged(sentence):
    return with_columns(sentence, upos=("_",) * len(sentence))


def short_sentences(sample):
    return [untagged(sentence) for sentence in sample if len(sentence) in (4, 5)]


def log_weight(model, sentence, tags):
    """What tagger and trees say of a tag sequence, by plain sums and by listing every tree."""
    numbers = [model.tagger.tags.index(tag) for tag in tags]
    emissions, transitions = model.tagger.emissions(sentence.forms), model.tagger.transitions
    of_tags = transitions[-1, numbers[0]] + sum(transitions[pair] for pair in pairwise(numbers))
    of_tags += sum(emissions[word, tag] for word, tag in enumerate(numbers))
    inference = model.base.inference
    shape = {"projective": inference.projective, "single_root": inference.single_root}
    scores = model.base.scores(with_columns(sentence, upos=tags)) / model.base.temperature
    trees = np.array([tree_score(scores, tree) for tree in all_trees(len(tags), **shape)])
    chances = np.exp(trees - trees.max())
    return of_tags + TRUST_IN_TREES * (chances @ trees) / chances.sum()


def searched(model, sentence, limit):
    """All sequences that are tried with their weights, and the one found, by plain lists."""
    marginals = model.tagger.tag_distribution(sentence)
    best = model.tagger.tag_words(sentence.forms)
    doubted = [
        (-chance, word, tag)
        for word, row in enumerate(marginals.tolist())
        for tag, chance in zip(model.tagger.tags, row, strict=True)
        if chance >= LEAST_TAG and tag != best[word]
    ]
    weights = [(best, log_weight(model, sentence, best))]
    for _, word, tag in sorted(doubted)[:limit]:
        changed = (*best[:word], tag, *best[word + 1 :])
        weights.append((changed, log_weight(model, sentence, changed)))
        best = max(weights, key=lambda entry: entry[1])[0]
    return weights, best


@pytest.mark.parametrize("limit", [0, 3, 200])
def test_the_search_is_that_of_plain_lists(model, sample, limit):
    changed = 0
    for sentence in short_sentences(sample):
        tried, best = searched(model, sentence, limit)
        readings = read_uncertain(model.base, model.tagger, sentence, readings=limit)
        weights = np.exp([weight for _, weight in tried])
        scores = [model.base.scores(with_columns(sentence, upos=tags)) for tags, _ in tried]
        expected = np.average(scores, axis=0, weights=weights)
        np.testing.assert_allclose(readings.scores, expected, atol=1e-9)
        assert readings.tags == best
        changed += best != model.tagger.tag_words(sentence.forms)
    assert (changed > 0) == (limit > 0)


def test_tags_that_a_sentence_has_stay(model, sample):
    half = with_columns(sample[40], upos=("X", *untagged(sample[40]).upos[1:]))
    assert model.parse(half).upos[0] == "X"
    assert model.parse(half, retag=True).upos == model.parse(untagged(half)).upos
    assert "X" not in model.parse(half, retag=True).upos


def test_what_is_tagged_is_parsed_as_given(model, sample):
    for sentence in sample[:10]:
        assert list(model.parse(sentence).heads) == list(model.base.parse(sentence).heads)


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
    readings = read_uncertain(model.base, model.tagger, sentence, readings=model.readings)
    surest = model.tagger.tag_distribution(sentence).max(axis=1)
    np.testing.assert_allclose(readings.doubts, [0.0, *(1.0 - surest)])
    marginals = model.arc_probabilities(sentence)
    parsed = model.parse(sentence, confidence=True)
    stated = np.array([float(value) for value in misc_values(parsed, "ArcProb")])
    words = np.arange(1, len(parsed) + 1)
    np.testing.assert_allclose(stated, marginals[parsed.heads[1:], words], atol=1e-4)
    assert list(parsed.heads) == list(model.base.heads(readings.scores))
    assert parsed.upos == readings.tags


def test_arcs_are_less_sure_where_the_tags_of_their_words_are(model, sample):
    """Each column is a mean of two distributions: by plain sums over heads."""
    sentence = untagged(sample[40])
    readings = read_uncertain(model.base, model.tagger, sentence, readings=model.readings)
    wrong = readings.doubts
    flatter = [readings.scores / (model.base.temperature * by) for by in (1.0, FLATTER)]
    one, other = (model.base.inference.infer(scores)[1] for scores in flatter)
    found = model.arc_probabilities(sentence)
    assert wrong[1:].min() < 0.1 < wrong.max()
    for word in range(1, len(sentence) + 1):
        of_head = sum(one[head, word] * wrong[head] for head in range(len(wrong)))
        weight = (wrong[word] + of_head) / 2
        np.testing.assert_allclose(found[:, word], (1 - weight) * one[:, word] + weight * other[:, word])
        assert found[:, word].sum() == pytest.approx(1.0)


def test_the_trees_do_not_depend_on_how_sure_they_are(model, sample, monkeypatch):
    sentences = [untagged(sentence) for sentence in sample[40:44]]
    before = [model.parse(sentence, confidence=True) for sentence in sentences]
    monkeypatch.setattr("qsproj.models.text.text_parser.FLATTER", 1.0)
    after = [model.parse(sentence, confidence=True) for sentence in sentences]
    assert [told(one)[:3] for one in before] == [told(one)[:3] for one in after]
    probabilities = [
        np.array([float(value) for one in parsed for value in misc_values(one, "ArcProb")])
        for parsed in (before, after)
    ]
    assert probabilities[0].mean() < probabilities[1].mean() - 0.01


def test_undoubted_errors_of_the_tagger_make_arcs_less_sure(model, sample):
    sentence = untagged(sample[40])
    mistaken = replace(model, tagger=replace(model.tagger, undoubted=0.3))
    before, after = (
        read_uncertain(one.base, one.tagger, sentence, readings=one.readings) for one in (model, mistaken)
    )
    np.testing.assert_allclose(1.0 - after.doubts[1:], 0.7 * (1.0 - before.doubts[1:]))
    assert after.doubts[0] == 0.0
    sure, unsure = (one.parse(sentence, confidence=True) for one in (model, mistaken))
    assert told(sure)[:3] == told(unsure)[:3]
    sum_sure, sum_unsure = (sum(map(float, misc_values(one, "ArcProb"))) for one in (sure, unsure))
    assert sum_unsure < sum_sure
    whole = mistaken.parse(sample[40], confidence=True)
    assert told(whole) == told(model.parse(sample[40], confidence=True))


def test_tags_that_are_given_are_not_doubted(model, sample):
    """Half of the tags are given: doubts are about the others."""
    whole = sample[40]
    half = with_columns(whole, upos=[tag if i % 2 else "_" for i, tag in enumerate(whole.upos)])
    readings = read_uncertain(model.base, model.tagger, half, readings=model.readings)
    surest = model.tagger.tag_distribution(half).max(axis=1)
    np.testing.assert_allclose(readings.doubts[1::2], 1.0 - surest[::2])
    assert not readings.doubts[::2].any()
    given = read_uncertain(model.base, model.tagger, whole, readings=model.readings)
    assert not given.doubts.any()
    alone = model.base.arc_probabilities(whole)
    np.testing.assert_allclose(given.arc_probabilities(model.base), alone)


def test_readings_are_stored(model, sample, tmp_path):
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.readings == model.readings
    sentence = untagged(sample[40])
    assert list(loaded.parse(sentence).heads) == list(model.parse(sentence).heads)


@pytest.mark.slow
def test_a_long_sentence_takes_hardly_longer_than_under_one_tag_sequence(model):
    """400 words, all of them in doubt: 200 other tags to try."""
    (sentence,) = model.read(["der Hund " * 200])
    seconds = []
    for readings in (0, 200):
        begin = time.process_time()
        replace(model, readings=readings).parse(sentence)
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 12 * seconds[0] + 1
    assert [readings_of(words, 16) for words in (1, 150, 151, 300, 600)] == [16, 16, 15, 2, 0]
