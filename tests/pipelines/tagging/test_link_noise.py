"""How far links are believed: what tags and links of a type have to do with each other."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.tagging.link_noise import LinkChannel, channel_evidence, expected_tags, learn_channel
from qsproj.pipelines.tagging.linked_text import read_linked_text

TAGS = ("AUX", "NOUN", "PRON", "VERB")


def pairs(size, seed=0):
    """Return sentences of which ``se`` is PRON or NOUN as the word before tells, and ``at`` as well.

    Links of ``at`` bring the tag that it has, those of ``se`` bring one or the other, whatever it is.
    """
    rng = np.random.default_rng(seed)
    for number in range(size):
        tag = ("PRON", "NOUN")[number % 2]
        before = {"PRON": "x", "NOUN": "y"}[tag]
        chance = ("PRON", "NOUN")[rng.integers(2)]
        source = Sentence.from_words(["a", "b", "c", "d"], upos=["VERB", tag, "VERB", chance])
        target = Sentence.from_words([before, "at", before, "se"])
        links = make_alignment(4, 4, [(word, word) for word in range(1, 5)], weights=[1.0] * 4)
        gold = Sentence.from_words(target.forms, upos=["VERB", tag, "VERB", tag])
        yield SentencePair(source, target, links), gold


@pytest.fixture(scope="module")
def learned():
    made = list(pairs(400))
    text = read_linked_text(((pair,) for pair, _ in made), more_tags=TAGS)
    tagger = train_tagger([gold for _, gold in made[:40]], rng=np.random.default_rng(1))
    # The tagger knows three tags; the text has the same, in the same order, and AUX.
    text = read_linked_text((pair,) for pair, _ in made)
    assert text.tags == tagger.tags
    sets = np.ones((len(text.vocabulary), len(text.tags)), dtype=bool)
    return text, sets, learn_channel(text, sets, tagger, range(len(made)))


def chances(learned, form, tag):
    text, _, channel = learned
    row = channel.chances[channel.rows[text.vocabulary.index(form)], text.tags.index(tag)]
    return dict(zip(text.tags, row))


def test_links_that_go_with_the_tag_are_believed(learned):
    assert chances(learned, "at", "PRON")["PRON"] > 0.9
    assert chances(learned, "at", "NOUN")["NOUN"] > 0.9


def test_links_that_come_whatever_the_tag_are_not(learned):
    by_tag = chances(learned, "se", "PRON")["PRON"], chances(learned, "se", "NOUN")["PRON"]
    assert by_tag[0] == pytest.approx(by_tag[1], abs=0.1)


def test_channels_are_distributions(learned):
    text, _, channel = learned
    assert channel.chances.shape[1:] == (len(text.tags), len(text.tags))
    np.testing.assert_allclose(channel.chances.sum(axis=2), 1.0)


def test_evidence_follows_what_is_believed(learned):
    text, sets, channel = learned
    evidence = channel_evidence(text, sets, channel, range(len(text.sentences)))
    assert np.all(evidence.max(axis=1) == 0.0)
    for form, least, most in (("at", -np.inf, -2.0), ("se", -0.5, 0.0)):
        words = np.nonzero(text.types == text.vocabulary.index(form))[0]
        brought = text.votes[words].argmax(axis=1)
        other = np.where(brought == text.tags.index("PRON"), text.tags.index("NOUN"), text.tags.index("PRON"))
        against = evidence[words, other] - evidence[words, brought]
        assert np.all((least <= against) & (against <= most)), form


def test_evidence_is_by_hand_what_it_should_be(learned):
    """Two tags, one link of probability .5, a channel that is right in .8: its vote counts .5 ** 4."""
    text, _, _ = learned
    votes = np.zeros_like(text.votes)
    votes[0, 0] = 0.5**4
    changed = replace(text, votes=votes)
    right = np.full((1, 3, 3), 0.1) + 0.7 * np.eye(3)
    sets = np.ones((len(text.vocabulary), 3), dtype=bool)
    sets[text.types[0], 2] = False
    channel = LinkChannel(np.zeros(len(sets), dtype=np.int32), right)
    evidence = channel_evidence(changed, sets, channel, range(len(text.sentences)))
    certainty = 0.95 * 0.5**4
    assert evidence[0].tolist() == pytest.approx(
        [0.0, np.log(1 - certainty + certainty * 0.1 / 0.8), -np.inf], rel=1e-5
    )
    assert np.all(evidence[1][sets[text.types[1]]] == 0.0)


def test_the_channel_of_a_type_is_its_counts_and_ten_of_all_types(learned):
    """Counted word by word: the rows of one type, and what all types say as if it had been seen ten times."""
    text, sets, channel = learned
    tagger = train_tagger([gold for _, gold in list(pairs(400))[:40]], rng=np.random.default_rng(1))
    everywhere, of_word = np.eye(3), np.zeros((3, 3))
    for number in range(len(text.sentences)):
        posteriors = expected_tags(text, sets, tagger, number)
        for place, word in enumerate(text.sentences[number]):
            votes = text.votes[text.words_of(number)][place]
            for tag, brought in np.ndindex(3, 3):
                seen = posteriors[place, tag] * votes[brought] / votes.sum()
                everywhere[tag, brought] += seen
                of_word[tag, brought] += seen if word == "at" else 0.0
    everywhere /= everywhere.sum(axis=1, keepdims=True)
    expected = of_word + 10.0 * everywhere
    expected /= expected.sum(axis=1, keepdims=True)
    row = channel.chances[channel.rows[text.vocabulary.index("at")]]
    np.testing.assert_allclose(row, expected, rtol=1e-5)
