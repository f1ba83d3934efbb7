"""Translations of one target sentence, from several corpora that need not have the same sentences."""

from dataclasses import replace

import pytest

from qsproj.corpus.pairs.translations import join_same_targets
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from tests.sentences import make_sentence


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


def cut(text, *pieces):
    """Return pairs of a verse cut into pieces of words ``a b|c``, each word linked to its translation."""
    made = []
    for number, piece in enumerate(pieces, start=1):
        words = piece.split()
        size, places = len(words), range(1, len(words) + 1)
        source = make_sentence(piece.upper(), " ".join(["X"] * size), [0, *places[:-1]])
        name = text if len(pieces) == 1 else f"{text}.{number}"
        target = replace(Sentence.from_words(words), sent_id=name)
        links = make_alignment(size, size, [(place, place) for place in places], weights=[0.5] * size)
        made.append(SentencePair(source, target, links))
    return made


def linked(pair):
    """Return the linked words of a pair, spelt as on both sides, and the number of roots of its source."""
    words = [(pair.source.forms[i - 1], pair.target.forms[j - 1]) for i, j in pair.alignment.links.tolist()]
    assert pair.alignment.weights.tolist() == [0.5] * len(words)
    return " ".join(f"{one}{other}" for one, other in words), (pair.source.heads[1:] == 0).sum()


@pytest.mark.parametrize("pieces", [["a b c d e f"], ["a b c", "d e f"], ["a", "b c d", "e f"], ["e f"]])
def test_parts_of_a_verse_cut_elsewhere_are_joined_by_place(pieces):
    first = [*cut("MAT_1:1", "a b"), *cut("MAT_1:2", "a b", "c d e f"), *cut("MAT_1:3", "c d")]
    found = list(join_same_targets([first, cut("MAT_1:2", *pieces)]))
    assert [together[0] for together in found] == first
    assert not any(found[number][1:] for number in (0, 3))
    for number, words in ((1, "a b"), (2, "c d e f")):
        expected = []
        for piece in pieces:
            common = [word for word in piece.split() if word in words.split()]
            if common:
                # Only a piece that holds the whole sentence tells its root.
                whole = len(common) == len(words.split())
                expected.append((" ".join(f"{word.upper()}{word}" for word in common), int(whole)))
        assert [linked(pair) for pair in found[number][1:]] == expected
        assert all(" ".join(pair.target.forms) == words for pair in found[number])


def test_pieces_of_other_words_stay_alone():
    found = joined_words(cut("1", "a b", "c"), cut("1", "a x", "c"))
    assert found == [("a b", 1), ("c", 2), ("a x", 1)]


def joined_words(*corpora):
    return [(" ".join(one[0].target.forms), len(one)) for one in join_same_targets(corpora)]
