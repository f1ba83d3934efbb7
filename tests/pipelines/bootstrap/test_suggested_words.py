"""Words to ask a person about: their order, their tags, and what links say against the tagger."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.bootstrap.suggestions import (
    LinkedTags,
    suggested_words,
    targets_with_links,
    write_lexicon,
)
from tests.sentences import make_sentence


class FixedTagger:
    """Tags each word by a table of probabilities, in place of training."""

    tags = ("NOUN", "VERB", "AUX")
    unshared = None

    def __init__(self, table):
        self.table = table

    def tag_distribution(self, sentence):
        return np.array([self.table[form.lower()] for form in sentence.forms])


SURE, UNSURE, MIXED = (1.0, 0.0, 0.0), (0.6, 0.38, 0.02), (0.3, 0.7, 0.0)


def sentences(*texts):
    return [Sentence.from_words(text.split()) for text in texts]


def words_of(table, text=(), bitext=(), linked=None):
    linked = linked or LinkedTags()
    return suggested_words(
        FixedTagger(table), text=sentences(*text), bitext=sentences(*bitext), linked=linked
    )


def test_doubtful_frequent_words_come_first_with_their_tags_and_counts():
    table = {"sure": SURE, "rare": UNSURE, "often": UNSURE}
    found = words_of(table, ["often sure rare", "Often sure"], ["often often often"])
    assert [word.form for word in found] == ["often", "rare", "sure"]
    first = found[0]
    assert first.tags == ("NOUN", "VERB")
    assert (first.in_text, first.in_bitext) == (2, 3)
    assert first.wrong == pytest.approx(0.8)
    assert first.example == "[often] sure rare"


def test_without_text_the_bitext_is_judged():
    (word,) = words_of({"often": UNSURE}, bitext=["often often"])
    assert (word.in_text, word.in_bitext, word.wrong) == (0, 2, pytest.approx(0.8))


def test_a_word_counts_for_others_of_its_stem():
    table = {"lonely": UNSURE, "walked": MIXED, "walker": MIXED, "walks": MIXED}
    order = [word.form for word in words_of(table, ["lonely walked walker walks"])]
    assert order == ["walked", "lonely", "walker", "walks"]


def test_words_of_a_lexicon_are_not_suggested_again():
    table = {"sure": SURE, "often": UNSURE, "rare": UNSURE}
    how = {"text": sentences("Often rare sure"), "bitext": [], "linked": LinkedTags()}
    found = suggested_words(FixedTagger(table), **how, known={"often"})
    assert [word.form for word in found] == ["rare", "sure"]


def linked_pair(count, tag, tail="VERB"):
    source = Sentence.from_words(["x", "y"], upos=[tag, tail])
    target = Sentence.from_words(["de", "sure"])
    links = make_alignment(2, 2, [(1, 1), (2, 2)])
    return [SentencePair(source, target, links)] * count


@pytest.mark.parametrize(("count", "tag", "share"), [(30, "VERB", 1.0), (30, "NOUN", 0.0), (5, "VERB", 0.0)])
def test_frequent_words_with_other_tags_than_their_links_bring(count, tag, share):
    linked = targets_with_links(zip(linked_pair(count, tag), strict=True))[1]
    assert linked.share_against("de", "NOUN") == share
    found = words_of({"de": SURE, "some": UNSURE}, ["de some"], linked=linked)
    assert (found[0].form == "de") == (share > 0)


def test_a_convention_of_the_target_is_no_contradiction():
    """English *my* is PRON, its translation DET by the convention of the target: the links agree."""
    source = make_sentence("my house", "PRON NOUN", [2, 0], "nmod:poss root")
    pair = SentencePair(source, Sentence.from_words(["de", "sure"]), make_alignment(2, 2, [(1, 1), (2, 2)]))
    for unshared, share in ((None, 1.0), ({"PRON nmod:poss": ("DET", "det")}, 0.0)):
        linked = targets_with_links(zip([pair] * 30, strict=True), unshared)[1]
        assert linked.share_against("de", "DET") == share


def test_a_target_sentence_of_two_bitexts_counts_once():
    (pair,) = linked_pair(1, "VERB")
    once, twice = (targets_with_links([(pair,) * count])[1] for count in (1, 2))
    assert once == twice
    assert twice.counts == {"de": 1, "sure": 1}


def test_words_of_a_bitext_that_is_given_twice_are_counted_once(tmp_path):
    for name in ("source", "target"):
        sides = (getattr(pair, name) for pair in linked_pair(3, "VERB"))
        write_conllu((replace(one, sent_id=str(at)) for at, one in enumerate(sides)), tmp_path / name)
    (tmp_path / "links").write_text("0-0 1-1\n" * 3)
    files = AlignedFiles(*(str(tmp_path / name) for name in ("source", "target", "links")))
    tagger, words = FixedTagger({"de": UNSURE, "sure": SURE}), tmp_path / "words"
    write_lexicon(words, tagger=tagger, text=[], corpora=[files, files])
    assert words.read_text().splitlines()[1].split("\t")[:4] == ["de", "NOUN VERB", "0", "3"]
