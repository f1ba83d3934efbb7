"""Frequent words that links hardly reach or contradict: made bitexts in which one word is linked rarely."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.tagging.function_words import contradictions, shares_of_types
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.tagging.type_dictionary import allowed_tags, type_sets

OPTIONS = TagProjectionOptions()


def text_with(brought, *, linked, word="di", others=1.0):
    """Return 200 sentences *ana WORD gis* whose second word is linked to the tags of ``brought`` by turns."""
    pairs = []
    for number in range(200):
        source = Sentence.from_words(
            ["x", "y", "sees"], upos=["NOUN", brought[number % len(brought)], "VERB"]
        )
        links = make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)], weights=[others, linked, others])
        pairs.append((SentencePair(source, Sentence.from_words(["ana", word, "gis"]), links),))
    return read_linked_text(pairs)


def tags_of(text, word):
    """Return the tags that a word may have."""
    allowed = allowed_tags(text.vocabulary, text.tags, {})
    shares = shares_of_types(text, allowed, OPTIONS)
    sets = type_sets(shares, allowed, least=OPTIONS.least)[text.vocabulary.index(word)]
    return {tag for tag, kept in zip(text.tags, sets, strict=True) if kept}


def test_a_rarely_linked_word_may_be_a_function_word_but_no_conjunction():
    """*di* is linked to *and* above all, to *the* and *will* now and then."""
    text = text_with(["CCONJ"] * 5 + ["DET"] * 2 + ["AUX"] * 3, linked=0.6)
    assert tags_of(text, "di") == {"AUX", "DET"}
    assert tags_of(text, "gis") == {"VERB"}


@pytest.mark.parametrize(
    ("conjunctions", "expected"), [(13, {"AUX", "DET"}), (14, {"AUX", "DET"}), (17, {"CCONJ"})]
)
def test_links_to_conjunctions_must_agree_more(conjunctions, expected):
    """In 2,000 verses *di* has two thirds of its links to *and*; German *aber* has 84%."""
    brought = ["CCONJ"] * conjunctions + ["DET", "AUX"] * 4
    assert tags_of(text_with(brought[:20], linked=0.6), "di") == expected


def test_of_several_sources_the_first_decides_for_frequent_words():
    """*kein* is a determiner in the first treebank, an adverb in two; only these link *oft*."""
    words = [f"w{number}" for number in range(1500)]

    def translated(word, tag):
        source = Sentence.from_words(["x", "y"], upos=[tag, "NOUN"])
        linked = [] if tag == "X" else [(1, 1)]
        return SentencePair(
            source, Sentence.from_words([word, "Haus"]), make_alignment(2, 2, [*linked, (2, 2)])
        )

    def sentence(word, *tags):
        return tuple(translated(word, tag) for tag in tags)

    corpus = [sentence("kein", "DET", "ADV", "ADV")] * 20 + [sentence("oft", "X", "ADV", "ADV")] * 20
    corpus += [sentence(word, "NOUN", "VERB", "VERB") for word in words]
    text = read_linked_text(corpus)
    assert tags_of(text, "kein") == {"DET"}
    assert tags_of(text, "oft") == {"ADV"}, "the first source has no votes for it"
    assert tags_of(text, words[0]) == {"VERB"}, "the majority decides for rare words"


@pytest.mark.parametrize("weight", [0.45, 0.55, 0.7])
@pytest.mark.parametrize("adpositions", [12, 13, 15, 17])
def test_links_that_agree_are_believed_however_few(weight, adpositions):
    """*de* has 60 to 85% of its links to adpositions, and a twentieth to a third of the usual votes."""
    brought = ["ADP"] * adpositions + ["DET", "AUX", "PRON", "NOUN"] * 2
    text = text_with(brought[:20], linked=weight, word="de")
    assert tags_of(text, "de") == {"ADP"}


@pytest.mark.parametrize(
    "case", [{"linked": 0.9}, {"linked": 0.4, "others": 0.7}, {"linked": 0.6, "word": ","}]
)
def test_other_words_keep_the_tags_of_their_links(case):
    """Words with many links, words of a bitext in which no word has many, and signs."""
    text = text_with(["CCONJ"] * 5 + ["PUNCT"] * 3 + ["AUX"] * 2, **case)
    word = case.get("word", "di")
    assert tags_of(text, word) == ({"PUNCT"} if word == "," else {"CCONJ", "AUX"})


def reflexive_text(*, linked):
    """Return *se* where pronouns stand, linked in some sentences to AUX and PRON by turns."""
    tags = {"me": "PRON", "le": "PRON", "nos": "PRON", "les": "PRON", "se": "AUX", "ha": "AUX"}
    pairs = []
    for number in range(200):
        for word, tag in tags.items():
            verb = "visto" if word == "ha" else "ve"
            upos = "PRON" if word == "se" and number % 2 else tag
            source = Sentence.from_words(["x", "y", "sees"], upos=["NOUN", upos, "VERB"])
            links = [(1, 1), (2, 2), (3, 3)] if word != "se" or number < linked else [(1, 1), (3, 3)]
            target = Sentence.from_words(["ana" if word != "ha" else "y", word, verb])
            pairs.append((SentencePair(source, target, make_alignment(3, 3, links)),))
    return read_linked_text(pairs)


@pytest.mark.parametrize(("linked", "expected"), [(20, {"PRON"}), (120, {"AUX", "PRON"})])
def test_rarely_linked_words_have_the_tags_of_words_in_similar_places(linked, expected):
    assert tags_of(reflexive_text(linked=linked), "se") == expected


NOUNS, VERBS = ("tad", "mam", "ci", "cath", "afon", "mynydd"), ("gwel", "clyw", "car", "dal", "torr")


def copula_pairs(*, linked):
    """Return verb-initial sentences; a third begins with *mae*, rarely linked, to PRON at times."""
    rng = np.random.default_rng(1)
    pairs = []
    for number in range(900):
        first, second = (NOUNS[int(rng.integers(len(NOUNS)))] for _ in range(2))
        copula = number % 3 == 0
        verb = "mae" if copula else VERBS[int(rng.integers(len(VERBS)))]
        tag = ("PRON", "AUX", "VERB", "DET")[number // 3 % 4] if copula else "VERB"
        source = Sentence.from_words(["a", "b", "c", "."], upos=[tag, "NOUN", "NOUN", "PUNCT"])
        links = [(1, 1), (2, 2), (3, 3), (4, 4)]
        if copula and number // 3 >= linked:
            links = links[1:]
        target = Sentence.from_words([verb, first, second, "."])
        alignment = make_alignment(4, 4, links, weights=[0.95] * len(links))
        pairs.append((SentencePair(source, target, alignment),))
    return pairs


def test_a_copula_that_is_rarely_linked_is_no_pronoun():
    tagger = project_tags(copula_pairs(linked=24), rng=np.random.default_rng(1), columns=()).tagger
    assert tagger.tag_words(("mae", "ci", "afon", "."))[0] in {"AUX", "VERB"}


class FixedTagger:
    """A tagger with one tag for each word."""

    def __init__(self, tags):
        self.tags = tags

    def tag_words(self, forms):
        return [self.tags[form] for form in forms]


def test_words_tagged_against_their_links_are_listed():
    """*di* is CCONJ by 80% of its links; *ana* and *gis* have the tags of theirs."""
    text = text_with(["CCONJ"] * 8 + ["DET", "AUX"], linked=0.9)
    tags = {"ana": "NOUN", "gis": "VERB", "di": "AUX"}
    (found,) = contradictions(text, FixedTagger(tags).tag_words, range(50), OPTIONS)
    assert (found.word, found.count, found.linked[0], found.given) == ("di", 200, "CCONJ", ("AUX", 1.0))
    assert found.linked[1] == pytest.approx(0.8)
    assert str(found) == "di CCONJ 80%, tagged AUX 100%"
    assert contradictions(text, FixedTagger(tags | {"di": "CCONJ"}).tag_words, range(50), OPTIONS) == []
