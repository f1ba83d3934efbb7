"""Joint parsers that decide tags together with trees, from end to end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.conventions import MAX_WORDS
from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_graph import JointWeights
from qsproj.models.joint.joint_options import (
    TAG_THRESHOLD,
    BiparseOptions,
    JointOptions,
    JointTrainingOptions,
)
from qsproj.models.joint.tag_choices import TagChoices, tag_choices
from qsproj.models.storage import load_model
from qsproj.models.tagging.link_tagger import untagged
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.cotrain import cotrain

FEW = TrainingOptions(epochs=1)


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def source(pairs):
    sources = [pair.source for pair in pairs[:30]]
    return train_arc_parser(sources, rng=np.random.default_rng(1), options=FEW)[0]


def train(pairs, source, *, joint=None, **more):
    options = BiparseOptions(
        joint=joint or JointOptions(families=("MONO",), source_tree="best"),
        training=JointTrainingOptions(epochs=2),
        target_training=FEW,
        tags="joint",
        **more,
    )
    return train_joint_parser(pairs, source, rng=np.random.default_rng(1), options=options)[0]


@pytest.fixture(scope="module")
def trained(pairs, source):
    return train(pairs[:12], source)


def parsed(model, pair):
    return model.parse_pair(pair.source, pair.target, pair.alignment)


def columns(sentence):
    return sentence.upos, sentence.heads.tolist(), sentence.deprels


def test_tags_and_trees_are_decided_together(pairs, trained):
    """Some tags differ from those by links alone; they are the likeliest by belief, and trees read them."""
    changed = 0
    for pair in map(untagged, pairs[12:24]):
        tagged, choices = trained.tag_choices(pair)
        found = parsed(trained, pair)
        assert tagged.target.upos == trained.tagger.tag(pair).upos
        if choices is None:
            assert found.target.upos == tagged.target.upos
            continue
        beliefs = trained.infer(trained.prepare(tagged, choices=choices))
        for word, names, chances in zip(choices.words, choices.tags, beliefs.tags.words, strict=True):
            assert found.target.upos[word - 1] == names[chances.argmax()]
            assert chances.sum() == pytest.approx(1.0)
        certain = set(range(1, len(pair.target) + 1)) - set(choices.words.tolist())
        assert all(found.target.upos[word - 1] == tagged.target.upos[word - 1] for word in certain)
        assert trained.with_tags(pair).target.upos == found.target.upos
        changed += found.target.upos != tagged.target.upos
    assert changed > 0
    assert all(scale != 1.0 for scale in trained.weights.tag_scales)


def test_pairs_too_long_for_inference_stay_as_they_are(pairs, trained):
    short = pairs[20]
    target = Sentence.from_words(["Hund"] * (MAX_WORDS + 1))
    long = SentencePair(short.source, target, make_alignment(len(short.source), len(target), [[1, 1]]))
    assert trained.with_tags(long) is long


def test_tags_that_are_given_stay(pairs, trained):
    assert trained.tag_choices(pairs[30])[1] is None
    assert parsed(trained, pairs[30]).target.upos == pairs[30].target.upos
    some = with_columns(pairs[30].target, upos=("X", *("_" for _ in pairs[30].target.forms[1:])))
    choices = trained.tag_choices(untagged(pairs[30]))[1]
    pair = trained.tag_choices(type(pairs[30])(pairs[30].source, some, pairs[30].alignment))
    assert pair[0].target.upos[0] == "X"
    assert set(pair[1].words.tolist()) == set(choices.words.tolist()) - {1}


def test_choices_are_the_likely_tags_and_what_the_tagger_says_of_them(pairs, trained):
    pair = untagged(pairs[20])
    scores = trained.tagger.scores(pair.target)
    sentence, choices = tag_choices(trained.tagger, pair, scores, least_probability=TAG_THRESHOLD)
    chances, numbers = trained.tagger.chances(pair, scores), list(trained.tagger.tagger.tags)
    np.testing.assert_allclose(chances[1:].sum(axis=1), 1.0)
    for word in range(1, len(pair.target) + 1):
        ranked = sorted(numbers, key=lambda tag, w=word: -chances[w, numbers.index(tag)])
        likely = [tag for tag in ranked if chances[word, numbers.index(tag)] >= TAG_THRESHOLD][:4]
        assert sentence.upos[word - 1] == ranked[0]
        assert (word in choices.words) == (len(likely) > 1)
        if len(likely) > 1:
            place = choices.words.tolist().index(word)
            assert choices.tags[place] == tuple(likely)
            own = scores[word, [numbers.index(tag) for tag in likely]]
            relative = trained.tagger.table.scale * (own - own[0])
            np.testing.assert_allclose(choices.scores[place, : len(likely)], relative)
            assert not choices.possible[place, len(likely) :].any()


def test_where_links_say_nothing_trees_hardly_change_what_the_tagger_says(pairs, trained):
    """A parser scores trees given tags: that its sum over them is greater under one says nothing for it."""
    parser = replace(trained, options=replace(trained.options, families=()), weights=JointWeights.untrained())
    errors = {1.0: [], 0.0: []}
    for pair in map(untagged, pairs[12:30]):
        tagged, choices = parser.tag_choices(pair)
        if choices is None:
            continue
        # Of one word: what trees grow by is exact but for arcs to several of its dependents.
        one = TagChoices(choices.words[:1], choices.tags[:1], choices.scores[:1])
        prepared = parser.prepare(tagged, choices=one)
        said = np.exp(one.scores) / np.exp(one.scores).sum()
        for scale, found in errors.items():
            own = prepared.tags
            tags = replace(own, links=np.zeros_like(own.links), trees=scale * own.trees)
            found.append(np.abs(parser.infer(replace(prepared, tags=tags)).tags.words - said).max())
    corrected, uncorrected = map(np.mean, errors.values())
    assert corrected < 0.7 * uncorrected
    assert uncorrected > 0.1


def test_a_truth_that_cannot_be_chosen_teaches_nothing():
    tags = (("NOUN", "VERB"), ("ADJ", "ADV"))
    choices = TagChoices(np.array([1, 3], dtype=np.int32), tags, np.array([[0.0, -1.0], [0.0, -2.0]]))
    left, states = choices.with_truth(("DET", "DET", "ADV"))
    assert (left.words.tolist(), left.tags, states.tolist()) == ([3], tags[1:], [1])
    assert left.scores.tolist() == [[0.0, -2.0]]
    assert choices.with_truth(("DET", "NOUN", "X"))[0] is None


def test_a_model_is_the_same_each_time_and_after_loading(pairs, source, tmp_path):
    first, second = (train(pairs[:6], source) for _ in range(2))
    first.save(tmp_path / "a")
    second.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    loaded = load_model(tmp_path / "a")
    assert loaded.weights.tag_scales == first.weights.tag_scales
    assert loaded.options.tag_threshold == TAG_THRESHOLD
    for pair in map(untagged, pairs[30:33]):
        assert columns(parsed(loaded, pair).target) == columns(parsed(first, pair).target)


def test_a_monolingual_parser_learns_from_tags_that_were_decided_with_trees(pairs, trained):
    bare = [untagged(pair) for pair in pairs[30:34]]
    trees = [pair.target for pair in pairs[:4]]
    found, report = cotrain(trained, trees, bare, rng=np.random.default_rng(1), training=FEW)
    assert report.pairs == len(bare)
    decided = [trained.with_tags(pair) for pair in bare]
    again, _ = cotrain(trained, trees, decided, rng=np.random.default_rng(1), training=FEW)
    np.testing.assert_array_equal(found.scorer.weights, again.scorer.weights)


def test_a_pair_without_links_has_the_tags_of_the_tagger(pairs, trained):
    pair = untagged(pairs[30])
    none = type(pair.alignment)(
        pair.alignment.n_source, pair.alignment.n_target, np.zeros((0, 2), np.int32), np.zeros(0, bool), None
    )
    found = trained.parse_pair(pair.source, pair.target, none)
    assert found.alone
    assert found.target.upos == trained.tagger.tag_alone(pair.target).upos


def test_a_threshold_is_of_tags_that_are_decided_jointly():
    with pytest.raises(UsageError, match="found tag_threshold and tags links, expected tags joint"):
        BiparseOptions(tags="links", joint=JointOptions(tag_threshold=0.2))
