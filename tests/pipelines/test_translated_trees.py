"""Treebanks translated word for word: what links say of words, and what stays of a sentence."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.pipelines import translated_trees as translations
from qsproj.pipelines.translated_trees import WordTranslations, lexicon_of, linked_words, translated_trees
from tests.sentences import make_sentence

DOGS = make_sentence(
    "The dogs of Rome , 3 bark",
    "DET NOUN ADP PROPN PUNCT NUM VERB",
    [2, 7, 4, 2, 6, 2, 0],
    "a b c d e f root",
)


def pair(source, target, links, weights=None):
    sides = make_sentence(*source), make_sentence(*target)
    return SentencePair(*sides, make_alignment(len(sides[0]), len(sides[1]), links, weights=weights))


def dogs(form, tag="NOUN", weight=1.0):
    return pair(("Dogs", "NOUN"), (form, tag), [(1, 1)], [weight])


def test_translations_are_counted_by_links_and_have_the_tag_of_their_word():
    linked = [dogs("Hunde")] * 3 + [dogs("hunde", weight=0.5)] * 2 + [dogs("Hunden", weight=0.75)] * 2
    counts = linked_words([*linked, dogs("bellen", "VERB"), *[dogs("die", weight=0.2)] * 50])
    lexicon = lexicon_of(counts)
    assert list(lexicon) == [("dogs", "NOUN")]
    found = lexicon["dogs", "NOUN"]
    assert found.words == (("hunde", "NOUN"), ("hunden", "NOUN"))
    np.testing.assert_allclose(found.shares, [4 / 5.5, 1.5 / 5.5])


@pytest.mark.parametrize(
    "linked",
    [
        [dogs("Hunde")],
        [dogs("Hunde")] * 2 + [dogs("bellen", "VERB")] * 9,
        [dogs("Hunde", weight=0.2)] * 50,
    ],
)
def test_what_links_seldom_say_is_no_translation(linked):
    assert lexicon_of(linked_words(linked)) == {}


def test_links_without_weights_count_one():
    linked = linked_words([pair(("a b", "X X"), ("c d", "X X"), [(1, 1), (2, 2)])] * 2)
    assert linked == {("a", "X"): {("c", "X"): 2.0}, ("b", "X"): {("d", "X"): 2.0}}


def test_words_are_translated_and_all_else_stays(tmp_path):
    lexicon = {
        ("the", "DET"): WordTranslations((("die", "PRON"),), np.ones(1)),
        ("dogs", "NOUN"): WordTranslations((("hunde", "NOUN"),), np.ones(1)),
        ("bark", "NOUN"): WordTranslations((("borke", "NOUN"),), np.ones(1)),
        ("3", "NUM"): WordTranslations((("drei", "NUM"),), np.ones(1)),
    }
    path = tmp_path / "dogs.conllu"
    path.write_text("1\tDogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    made, read = translated_trees([DOGS, *read_conllu(path)], lexicon, rng=np.random.default_rng(1))
    assert made.forms == ("die", "hunde", "_", "Rome", ",", "3", "_")
    assert (made.upos, made.deprels) == (("PRON", *DOGS.upos[1:]), DOGS.deprels)
    assert made.heads.tolist() == DOGS.heads.tolist()
    # Nothing of the lines that were read is written beside other words.
    assert (read.forms, read.layout) == (("hunde",), None)


def test_translations_are_drawn_as_often_as_they_are_seen():
    words = tuple((form, "VERB") for form in ("bellen", "bellt", "bellte"))
    lexicon = {("bark", "VERB"): WordTranslations(words, np.array([0.6, 0.3, 0.1]))}

    def drawn(seed):
        trees = translated_trees([DOGS] * 2000, lexicon, rng=np.random.default_rng(seed))
        return [tree.forms[-1] for tree in trees]

    counts = Counter(drawn(1))
    for form, share in (("bellen", 0.6), ("bellt", 0.3), ("bellte", 0.1)):
        assert counts[form] / 2000 == pytest.approx(share, abs=0.035)
    assert drawn(1) == drawn(1) != drawn(2)


def test_shares_are_added_up_once(monkeypatch):
    added = []
    monkeypatch.setattr(
        translations, "np", SimpleNamespace(cumsum=lambda shares: added.append(1) or np.cumsum(shares))
    )
    words = WordTranslations((("bellt", "VERB"), ("bellte", "VERB")), np.array([0.75, 0.25]))
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    places = [words.words.index(words.draw(rng)) for _ in range(50)]
    assert places == np.searchsorted([0.75, 1.0], again.random(50), side="right").tolist()
    assert len(added) == 1
