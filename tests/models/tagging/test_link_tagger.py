"""Tags with those of linked words as evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.models.tagging.link_tagger import LinkTagger, link_senses, train_link_tagger, untagged
from qsproj.training.choices import SenseWeights


@pytest.fixture(scope="module")
def pairs():
    return list(AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"))


@pytest.fixture(scope="module")
def trained(pairs):
    return train_link_tagger(pairs[:20], rng=np.random.default_rng(1))


def right_tags(found, gold):
    return sum(
        one == other
        for s, g in zip(found, gold, strict=True)
        for one, other in zip(s.upos, g.upos, strict=True)
    )


def test_tags_of_linked_words_help(pairs, trained):
    """Twenty sentences teach few words; the training sentences are tagged as those that were not seen are."""
    tagger, tagged, _ = trained
    gold = [pair.target for pair in pairs[20:]]
    found = [tagger.tag(untagged(pair)) for pair in pairs[20:]]
    alone = [tagger.tagger.tag(sentence) for sentence in gold]
    words = sum(map(len, gold))
    assert right_tags(found, gold) > right_tags(alone, gold) + 0.05 * words
    seen = [pair.target for pair in pairs[:20]]
    assert [sentence.heads.tolist() for sentence in tagged] == [sentence.heads.tolist() for sentence in seen]
    share = right_tags(tagged, seen) / sum(map(len, seen))
    assert abs(share - right_tags(found, gold) / words) < 0.08
    assert right_tags(seen, seen) > right_tags(tagged, seen)


def test_tags_that_are_given_stay(pairs, trained):
    pair = pairs[30]
    some = with_columns(pair.target, upos=("X", *("_" for _ in pair.target.forms[1:])))
    tagged = trained[0].tag(replace(pair, target=some))
    assert tagged.upos[0] == "X"
    assert "_" not in tagged.upos
    assert tagged.upos[1:] == trained[0].tag(untagged(pair)).upos[1:]


def test_senses_are_links_with_known_tags():
    source = Sentence.from_words(("a", "b", "c"), upos=("NOUN", "VERB", "_"))
    target = Sentence.from_words(("x", "y"), upos=("_", "_"))
    links = make_alignment(3, 2, [(1, 1), (2, 1), (3, 1), (2, 2)], weights=[0.95, 0.4, 0.9, 0.5])
    senses = link_senses(SentencePair(source, target, links), ("NOUN", "VERB"))
    assert senses.words.tolist() == [1, 1, 2]
    np.testing.assert_allclose(senses.chances, [0.95 / 1.35, 0.4 / 1.35, 0.5])
    # The tag; then how sure the link is (0.95: three bounds, 0.4 and 0.5: one), and the tag.
    assert senses.rows.tolist() == [[0, 8], [1, 5], [1, 5]]


def test_the_likeliest_tag_is_that_of_the_formula(trained):
    """One word, one link: chances of tagger and link multiply."""
    tagger = trained[0].tagger
    source_tags = ("NOUN",)
    rng = np.random.default_rng(3)
    table = SenseWeights(rng.normal(size=(5, len(tagger.tags))).astype(np.float32), 0.6)
    pair = SentencePair(
        Sentence.from_words(("a",), upos=("NOUN",)),
        Sentence.from_words(("Haus",), upos=("_",)),
        make_alignment(1, 1, [(1, 1)], weights=[0.8]),
    )
    alone = tagger.tag_distribution(pair.target)[0]
    chances = [
        0.6 * math.log(max(alone[t], 1e-9))
        + math.log(0.2 + 0.8 * math.exp(float(table.weights[0, t]) + float(table.weights[3, t])))
        for t in range(len(tagger.tags))
    ]
    expected = tagger.tags[int(np.argmax(chances))]
    assert LinkTagger(tagger, source_tags, table).tag(pair).upos == (expected,)


def test_the_archive_gives_the_same_tags(pairs, trained):
    again = LinkTagger.from_archive(*trained[0].to_archive())
    for pair in pairs[20:24]:
        assert again.tag(untagged(pair)).upos == trained[0].tag(untagged(pair)).upos


def test_too_few_pairs_are_told(pairs):
    with pytest.raises(UsageError, match="found 3 pairs to learn tags from, expected at least 4"):
        train_link_tagger(pairs[:3], rng=np.random.default_rng(1))
