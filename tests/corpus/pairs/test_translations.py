"""Translations of one target sentence, from several corpora that need not have the same sentences."""

from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment


def pairs(language, targets):
    return [
        SentencePair(
            Sentence.from_words([f"{language}{number}"]),
            Sentence.from_words(target.split()),
            make_alignment(1, len(target.split()), []),
        )
        for number, target in enumerate(targets)
    ]


def joined(*corpora):
    return [
        (" ".join(together[0].target.forms), [pair.source.forms[0] for pair in together])
        for together in join_same_targets(corpora)
    ]


def test_each_sentence_comes_once_with_all_its_translations():
    found = joined(
        pairs("e", ["a b", "c", "d"]), pairs("s", ["d", "x", "a b"]), pairs("g", ["x", "a b", "y"])
    )
    assert found == [
        ("a b", ["e0", "s2", "g1"]),
        ("c", ["e1"]),
        ("d", ["e2", "s0"]),
        ("x", ["s1", "g0"]),
        ("y", ["g2"]),
    ]


def test_a_sentence_that_comes_twice_is_joined_in_its_order():
    found = joined(pairs("e", ["a", "a", "a"]), pairs("s", ["a", "b", "a"]))
    assert found == [("a", ["e0", "s0"]), ("a", ["e1", "s2"]), ("a", ["e2"]), ("b", ["s1"])]


def test_one_corpus_stays_as_it_is():
    assert joined(pairs("e", ["a", "b", "a"])) == [("a", ["e0"]), ("b", ["e1"]), ("a", ["e2"])]
