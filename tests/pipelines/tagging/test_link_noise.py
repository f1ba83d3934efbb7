"""How far links are believed: what the tags of words and of their links have to do with each other."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.self_training import channel_evidence, learn_channel


def pairs(size, seed=0):
    """Return pairs and tags: *at* is PRON after *x* and NOUN after *y*; a third of its links is wrong."""
    rng = np.random.default_rng(seed)
    for number in range(size):
        tag, other = ("PRON", "NOUN") if number % 2 else ("NOUN", "PRON")
        brought = other if rng.random() < 1 / 3 else tag
        source = Sentence.from_words(["a", "b"], upos=["VERB", brought])
        target = Sentence.from_words([{"PRON": "x", "NOUN": "y"}[tag], "at"])
        links = make_alignment(2, 2, [(1, 1), (2, 2)], weights=[1.0, 0.9])
        yield SentencePair(source, target, links), Sentence.from_words(target.forms, upos=["VERB", tag])


@pytest.fixture(scope="module")
def learned():
    made = list(pairs(400))
    text = read_linked_text((pair,) for pair, _ in made)
    tagger = train_tagger([gold for _, gold in made[:40]], rng=np.random.default_rng(1))
    assert text.tags == tagger.tags == ("NOUN", "PRON", "VERB")
    sets = np.ones((len(text.vocabulary), len(text.tags)), dtype=bool)
    return text, sets, tagger, learn_channel(text, sets, tagger, range(len(made)))


def test_the_channel_is_the_share_of_links_of_each_tag(learned):
    """Counted word by word, and one link of each tag to itself and a third of one to each."""
    text, _, tagger, channel = learned
    counts = [[1 / 3 + (a == b) for b in range(3)] for a in range(3)]
    for number, forms in enumerate(text.sentences):
        posteriors = tagger.marginals(tagger.emissions(forms))
        for place, votes in enumerate(text.votes[text.words_of(number)]):
            for tag, brought in np.ndindex(3, 3):
                counts[tag][brought] += posteriors[place, tag] * votes[brought] / votes.sum()
    np.testing.assert_allclose(channel, [[n / sum(row) for n in row] for row in counts], rtol=1e-5)
    assert channel[0, 1] == pytest.approx(1 / 3, abs=0.07)


def test_evidence_is_by_hand_what_it_should_be(learned):
    """A link of probability .5 counts .5 ** 4; the channel is right in .8."""
    text, _, _, _ = learned
    votes = np.zeros_like(text.votes)
    votes[0, 0] = 0.5**4
    changed = replace(text, votes=votes)
    sets = np.ones((len(text.vocabulary), 3), dtype=bool)
    sets[text.types[0], 2] = False
    channel = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    evidence = channel_evidence(changed, sets, channel, range(len(text.sentences)))
    certainty = 0.5**4
    by_hand = [0.0, np.log(1 - certainty + certainty * 0.1 / 0.8), -np.inf]
    assert evidence[0].tolist() == pytest.approx(by_hand, rel=1e-5)
    assert np.all(evidence[1][sets[text.types[1]]] == 0.0)


def test_evidence_is_that_of_the_sentences_asked_for(learned):
    text, sets, _, channel = learned
    whole = channel_evidence(text, sets, channel, range(len(text.sentences)))
    some = channel_evidence(text, sets, channel, [7, 2])
    assert np.array_equal(some, np.concatenate([whole[text.words_of(7)], whole[text.words_of(2)]]))
