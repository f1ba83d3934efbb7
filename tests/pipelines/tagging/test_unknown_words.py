"""Words that the bitext lacks are rarely of a closed class, and begin as the words that they agree with."""

import math

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.pipelines.tagging import type_dictionary
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.tagging.type_dictionary import prefix_agreement, prior_of_unknown, with_prior_of_unknown


def test_words_that_occur_once_show_how_rare_closed_classes_are():
    """Twenty sentences of *der*, a noun that occurs once, and *lief* or *sang*."""
    pairs = []
    for number in range(20):
        source = Sentence.from_words(["w"] * 3, upos=["DET", "NOUN", "VERB"])
        target = Sentence.from_words(["Der" if number % 2 else "der", f"Wort{number}", "sang"])
        pairs.append(SentencePair(source, target, make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)])))
    text = read_linked_text((pair,) for pair in pairs)
    assert text.tags == ("DET", "NOUN", "VERB")
    # One vote is added to each tag: of 20 + 3 votes of single words none but the added one is for DET.
    expected = math.log((1 / 23) / (21 / 63))
    np.testing.assert_allclose(prior_of_unknown(text), [expected, 0.0, 0.0])


def test_only_unknown_words_of_letters_get_the_prior():
    tagged = [
        Sentence.from_words(
            ["der", "Hund", "sah", "3", "Katzen", "."], upos=["DET", "NOUN", "VERB", "NUM", "NOUN", "PUNCT"]
        )
    ]
    tagger = train_tagger(tagged, rng=np.random.default_rng(1))
    prior = np.array([-2.0 if tag == "DET" else 0.0 for tag in tagger.tags])
    adapted = with_prior_of_unknown(tagger, ["der", "HUND", "sah", ".", "17"], prior)
    forms = ("Der", "Hund", "sah", "x", "Xy", "XY", "17", ".", "-")
    gained = adapted.emissions(forms) - tagger.emissions(forms)
    expected = [prior if form in ("x", "Xy", "XY") else 0 * prior for form in forms]
    np.testing.assert_allclose(gained, expected, atol=0.01)


def test_known_words_are_known_composed_or_not():
    tagged = [Sentence.from_words(["la", "donna", "va"], upos=["DET", "NOUN", "VERB"])]
    tagger = train_tagger(tagged, rng=np.random.default_rng(1))
    prior = np.array([-2.0 if tag == "DET" else 0.0 for tag in tagger.tags])
    adapted = with_prior_of_unknown(tagger, ["La", "citta\u0300", "donna"], prior)
    forms = ("la", "La", "citt\u00e0", "donna", "uomo")
    gained = adapted.emissions(forms) - tagger.emissions(forms)
    expected = [prior if form == "uomo" else 0 * prior for form in forms]
    np.testing.assert_allclose(gained, expected, atol=0.01)


def test_projected_taggers_doubt_that_unknown_words_are_determiners(monkeypatch):
    """*-ogo* ends the determiners of most sentences, and adjectives that occur once each."""
    pairs = []
    for number in range(120):
        words, tags = [("mogo", "svogo")[number % 2], "slovo", "je"], ["DET", "NOUN", "VERB"]
        if number % 10 == 0:
            words[0], tags[0] = f"bel{'abcdefghijkl'[number // 10]}ogo", "ADJ"
        links = make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)])
        source = Sentence.from_words(["w"] * 3, upos=tags)
        pairs.append(SentencePair(source, Sentence.from_words(words), links))

    def determiners():
        tagger = project_tags(((pair,) for pair in pairs), rng=np.random.default_rng(1)).tagger
        found = [
            tagger.tag_distribution(Sentence.from_words([word, "slovo", "je"])) for word in ("dogo", "mogo")
        ]
        return [probabilities[0, tagger.tags.index("DET")] for probabilities in found]

    unknown, known = determiners()
    monkeypatch.setattr(type_dictionary, "prior_of_unknown", lambda text: np.zeros(len(text.tags)))
    before, known_before = determiners()
    assert unknown < 0.7 * before
    assert known == pytest.approx(known_before, abs=0.01) and known > 0.9


def _pair(words, tags):
    links = make_alignment(len(tags), len(tags), [(at, at) for at in range(1, len(tags) + 1)])
    source = Sentence.from_words(["w"] * len(tags), upos=tags)
    return (SentencePair(source, Sentence.from_words(words), links),)


def test_neighbours_are_alike_if_they_begin_alike():
    sentences = [["Albaytu", "alkabir", "al", "alkabir", ".", "alkabir", "Alkabir", "kabir"], ["albaytu"]]
    # Of Albaytu-alkabir and Alkabir-kabir one; signs, short words and the same word do not count.
    assert prefix_agreement(sentences) == 0.5
    assert prefix_agreement([["a", "b"], []]) == 0.0


def test_the_beginning_of_the_word_before_tells_the_tag_of_an_unknown_word():
    """An adjective has the article of its noun; a noun after a noun without one is its possessor."""
    pairs = []
    for number in range(240):
        one = "kmn"[number % 3] + "aeiou"[number % 5] + "bdgklmnprstz"[number % 12]
        other = "bdg"[number // 2 % 3] + "aeiou"[number // 5 % 5] + "bdgklmnprstz"[number // 7 % 12]
        agrees = number % 2
        words = ["al" * agrees + one, "al" + other, "ja"]
        pairs.append(_pair(words, ["NOUN", "ADJ" if agrees else "NOUN", "VERB"]))
    tagger = project_tags(pairs, rng=np.random.default_rng(1)).tagger
    assert tagger.tag_words(("alfuz", "alrux", "ja")) == ("NOUN", "ADJ", "VERB")
    assert tagger.tag_words(("fuz", "alrux", "ja")) == ("NOUN", "NOUN", "VERB")
