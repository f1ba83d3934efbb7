"""Votes, scripts and lexicons: which tags they leave, and with what weight."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.tagging.linked_text import LinkedText, read_linked_text
from qsproj.pipelines.tagging.script_rules import ScriptRules, is_ordinal
from qsproj.pipelines.tagging.type_dictionary import (
    allowed_tags,
    corrected_shares,
    type_shares,
    type_weights,
    with_seen_tags,
)
from tests.pipelines.tagging.made_bitext import made_pairs

TAGS = ("ADJ", "NOUN", "NUM", "PROPN", "PUNCT", "SYM", "VERB")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("!", {"PUNCT", "SYM"}),
        ("»", {"PUNCT", "SYM"}),
        ("%", {"PUNCT", "SYM"}),
        ("。", {"PUNCT", "SYM"}),
        ("1,5", {"NUM"}),
        ("٣", {"NUM"}),
        ("20.", {"ADJ", "NOUN", "NUM", "SYM", "VERB", "PROPN"}),
        ("haus", {"ADJ", "NOUN", "NUM", "SYM", "VERB"}),
        ("Haus", {"ADJ", "NOUN", "NUM", "SYM", "VERB", "PROPN"}),
        ("北京", {"ADJ", "NOUN", "NUM", "SYM", "VERB", "PROPN"}),
    ],
)
def test_scripts_settle_signs_numbers_and_capitals(form, expected):
    assert ScriptRules().allowed(form, TAGS) == expected
    days = ScriptRules(of_numbers=frozenset({"ADJ", "X"})).allowed(form, TAGS)
    assert days == (expected | {"ADJ"} if expected == {"NUM"} else expected), (
        "1945 is an adjective in Russian"
    )


@pytest.mark.parametrize(
    ("form", "is_one"),
    [
        *(("1945", True), ("2010", True), ("3-й", True), ("80-х", True), ("14го", True)),
        *(("945", False), ("3000", False), ("1,5", False), ("17", False), ("3-", False), ("Ан-2", False)),
    ],
)
def test_ordinals_in_digits_are_adjectives_where_a_language_has_them(form, is_one):
    assert is_ordinal(form) == is_one
    plain, russian = ScriptRules(), ScriptRules.of((), language="ru")
    assert russian.allowed(form, TAGS) == ({"ADJ"} if is_one else plain.allowed(form, TAGS))
    assert russian.allowed(form, ("NUM", "X")) == plain.allowed(form, ("NUM", "X"))


@pytest.mark.parametrize(
    ("words", "foreign"),
    [
        ("год мир хлеб вода the", True),
        ("国家 经济 学生 世界 发展 IBM", True),
        ("год мир хлеб вода XIV", False),
        ("година мир хлеб voda grad", False),  # two scripts of one language, as in Serbian
        ("経済 国家 学生 世界 する ので IBM", False),
        ("year peace bread water год", False),
    ],
)
def test_latin_words_in_texts_of_other_scripts_are_foreign(words, foreign):
    forms = words.split()
    found = allowed_tags(forms, (*TAGS, "X"), {})[-1]
    assert (found.tolist() == [False] * len(TAGS) + [True]) == foreign
    assert allowed_tags(forms, TAGS, {})[-1].any(), "tags without X"


def test_a_lexicon_and_tagged_sentences_know_foreign_words():
    words, tags = ("год", "мир", "хлеб", "вода", "the"), ("NOUN", "X")
    assert allowed_tags(words, tags, {"the": ("NOUN",)})[-1].tolist() == [True, False]
    votes = np.zeros((5, 2), dtype=np.float32)
    text = LinkedText(
        tags=tags,
        sentences=(words,),
        starts=np.array([0, 5]),
        vocabulary=words,
        types=np.arange(5, dtype=np.int32),
        votes=votes,
        first=None,
        links=0,
    )
    seen = with_seen_tags(allowed_tags(words, tags, {}), text, {"the": {"NOUN": 1}})
    assert seen[-1].tolist() == [True, True]


@pytest.fixture(scope="module")
def text():
    return read_linked_text((pair,) for pair in made_pairs(100, wrong=0.1))


def test_votes_are_powers_of_link_probabilities():
    text = read_linked_text((pair,) for pair in made_pairs(3))
    assert text.links == len(text.types) == text.starts[-1]
    assert np.allclose(text.votes.max(axis=1), 0.95**4)
    assert np.count_nonzero(text.votes) == len(text.types)


def drawn(pairs, most, seed):
    return read_linked_text(((pair,) for pair in pairs), most=most, rng=np.random.default_rng(seed))


def test_of_more_sentences_than_are_kept_each_is_as_likely():
    pairs = [
        SentencePair(
            Sentence.from_words(["a"], upos=["NOUN"]),
            Sentence.from_words([f"w{number}"]),
            make_alignment(1, 1, [(1, 1)]),
        )
        for number in range(8)
    ]
    counts = dict.fromkeys([f"w{number}" for number in range(8)], 0)
    for seed in range(400):
        text = drawn(pairs, 3, seed)
        words = [words[0] for words in text.sentences]
        assert words == sorted(set(words))  # three, in their order
        assert (len(words), text.left_out, text.vocabulary) == (3, 5, tuple(words))
        for word in words:
            counts[word] += 1
    # 150 are expected, with a standard deviation of 9.7.
    assert all(110 < count < 190 for count in counts.values()), counts


def test_a_sentence_that_is_not_drawn_gives_no_tag():
    source, target = Sentence.from_words(["x"], upos=["INTJ"]), Sentence.from_words(["u"])
    other = Sentence.from_words(["x"], upos=["NOUN"]), Sentence.from_words(["v"])
    pairs = [SentencePair(*sides, make_alignment(1, 1, [(1, 1)])) for sides in ((source, target), other)]
    found = {text.vocabulary: text.tags for text in (drawn(pairs, 1, seed) for seed in range(9))}
    assert found == {("u",): ("INTJ",), ("v",): ("NOUN",)}


def test_what_is_drawn_has_its_own_votes():
    pairs = list(made_pairs(60, wrong=0.1))
    whole, some = drawn(pairs, 60, 1), drawn(pairs, 20, 1)
    assert whole.left_out == 0
    places = iter(range(60))
    for number, words in enumerate(some.sentences):
        place = next(
            place
            for place in places
            if whole.sentences[place] == words
            and (whole.votes[whole.words_of(place)] == some.votes[some.words_of(number)]).all()
        )
        numbers = some.types[some.words_of(number)]
        assert tuple(some.vocabulary[number] for number in numbers) == whole.sentences[place]


def test_parts_of_a_split_token_have_no_votes():
    source = Sentence.from_words(["to", "house", "!"], upos=["ADP", "NOUN", "PUNCT"])
    target = Sentence.from_words(["zum", "Haus", "!"])
    links = make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)])
    text = read_linked_text(
        [(SentencePair(source, target, links),)], more_tags=["DET"], contractions={"zum": ("zu", "dem")}
    )
    assert text.sentences == (("zu", "dem", "Haus", "!"),)
    assert text.tags == ("ADP", "DET", "NOUN", "PUNCT")
    assert text.votes.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert text.links == 2


def test_shares_add_up(text):
    shares = type_shares(text, allowed_tags(text.vocabulary, text.tags, {}))
    assert np.allclose(shares.sum(axis=1), 1.0)
    word = text.vocabulary.index("Hund")
    assert shares[word, text.tags.index("NOUN")] > 0.8


def test_the_lexicon_has_the_last_word(text):
    allowed = allowed_tags(text.vocabulary, text.tags, {"hund": ("ADJ", "VERB")})
    row = allowed[text.vocabulary.index("Hund")]
    assert [tag for tag, may_be in zip(text.tags, row) if may_be] == ["ADJ", "VERB"]


def test_tagged_words_overrule_links(text):
    shares = type_shares(text, allowed_tags(text.vocabulary, text.tags, {}))
    word, adjective = text.vocabulary.index("Hund"), text.tags.index("ADJ")
    assert corrected_shares(shares, text, {"hund": {"ADJ": 9}})[word, adjective] >= 0.9
    assert np.allclose(corrected_shares(shares, text, {}), shares)


def test_a_type_without_a_tag_may_have_all_that_are_allowed():
    allowed = np.array([[True, True, False], [True, True, True]])
    shares = np.array([[0.0, 0.0, 0.0], [0.8, 0.2, 0.0]])
    weights = type_weights(shares, allowed, np.zeros(2, dtype=bool), least=0.25)
    assert weights.tolist() == [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]


def test_shares_of_weighted_types_count_as_weights():
    shares = np.array([[0.5, 0.25, 0.25], [0.8, 0.2, 0.0]])
    weights = type_weights(shares, np.ones((2, 3), dtype=bool), np.array([False, True]), least=0.3)
    assert weights.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.25, 0.0]]


def leaning(text, allowed, word):
    """Return the shares of a type word by word: its votes, twice those of its lower case and of its stem."""

    def votes_of(fits):
        sums = [0.0] * len(text.tags)
        for number, votes in zip(text.types.tolist(), text.votes.tolist(), strict=True):
            if fits(text.vocabulary[number]):
                sums = [a + b * may for a, b, may in zip(sums, votes, allowed[number], strict=True)]
        return sums

    def shares(sums):
        return [value / (sum(sums) or 1.0) for value in sums]

    def beginning(form):
        return form.lower()[: max(4, len(form) - 3)]

    own = votes_of(lambda form: form == word)
    lower = shares(votes_of(lambda form: form.lower() == word.lower()))
    stem = shares(votes_of(lambda form: beginning(form) == beginning(word)))
    row = allowed[text.vocabulary.index(word)]
    return shares([a + (2 * b + 2 * c) * may for a, b, c, may in zip(own, lower, stem, row, strict=True)])


def test_rare_forms_take_votes_of_forms_of_the_same_stem():
    """*Hausers* is linked to verbs alone, but *Hauses* and *hauses* are nouns; *Hausarzt* is another stem."""
    forms = ["Hauses", "hauses", "Hausers", "Hausarzt", "Hausers", "hause", "Hauses"]
    tags = ["NOUN", "NOUN", "VERB", "ADJ", "VERB", "PROPN", "NOUN"]
    links = make_alignment(7, 7, [(i, i) for i in range(1, 8)], weights=[0.9, 0.8, 0.7, 0.9, 0.5, 0.9, 1.0])
    pair = SentencePair(Sentence.from_words(["w"] * 7, upos=tags), Sentence.from_words(forms), links)
    text = read_linked_text([(pair,)])
    allowed = allowed_tags(text.vocabulary, text.tags, {})
    shares = type_shares(text, allowed)
    for row, word in zip(shares, text.vocabulary, strict=True):
        np.testing.assert_allclose(row, leaning(text, allowed, word), atol=1e-6)
    assert shares[text.vocabulary.index("Hausers"), text.tags.index("NOUN")] > 0.0
