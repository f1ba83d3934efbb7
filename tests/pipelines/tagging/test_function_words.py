"""Frequent words that links hardly reach or contradict: made bitexts in which one word is linked rarely."""

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.tagging.function_words import Positions, contradictions
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.options import TagProjectionOptions
from qsproj.pipelines.tagging.tags_through_links import project_tags
from qsproj.pipelines.tagging.type_dictionary import allowed_tags, corrected_shares, type_weights

OPTIONS = TagProjectionOptions()


FOUR = [(1, 1), (2, 2), (3, 3), (4, 4)]


def text_with(brought, *, linked, word="di", others=1.0):
    """Return 200 sentences *bu ana WORD gis* whose third word is linked to the tags of ``brought`` by turns.

    Second words of clauses would be particles.
    """
    pairs = []
    for number in range(200):
        source = Sentence.from_words(
            ["w", "x", "y", "sees"], upos=["INTJ", "NOUN", brought[number % len(brought)], "VERB"]
        )
        weights = [others, others, linked, others]
        links = make_alignment(4, 4, FOUR, weights=weights)
        pairs.append((SentencePair(source, Sentence.from_words(["bu", "ana", word, "gis"]), links),))
    return read_linked_text(pairs)


def weights_of(text, word, *, position=0, lexicon=(), tagged=(), auxiliaries=()):
    """Return the tags that a word may have, with their weights, at one of its places in the text."""
    classes = {form: number for number, form in enumerate(sorted(set(map(str.lower, text.vocabulary))), 2)}
    places = [at for at, number in enumerate(text.types) if text.vocabulary[number] == word]
    positions = Positions.of(text, OPTIONS, auxiliaries=frozenset(auxiliaries))
    text = positions.every.text
    allowed = allowed_tags(text.vocabulary, text.tags, dict(lexicon))
    _, shares, weighted = positions.readings(allowed, classes, OPTIONS)[0]
    shares = corrected_shares(shares, text, dict(tagged))
    weights = type_weights(shares, allowed, weighted, least=OPTIONS.least)[text.types[places[position]]]
    return {tag: weight for tag, weight in zip(text.tags, weights.tolist(), strict=True) if weight}


def tags_of(text, word):
    return set(weights_of(text, word))


def test_a_rarely_linked_word_may_be_a_function_word_but_no_conjunction():
    """*di* is linked to *and* above all, to *the* and *will* now and then."""
    text = text_with(["CCONJ"] * 5 + ["DET"] * 2 + ["AUX"] * 3, linked=0.6)
    assert tags_of(text, "di") == {"AUX", "DET"}
    assert tags_of(text, "gis") == {"VERB"}


def test_aux_is_the_likeliest_tag_of_a_registered_auxiliary():
    """*Di* is rarely linked, *la* well, to verbs above all; *ana* has no link to an auxiliary."""
    rare = text_with(["CCONJ"] * 5 + ["DET"] * 2 + ["AUX"] * 3, linked=0.6)
    assert weights_of(rare, "di", auxiliaries=["di"])["AUX"] == 1.0
    assert weights_of(rare, "di", auxiliaries=["di"])["DET"] < 0.1
    linked = text_with(["VERB"] * 14 + ["AUX"] * 6, word="la", linked=1.0)
    assert weights_of(linked, "la") == {"AUX": 1.0, "VERB": 1.0}
    assert weights_of(linked, "la", auxiliaries=["la", "ana"])["VERB"] == pytest.approx(0.07)
    assert tags_of(linked, "ana") == {"NOUN"} == set(weights_of(linked, "ana", auxiliaries=["ana"]))
    assert weights_of(linked, "la", auxiliaries=["la"], lexicon={"la": ("VERB",)}) == {"VERB": 1.0}


@pytest.mark.parametrize(("linked", "weight"), [(1.0, 0.7), (0.72, 0.07)])
def test_a_registered_auxiliary_may_be_a_homograph_of_another_word(linked, weight):
    """German *sein* is *be* and *his*: only if it is well linked, it keeps the tag of most links."""
    text = text_with(["DET"] * 14 + ["AUX"] * 6, word="sein", linked=linked)
    found = weights_of(text, "sein", auxiliaries=["sein"])
    assert found == {"AUX": 1.0, "DET": pytest.approx(weight)}
    assert weights_of(text, "sein", auxiliaries=["sein"], lexicon={"sein": ("AUX",)}) == {"AUX": 1.0}


@pytest.mark.parametrize(("linked", "tag"), [(0.45, "AUX"), (0.5, "DET")])
def test_a_registered_auxiliary_with_hardly_a_link_is_one_whatever_links_say(linked, tag):
    """In 1,000 pairs Chinese *le* has .02 votes, four of five for DET."""
    text = text_with(["DET"] * 19 + ["AUX"], linked=linked)
    found = weights_of(text, "di", auxiliaries=["di"])
    assert max(found, key=found.__getitem__) == tag
    assert tags_of(text, "di") == {"DET"}


def test_a_rarely_linked_word_that_is_not_registered_is_no_auxiliary():
    """Czech *se* has a third of its links to *is* and *has*, but UD registers *být* alone."""
    for auxiliaries, aux, expected in (
        (["byt"], 3, {"DET"}),
        (["se"], 3, {"AUX", "DET"}),
        ([], 3, {"AUX", "DET"}),
        (["byt"], 5, {"AUX", "DET"}),
    ):
        text = text_with(["CCONJ"] * (8 - aux) + ["DET"] * 2 + ["AUX"] * aux, word="se", linked=0.6)
        assert set(weights_of(text, "se", auxiliaries=auxiliaries)) == expected
    text = text_with(["CCONJ"] * 5 + ["DET"] * 2 + ["AUX"] * 3, word="se", linked=0.6)
    assert weights_of(text, "se", auxiliaries=["byt"], lexicon={"se": ("AUX",)}) == {"AUX": 1.0}


def test_a_lexicon_and_then_tagged_sentences_decide_for_a_rarely_linked_word():
    text = text_with(["CCONJ"] * 5 + ["DET"] * 2 + ["AUX"] * 3, linked=0.6)
    assert weights_of(text, "di", lexicon={"di": ("AUX",)}) == {"AUX": 1.0}
    assert weights_of(text, "di", lexicon={"di": ("VERB",)}) == {"VERB": 1.0}
    found = weights_of(text, "di", lexicon={"di": ("AUX",)}, tagged={"di": {"DET": 9}})
    assert max(found, key=found.get) == "DET"


@pytest.mark.parametrize(
    ("conjunctions", "expected"), [(13, {"AUX", "DET"}), (14, {"AUX", "DET"}), (17, {"CCONJ"})]
)
def test_links_to_conjunctions_must_agree_more(conjunctions, expected):
    """In 2,000 verses *di* has two thirds of its links to *and*; German *aber* has 84%."""
    brought = ["CCONJ"] * conjunctions + ["DET", "AUX"] * 4
    assert tags_of(text_with(brought[:20], linked=0.6), "di") == expected


@pytest.mark.parametrize(
    ("sentences", "second", "expected"), [(200, 11, {"PRON"}), (200, 13, {"ADV"}), (9, 20, {"PRON"})]
)
def test_a_rarely_linked_word_mostly_second_in_a_clause_is_a_particle(sentences, second, expected):
    """Greek *de* has most links to *and*, some to *he*; clauses end at marks and at the ends of sentences."""
    pairs = []
    for number in range(sentences):
        tag = ("CCONJ", "CCONJ", "PRON")[number % 3]
        source = Sentence.from_words(
            ["now", ",", "x", "y", "sees"], upos=["ADV", "PUNCT", "NOUN", tag, "VERB"]
        )
        order = ["nun", ",", "ana", "de", "gis"] if number % 20 < second else ["nun", ",", "ana", "gis", "de"]
        links = [(one, order.index(form) + 1) for one, form in enumerate(["nun", ",", "ana", "de", "gis"], 1)]
        alignment = make_alignment(5, 5, links, weights=[1.0, 1.0, 1.0, 0.6, 1.0])
        pairs.append((SentencePair(source, Sentence.from_words(order), alignment),))
    assert tags_of(read_linked_text(pairs), "de") == expected


def test_a_word_whose_links_leave_no_tag_may_have_any():
    """70% of its links are to *and*; no other tag has a share that counts."""
    text = text_with(["CCONJ"] * 14 + ["NOUN", "ADV", "ADJ"] * 2, linked=0.6)
    assert weights_of(text, "di") == dict.fromkeys(text.tags, 1.0)


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


@pytest.mark.parametrize(
    ("tag", "other", "expected"),
    [
        ("CCONJ", "PRON", {"CCONJ"}),
        ("ADP", "DET", {"ADP"}),
        ("CCONJ", "ADV", {"CCONJ", "ADV"}),
        ("ADP", "SCONJ", {"ADP", "SCONJ"}),
        ("SCONJ", "PRON", {"SCONJ", "PRON"}),
    ],
)
def test_conjunctions_and_adpositions_are_no_pronouns(tag, other, expected):
    """*jah* is *and* in 70% of its links, and *he* where *and he came* is one verb."""
    assert tags_of(text_with([tag] * 7 + [other] * 3, linked=0.9, word="jah"), "jah") == expected
    assert tags_of(text_with([tag] * 5 + [other] * 5, linked=0.9, word="jah"), "jah") == {tag, other}


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


def reflexive_text(*, linked, sentences=200):
    """Return *se* where pronouns stand, linked in some sentences to AUX and PRON by turns."""
    tags = {"me": "PRON", "le": "PRON", "nos": "PRON", "les": "PRON", "se": "AUX", "ha": "AUX"}
    pairs = []
    for number in range(sentences):
        for word, tag in tags.items():
            verb = "visto" if word == "ha" else "ve"
            upos = "PRON" if word == "se" and number % 2 else tag
            source = Sentence.from_words(["w", "x", "y", "sees"], upos=["INTJ", "NOUN", upos, "VERB"])
            links = [(1, 1), (2, 2), (4, 4)] if word == "se" and number >= linked else FOUR
            target = Sentence.from_words(["bu", "ana" if word != "ha" else "y", word, verb])
            pairs.append((SentencePair(source, target, make_alignment(4, 4, links)),))
    return read_linked_text(pairs)


@pytest.mark.parametrize(("linked", "expected"), [(20, {"PRON"}), (120, {"AUX", "PRON"})])
def test_rarely_linked_words_have_the_tags_of_words_in_similar_places(linked, expected):
    assert tags_of(reflexive_text(linked=linked), "se") == expected


def test_in_small_texts_similar_words_vote_wherever_they_stand():
    """No word stands ten times before any tag; *se* has one link to AUX and one to PRON."""
    assert tags_of(reflexive_text(linked=2, sentences=8), "se") == {"PRON"}


def text_of_two_positions(*others):
    """Return sentences of *ha*, rarely linked, with pronouns before verbs and determiners before nouns.

    ``others``: the tag of *ha* in each other translation, in which all words are linked.
    """
    pairs = []
    for number in range(400):
        verbal = number % 2 == 0
        words = ("me", "le", "nos", "ha") if verbal else ("el", "la", "un", "ha")
        word, upos = words[number // 2 % 4], "PRON" if verbal else "DET"
        last, tag = ("ve", "VERB") if verbal else ("gat", "NOUN")
        links = [(1, 1), (2, 2), (4, 4)] if word == "ha" and number % 10 >= 2 else FOUR
        brought = ("AUX", "PRON", "DET")[number // 8 % 3] if word == "ha" else upos
        target = Sentence.from_words(["bu", "si" if verbal else "tot", word, last])

        def translated(middle, links, tag=tag, target=target):
            source = Sentence.from_words(["w", "y", "x", "z"], upos=["INTJ", "ADV", middle, tag])
            return SentencePair(source, target, make_alignment(4, 4, links))

        of_others = (translated(one if word == "ha" else upos, FOUR) for one in others)
        pairs.append((translated(brought, links), *of_others))
    return read_linked_text(pairs)


@pytest.mark.parametrize("others", [(), ("PART",), ("PART", "PART")])
def test_a_rarely_linked_word_has_the_tags_of_its_position(others):
    text = text_of_two_positions(*others)
    assert weights_of(text, "ha", position=0) == {"PRON": 1.0}, "before a verb"
    assert weights_of(text, "ha", position=1) == {"DET": 1.0}, "before a noun"


def test_a_position_without_company_takes_the_tags_of_the_others():
    """*ha* stands before *ve* three times, too few for a position of its own."""
    pairs = []
    for number in range(403):
        rare = number >= 400
        word = "ha" if rare else ("el", "la", "un", "ha")[number % 4]
        links = [(1, 1), (2, 2), (4, 4)] if word == "ha" and number % 20 != 3 else FOUR
        brought = ("AUX", "PRON", "DET")[number // 20 % 3] if word == "ha" else "DET"
        upos = ["INTJ", "ADV", brought, "VERB" if rare else "NOUN"]
        source = Sentence.from_words(["w", "y", "x", "z"], upos=upos)
        target = Sentence.from_words(["bu", "tot", word, "ve" if rare else "gat"])
        pairs.append((SentencePair(source, target, make_alignment(4, 4, links)),))
    text = read_linked_text(pairs)
    assert weights_of(text, "ha", position=0) == weights_of(text, "ha", position=-1) == {"DET": 1.0}


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
    tags = {"bu": "INTJ", "ana": "NOUN", "gis": "VERB", "di": "AUX"}
    (found,) = contradictions(text, FixedTagger(tags).tag_words, range(50), OPTIONS)
    assert found == ("di", 200, "CCONJ", pytest.approx(0.8), "AUX", 1.0)
    assert str(found) == "di CCONJ 80%, tagged AUX 100%"
    assert contradictions(text, FixedTagger(tags | {"di": "CCONJ"}).tag_words, range(50), OPTIONS) == []
    marks = text_with(["CCONJ"] * 8 + ["DET", "AUX"], linked=0.9, word=",")
    assert contradictions(marks, FixedTagger(tags | {",": "PUNCT"}).tag_words, range(50), OPTIONS) == []
