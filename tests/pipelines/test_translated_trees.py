"""Treebanks translated word for word: what links say of words, and what stays of a sentence."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_heads
from qsproj.corpus.pairs.translations import link_strengths
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.pipelines import translated_trees as translations
from qsproj.pipelines.translated_trees import (
    SEEN,
    MissingWords,
    WordTranslations,
    lexicon_of,
    linked_words,
    make_translator,
    translated_trees,
)
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


# Ukrainian has no word for *the* and *of*; the name stays unlinked as well, but is no function word.
BARKED = make_sentence("The dogs of Rome bark", "DET NOUN ADP PROPN VERB", [2, 5, 4, 2, 0], "a b c d root")
BARKS = ("psy Rymu haukayut", "NOUN PROPN VERB")


def unlinked(*links, target=BARKS):
    words = make_sentence(*target)
    return SentencePair(BARKED, words, make_alignment(len(BARKED), len(words), links))


def observed(*pairs):
    missing = MissingWords()
    for one in pairs:
        missing.observe(one.source, link_strengths(one.alignment).max(axis=1).tolist())
    return missing


def test_function_words_without_translation_are_left_out():
    translate = make_translator([unlinked((2, 1), (4, 2), (5, 3))] * 2000)
    (made,) = translate([BARKED], np.random.default_rng(1), complete=False)
    assert (made.forms, made.upos) == (("psy", "rymu", "haukayut"), ("NOUN", "PROPN", "VERB"))
    assert (made.heads[1:].tolist(), made.deprels) == ([3, 1, 0], ("b", "d", "root"))
    (made,) = translate([BARKED], np.random.default_rng(1), complete=True)
    assert len(made) == len(BARKED)


def test_words_are_left_out_as_often_as_they_have_no_link():
    german = ("Die Hunde von Rom bellen", "DET NOUN ADP PROPN VERB")
    whole = unlinked(*((word, word) for word in range(1, 6)), target=german)
    without = unlinked(*((word, word) for word in range(2, 6)), target=german)
    missing = observed(*[whole] * 700, *[without] * 300)
    rng = np.random.default_rng(1)
    made = [missing.left_out(BARKED, rng) for _ in range(2000)]
    assert np.mean(["The" not in tree.forms for tree in made]) == pytest.approx(0.3, abs=0.04)
    assert all("of" in tree.forms for tree in made)


def test_rare_words_are_left_out_as_often_as_others_of_their_tag():
    missing = observed(*[unlinked((2, 1), (4, 2), (5, 3))] * 4)
    of_tag = 4 / (4 + SEEN)
    assert missing.share(BARKED, 1) == pytest.approx((4 + SEEN * of_tag) / (4 + SEEN))
    other = make_sentence("A dog", "DET NOUN", [2, 0], "a root")
    assert missing.share(other, 1) == pytest.approx(of_tag)


@pytest.mark.parametrize(
    "links",
    [
        # The heads of the function words have no link either: a free translation.
        [(5, 3)],
        # The nouns have none, but are not function words.
        [(1, 1), (3, 2), (5, 3)],
    ],
)
def test_other_words_stay(links):
    missing = observed(*[unlinked(*links)] * 100)
    assert missing.left_out(BARKED, np.random.default_rng(1)) is BARKED


def test_words_with_dependents_stay_and_so_do_incomplete_trees():
    missing = observed(*[unlinked((2, 1), (4, 2), (5, 3))] * 2000)
    inner = make_sentence("The dogs out of Rome", "DET NOUN ADP ADP PROPN", [2, 0, 5, 3, 2], "a b c d e")
    assert missing.left_out(inner, np.random.default_rng(1)).forms == ("dogs", "out", "Rome")
    partial = with_heads(BARKED, [-1, -1, 5, 4, 2, 0])
    assert missing.left_out(partial, np.random.default_rng(1)) is partial
