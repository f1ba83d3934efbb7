"""Votes of several sources: a source word whose tag the others contradict counts less."""

import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import NothingToLearnError
from qsproj.pipelines.tagging.linked_text import read_linked_text

PRONOUNS = (("me", "PRON"), ("mich", "PRON"), ("меня", "PROPN"))
NAMES = (("Paul", "PROPN"), ("Paulus", "PROPN"), ("Павел", "PROPN"))


def translations(target, sources):
    links = make_alignment(1, 1, [(1, 1)])
    words = Sentence.from_words([target])
    return tuple(SentencePair(Sentence.from_words([form], upos=[tag]), words, links) for form, tag in sources)


def votes_of(corpus, word):
    text = read_linked_text(corpus)
    first = text.types.tolist().index(text.vocabulary.index(word))
    return dict(zip(text.tags, text.votes[first].tolist(), strict=True))


def test_a_pronoun_that_one_source_tags_as_a_name_hardly_votes_for_a_name():
    corpus = [translations("man", PRONOUNS)] * 20 + [translations("Póol", NAMES)] * 20
    of_pronoun, of_name = votes_of(corpus, "man"), votes_of(corpus, "Póol")
    assert of_pronoun["PROPN"] < 0.1
    assert of_pronoun["PRON"] > 1.0
    assert of_name["PROPN"] == pytest.approx(3.0), "names that all sources call names keep their votes"


def test_a_word_that_was_seen_once_keeps_most_of_its_vote():
    corpus = [translations("man", PRONOUNS), *[translations("Póol", NAMES)] * 20]
    assert votes_of(corpus, "man")["PROPN"] > 0.4


def test_votes_of_one_source_stay():
    corpus = [translations("man", [one]) for one in (*PRONOUNS, *NAMES)]
    assert votes_of(corpus, "man") == {"PRON": 1.0, "PROPN": 0.0}


def test_a_tag_of_one_source_alone_keeps_its_votes():
    """Only one treebank has interjections; there is nothing to compare them with."""
    corpus = [translations("waaw", (("yes", "INTJ"), ("ja", "ADV")))] * 20
    corpus += [translations("leneen", (("also", "ADV"), ("auch", "ADV")))] * 20
    assert votes_of(corpus, "waaw")["INTJ"] == pytest.approx(1.0)


def test_words_of_conventions_without_any_link_are_refused_like_others():
    source = Sentence.from_words(
        ["not", "big"], upos=["PART", "ADJ"], heads=[2, 0], deprels=["advmod", "root"]
    )
    pair = SentencePair(source, Sentence.from_words(["nicht"]), make_alignment(2, 1, []))
    with pytest.raises(NothingToLearnError, match="no target word is linked"):
        read_linked_text([(pair,)])
