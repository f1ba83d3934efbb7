"""Votes, scripts and lexicons: which tags they leave, and with what weight."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.tagging.function_words import contradictions, distributional_tags, function_word_prior
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.type_dictionary import (
    allowed_by_script,
    allowed_tags,
    corrected,
    set_evidence,
    type_sets,
    type_shares,
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
    assert allowed_by_script(form, TAGS) == expected


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


def test_shares_add_up_and_lean_on_lower_case(text):
    shares = type_shares(text, text.votes, allowed_tags(text.vocabulary, text.tags, {}))
    assert np.allclose(shares.sum(axis=1), 1.0)
    word = text.vocabulary.index("Hund")
    assert shares[word, text.tags.index("NOUN")] > 0.8


def test_the_lexicon_has_the_last_word(text):
    allowed = allowed_tags(text.vocabulary, text.tags, {"hund": ("ADJ", "VERB")})
    row = allowed[text.vocabulary.index("Hund")]
    assert [tag for tag, may_be in zip(text.tags, row) if may_be] == ["ADJ", "VERB"]


def test_tagged_words_overrule_links(text):
    shares = type_shares(text, text.votes, allowed_tags(text.vocabulary, text.tags, {}))
    word, adjective = text.vocabulary.index("Hund"), text.tags.index("ADJ")
    assert corrected(shares, text, {"hund": {"ADJ": 9}})[word, adjective] >= 0.9
    assert np.allclose(corrected(shares, text, {}), shares)


def test_a_type_without_a_tag_may_have_all_that_are_allowed():
    allowed = np.array([[True, True, False], [True, True, True]])
    shares = np.array([[0.0, 0.0, 0.0], [0.8, 0.2, 0.0]])
    assert type_sets(shares, allowed, least=0.25).tolist() == [[True, True, False], [True, False, False]]


def test_evidence_of_types_is_their_set(text):
    sets = np.ones((len(text.vocabulary), len(text.tags)), dtype=bool)
    sets[text.vocabulary.index("Hund"), text.tags.index("VERB")] = False
    evidence = set_evidence(text, sets, range(len(text.sentences)))
    forbidden = np.isneginf(evidence)
    assert np.array_equal(~forbidden, sets[text.types])
    assert np.all(evidence[~forbidden] == 0.0)


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


def test_few_words_lean_on_those_that_begin_alike():
    """*Häuser* is linked once, to a verb; *Hauses* and *hauses* are nouns; *Hausarzt* is another stem."""
    forms = ["Hauses", "hauses", "Hausers", "Hausarzt", "Hausers", "hause", "Hauses"]
    tags = ["NOUN", "NOUN", "VERB", "ADJ", "VERB", "PROPN", "NOUN"]
    links = make_alignment(7, 7, [(i, i) for i in range(1, 8)], weights=[0.9, 0.8, 0.7, 0.9, 0.5, 0.9, 1.0])
    pair = SentencePair(Sentence.from_words(["w"] * 7, upos=tags), Sentence.from_words(forms), links)
    text = read_linked_text([(pair,)])
    allowed = allowed_tags(text.vocabulary, text.tags, {})
    shares = type_shares(text, text.votes, allowed, stems=True)
    for row, word in zip(shares, text.vocabulary, strict=True):
        np.testing.assert_allclose(row, leaning(text, allowed, word), atol=1e-6)
    alone = type_shares(text, text.votes, allowed)
    verb = text.vocabulary.index("Hausers"), text.tags.index("NOUN")
    assert alone[verb] == 0.0 < shares[verb]


def text_with_di(*, linked, others=1.0, word="di", times=200, first=7):
    """Return sentences in which one word is linked to CCONJ, DET and AUX by turns, with a probability."""
    brought = ["CCONJ"] * first + ["DET"] * (9 - first) + ["AUX"]
    pairs = []
    for number in range(200):
        source = Sentence.from_words(["x", "y", "sees"], upos=["NOUN", brought[number % 10], "VERB"])
        links = make_alignment(3, 3, [(1, 1), (2, 2), (3, 3)], weights=[others, linked, others])
        target = ["ana", word if number < times else "nim", "gis"]
        pairs.append((SentencePair(source, Sentence.from_words(target), links),))
    return read_linked_text(pairs)


def test_a_frequent_word_without_translation_is_weighed_as_a_function_word():
    """*di* is linked to *and* above all, to *the* and *will* now and then: by hand, and no other word."""
    text = text_with_di(linked=0.6)
    shares = type_shares(text, text.votes, allowed_tags(text.vocabulary, text.tags, {}))
    weighed = function_word_prior(text, shares)
    word = text.vocabulary.index("di")
    by_hand = {"AUX": 0.1**0.1 * 0.3, "CCONJ": 0.7**0.1 * 0.005, "DET": 0.2**0.1 * 0.3}
    expected = [by_hand.get(tag, 0.0) / sum(by_hand.values()) for tag in text.tags]
    assert weighed[word].tolist() == pytest.approx(expected)
    assert np.array_equal(np.delete(weighed, word, axis=0), np.delete(shares, word, axis=0))


@pytest.mark.parametrize(
    "case",
    [
        {"linked": 0.9},
        # Below the mean of all words, but not by much.
        {"linked": 0.82},
        {"linked": 0.4, "others": 0.7},
        {"linked": 0.6, "word": ","},
        {"linked": 0.6, "times": 99},
        # Few links, and most of them agree.
        {"linked": 0.6, "first": 8},
    ],
    ids=["linked", "somewhat linked", "no word is linked well", "a sign", "rare", "links agree"],
)
def test_what_other_words_are_linked_to_is_believed(case):
    text = text_with_di(**case)
    shares = type_shares(text, text.votes, allowed_tags(text.vocabulary, text.tags, {}))
    if case.get("times"):
        other = text.vocabulary.index("di")
        assert np.array_equal(function_word_prior(text, shares)[other], shares[other])
    else:
        assert np.array_equal(function_word_prior(text, shares), shares)


def test_evidence_is_that_of_the_sentences_asked_for(text):
    sets = np.random.default_rng(1).random((len(text.vocabulary), len(text.tags))) < 0.5
    whole, some = set_evidence(text, sets, range(len(text.sentences))), [7, 2]
    evidence = set_evidence(text, sets, some)
    expected = [whole[text.words_of(sentence)] for sentence in some]
    assert np.array_equal(evidence, np.concatenate(expected))
    for one, other in zip(text.parted(evidence, some), expected, strict=True):
        assert np.array_equal(one, other)


def reflexive_text(*, linked, articles=0):
    """Return *se* where pronouns stand, linked in so many sentences to AUX and PRON by turns.

    ``articles``: so many of the four words that stand there, too, are linked to articles.
    """
    alike = dict(zip(("me", "le", "nos", "les"), ["DET"] * articles + ["PRON"] * 4, strict=False))
    tags = {**alike, "se": "AUX", "ha": "AUX"}
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


@pytest.mark.parametrize(
    ("linked", "articles", "expected"),
    [(20, 0, {"PRON"}), (20, 1, {"PRON"}), (20, 2, {"AUX", "PRON"}), (120, 0, {"AUX", "PRON"})],
)
def test_words_hardly_linked_are_what_words_in_like_places_are(linked, articles, expected):
    text = reflexive_text(linked=linked, articles=articles)
    allowed = allowed_tags(text.vocabulary, text.tags, {})
    shares = distributional_tags(text, type_shares(text, text.votes, allowed))
    sets = type_sets(shares, allowed, least=0.15)[text.vocabulary.index("se")]
    assert {tag for tag, kept in zip(text.tags, sets, strict=True) if kept} == expected


class Stubborn:
    """A tagger that has one tag for each word."""

    def __init__(self, tags):
        self.tags = tags

    def tag_words(self, forms):
        return [self.tags[form] for form in forms]


def test_words_tagged_against_their_links_are_listed():
    """*di* is CCONJ by 80% of its links; *ana* and *gis* are what theirs say."""
    text = text_with_di(linked=0.9, first=8)
    tags = {"ana": "NOUN", "gis": "VERB", "di": "AUX"}
    (found,) = contradictions(text, Stubborn(tags), range(50))
    assert (found.word, found.count, found.linked[0], found.given) == ("di", 200, "CCONJ", ("AUX", 1.0))
    assert found.linked[1] == pytest.approx(0.8)
    assert str(found) == "di CCONJ 80%, tagged AUX 100%"
    assert contradictions(text, Stubborn(tags | {"di": "CCONJ"}), range(50)) == []
