"""Features through links: what the target shows is learned, what it does not show is not written."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.lexicon import Inflection
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.pipelines.tagging import few_tagged
from qsproj.pipelines.tagging.features_through_links import (
    AttributeTest,
    MarkedWords,
    likeliest_features,
    smoothed,
    suffix_groups,
    with_listed_features,
    written_attributes,
)
from qsproj.pipelines.tagging.few_tagged import with_tagged_features
from qsproj.pipelines.tagging.linked_text import read_linked_text
from qsproj.pipelines.tagging.source_features import CARRIED, NONE, UNKNOWN, marks_of
from qsproj.pipelines.tagging.tags_through_links import project_tags

STEMS = [first + second + third for first in "bdgkmprt" for second in "aeiou" for third in "lnst"]
ENDING = {"Sing": "", "Plur": "i"}


def made_pairs(size, *, seed=1, wrong=0.1):
    """Return pairs of which the target shows number of nouns and adjectives by ``i``, and no tense.

    Source adjectives have no number, and nouns a gender that goes with the word, not with how it ends.
    """
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(size):
        number, tense = ENDING.keys() and list(ENDING)[rng.integers(2)], ("Past", "Pres")[rng.integers(2)]
        noun, adjective, verb = rng.integers(len(STEMS), size=3)
        source = Sentence.from_words(
            [f"good{adjective}", f"noun{noun}{number}", f"does{verb}", "."],
            upos=["ADJ", "NOUN", "VERB", "PUNCT"],
            heads=[-1, 2, 3, 0, 3],
            deprels=["amod", "nsubj", "root", "punct"],
        )
        gender = ("Fem", "Masc")[(noun * 7919) % 13 % 2]
        cells = ["_", f"Gender={gender}|Number={number}", f"Tense={tense}|VerbForm=Fin", "_"]
        target = [
            f"a{STEMS[adjective]}{ENDING[number]}",
            f"{STEMS[noun]}{ENDING[number]}",
            f"o{STEMS[verb]}n",
            ".",
        ]
        links = [(rng.integers(1, 5) if rng.random() < wrong else word, word) for word in range(1, 5)]
        alignment = make_alignment(4, 4, links, weights=[0.9] * 4)
        pairs.append(SentencePair(with_columns(source, feats=cells), Sentence.from_words(target), alignment))
    return pairs


def learned(pairs, **more):
    return project_tags(((pair,) for pair in pairs), rng=np.random.default_rng(1), **more)


def test_what_forms_show_is_written_and_nothing_else():
    projected = learned(made_pairs(600))
    # None of the words was seen.
    found = projected.tagger.tag(Sentence.from_words(["aflofi", "flofi", "ofufn", "."]))
    assert found.feats == ("Number=Plur", "Number=Plur", "_", "_")
    found = projected.tagger.tag(Sentence.from_words(["aflof", "flof", "ofufn", "."]))
    assert found.feats == ("Number=Sing", "Number=Sing", "_", "_")
    assert "features that forms show: Number of ADJ, NOUN" in projected.report
    assert projected.report[-1].endswith("not written: Gender, Person, Tense, VerbForm")


def saying(pairs, feats):
    """Return the pairs with other features of the source, by those that it has."""
    return [
        replace(pair, source=with_columns(pair.source, feats=[feats(cell) for cell in pair.source.feats]))
        for pair in pairs
    ]


@pytest.mark.slow
def test_several_sources_vote_and_what_one_alone_marks_is_learned():
    right = made_pairs(600)
    silent = saying(right, lambda cell: "_")
    astray = saying(right, lambda cell: cell.replace("Plur", "Sing"))
    words = Sentence.from_words(["aflofi", "flofi", "ofufn", "."])

    def found(*sources):
        corpus = list(zip(*sources, strict=True))
        return project_tags(corpus, rng=np.random.default_rng(1)).tagger.tag(words).feats[:2]

    assert found(silent, right) == ("Number=Plur",) * 2
    assert "Plur" not in "".join(found(astray))
    assert found(astray, right, right) == ("Number=Plur",) * 2
    assert found(right, astray, astray) != ("Number=Plur",) * 2


def test_no_features_where_none_are_asked_for_or_none_are_there():
    assert learned(made_pairs(100), columns=()).tagger.morphology is None
    bare = [replace(pair, source=with_columns(pair.source, feats=["_"] * 4)) for pair in made_pairs(100)]
    assert learned(bare).tagger.morphology is None


def test_tags_do_not_change_with_features():
    with_features, without = (learned(made_pairs(100), columns=wanted).tagger for wanted in (["feats"], []))
    assert (with_features.weights == without.weights).all()


def values_of(words, linked=None):
    """Return the values of words, given as form, UPOS, FEATS, head, relation, and linked to these places."""
    forms, upos, feats, heads, relations = zip(*words, strict=True)
    sentence = Sentence.from_words(forms, upos=upos, heads=[-1, *heads], deprels=relations)
    marks = marks_of(with_columns(sentence, feats=feats), linked)
    return [
        {
            name: value
            for name, value in zip(CARRIED, mark.values, strict=True)
            if value not in (NONE, UNKNOWN)
        }
        for mark in marks
    ]


def test_words_share_what_their_neighbours_mark():
    found = values_of(
        [
            ("my", "PRON", "Number=Sing|Person=1|Poss=Yes|PronType=Prs", 3, "nmod:poss"),
            ("old", "ADJ", "Degree=Pos", 3, "amod"),
            ("houses", "NOUN", "Number=Plur", 5, "nsubj"),
            ("would", "AUX", "VerbForm=Fin", 5, "aux"),
            ("burn", "VERB", "VerbForm=Inf", 0, "root"),
            ("the", "DET", "Definite=Def|PronType=Art", 7, "det"),
            ("roof", "NOUN", "Number=Sing", 5, "obj"),
        ]
    )
    assert found == [
        {"Number": "Plur", "Person": "1", "Poss": "Yes", "PronType": "Prs"},
        {"Degree": "Pos", "Number": "Plur"},
        {"Number": "Plur"},
        {"Number": "Plur", "Person": "3", "VerbForm": "Fin"},
        {"VerbForm": "Inf"},
        {"Definite": "Def", "Number": "Sing", "PronType": "Art"},
        {"Definite": "Def", "Number": "Sing"},
    ]


@pytest.mark.parametrize(
    ("auxiliary", "relation", "verb", "linked", "values"),
    [
        ("Past", "aux", "VerbForm=Inf", [0, -1, 1], {"Tense": "Past", "VerbForm": "Fin"}),  # did see
        ("Past", "aux", "VerbForm=Inf", [0, 1, 1], {"Tense": "Past", "VerbForm": "Fin"}),
        ("Past", "aux", "VerbForm=Inf", [0, 1, 2], {"VerbForm": "Inf"}),
        ("Pres", "aux:pass", "Tense=Past|VerbForm=Part", [0, -1, 1], {"Tense": "Pres", "VerbForm": "Fin"}),
        ("Pres", "aux", "Tense=Past|VerbForm=Part", [0, -1, 1], {"VerbForm": "Fin"}),  # has seen
        ("Past", "cop", "VerbForm=Inf", [0, -1, 1], {"VerbForm": "Inf"}),
    ],
)
def test_a_verb_is_finite_where_nothing_translates_its_auxiliary(auxiliary, relation, verb, linked, values):
    words = [
        ("he", "PRON", "Number=Sing|Person=3|PronType=Prs", 3, "nsubj"),
        ("x", "AUX", f"Mood=Ind|Tense={auxiliary}|VerbForm=Fin", 3, relation),
        ("see", "VERB", verb, 0, "root"),
    ]
    agreed = {"Mood": "Ind", "Number": "Sing", "Person": "3"} if values["VerbForm"] == "Fin" else {}
    assert values_of(words, linked)[2] == {**agreed, **values}


def test_an_imperative_has_no_person_of_whom_it_calls():
    """*Go, my son* is often parsed with a subject."""
    words = [("go", "VERB", "Mood=Imp|VerbForm=Fin", 0, "root"), ("son", "NOUN", "Number=Sing", 1, "nsubj")]
    assert values_of(words)[0] == {"Mood": "Imp", "VerbForm": "Fin"}


def test_a_verbal_noun_has_no_number():
    words = [("reading", "VERB", "VerbForm=Ger", 2, "amod"), ("lists", "NOUN", "Number=Plur", 0, "root")]
    assert values_of(words)[0] == {"VerbForm": "Ger"}
    inflected = "Number=Plur|Person=3|VerbForm=Inf"  # Portuguese
    assert values_of([("fazerem", "VERB", inflected, 0, "root")])[0]["Number"] == "Plur"


def test_an_auxiliary_is_translated_by_what_it_is_linked_to():
    source = with_columns(
        Sentence.from_words(["did", "see"], upos=["AUX", "VERB"], heads=[-1, 2, 0], deprels=["aux", "root"]),
        feats=["Mood=Ind|Tense=Past|VerbForm=Fin", "VerbForm=Inf"],
    )

    def marks(links, weights):
        alignment = make_alignment(2, 2, links, weights=weights)
        pair = SentencePair(source, Sentence.from_words(["a", "b"]), alignment)
        marked = read_linked_text([(pair,)], marked=True).marked
        return {"Fin" if "Fin" in marked.names[mark].values else "Inf" for mark in marked.marks[-1:]}

    assert marks([(2, 2)], [0.9]) == {"Fin"}
    assert marks([(1, 1), (2, 2)], [0.2, 0.9]) == {"Inf"}
    assert marks([(1, 1), (1, 2), (2, 2)], [0.2, 0.3, 0.9]) == {"Fin"}


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("PronType=Art|Definite=Def", {"Definite": "Def", "PronType": "Art"}),  # not sorted
        ("Number=Sing|Number=Plur", {"Number": "Plur"}),  # twice
        ("Case=nom|Number=Sing", {"Number": "Sing"}),
        ("SpaceAfter=No", {}),  # MISC
        ("Number|=Sing|Number=", {}),
    ],
)
def test_features_that_are_not_those_of_ud_are_passed_over(cell, values):
    assert values_of([("x", "PRON", cell, 0, "root")]) == [values]


def test_what_the_source_does_not_tell_is_not_written():
    told = {"Tense": "Past", "Number": UNKNOWN}
    words = MarkedWords(
        types=np.array([0]),
        names=(("VERB", "x"),),
        values={"Number": (NONE, "Plur", "Sing"), "Tense": (NONE, "Past")},
        votes={"Number": np.array([[0.0, 1.0, 1.1]]), "Tense": np.array([[0.0, 1.0]])},
        together={"VERB": {tuple(told.get(name, NONE) for name in CARRIED): 1.0}},
    )
    assert likeliest_features(words, {"VERB": ["Number", "Tense"]}) == ["Tense=Past"]


FEW = [
    with_columns(
        Sentence.from_words(["Flofi", f"x{number}ka", f"x{number}ku", "!"], upos=["NOUN"] * 3 + ["PUNCT"]),
        feats=["Case=Gen|Number=Plur", "Case=Nom|Number=Sing", "Case=Gen|Number=Sing", "_"],
    )
    for number in range(5)
]


@pytest.mark.parametrize(
    ("sure", "cells"),
    [
        (0.0, ["Case=Gen|Number=Plur", "Case=Nom|Number=Sing", "Tense=Past"]),
        (1.1, ["Case=Gen|Number=Plur", "Case=Nom|Number=Plur", "Tense=Past"]),
    ],
)
def test_few_tagged_sentences_correct_links(monkeypatch, sure, cells):
    monkeypatch.setattr(few_tagged, "HALF", sure)
    linked = with_columns(
        Sentence.from_words(["flofi", "zaka", "runs"], upos=["NOUN", "NOUN", "VERB"]),
        feats=["Number=Sing", "Definite=Def|Number=Plur", "Tense=Past"],
    )
    (found,) = with_tagged_features([linked], FEW, rng=np.random.default_rng(1))
    # A known word; one that ends like known ones, none of which has Definite; a tag that was never seen.
    assert list(found.feats) == cells


def test_features_of_tagged_sentences_are_learned_with_links():
    pairs = made_pairs(300)
    assert not learned(pairs).tagger.tag(Sentence.from_words(["qoku"])).feats[0].startswith("Case")
    projected = learned(pairs, tagged=FEW)
    assert projected.tagger.morphology.analyses(["x1ku"], ["NOUN"])[0].feats == "Case=Gen|Number=Sing"
    agreeing = projected.tagger.morphology.analyses(["aflofi", "flofi"], ["ADJ", "NOUN"])
    assert agreeing[0].feats == "Number=Plur"
    assert agreeing[1].feats.endswith("|Number=Plur")
    assert projected.report[-1] == "features are corrected by 5 tagged sentences"
    assert learned(pairs, tagged=FEW, columns=["lemma"]).tagger.morphology is None


def test_without_features_all_is_unknown():
    (mark,) = marks_of(Sentence.from_words(["x"], upos=["NOUN"]))
    assert set(mark.values) == {UNKNOWN}


@pytest.mark.parametrize("others", [False, True])
def test_chances_lean_as_plain_loops_say(others):
    rng = np.random.default_rng(3)
    names = [("NOUN", form) for form in ("ab", "cab", "b", "ba", "xab")] + [("VERB", "ab")]
    counts = rng.random((len(names), 3)) * 4

    def chances(word, length):
        if length < 0:
            return np.full(3, 1 / 3)
        tag, form = names[word]
        alike = [
            one
            for one, (other, end) in enumerate(names)
            if (other, end[-length:] if length else "") == (tag, form[-length:] if length else "")
        ]
        heard = sum(counts[one] for one in alike if not (others and one == word)) + 2.0 * chances(
            word, length - 1
        )
        return heard / heard.sum()

    found = smoothed(counts, suffix_groups(names), 2.0, others=others)
    assert np.allclose(found, [chances(word, 4) for word in range(len(names))])


def written(*judged, language=None):
    return written_attributes([AttributeTest(*one) for one in judged], language)


def test_what_inflects_must_show_where_words_inflect():
    # Swedish: pronouns have persons, verbs show none; what is not written of adjectives does not count.
    swedish = ("PRON", "Person", 0.9, 0.99), ("VERB", "Person", 0.0, 0.8)
    assert written(*swedish, language="sv") == {}
    assert written(("PRON", "Gender", 0.9, 0.99), ("ADJ", "Gender", 0.04, 0.8)) == {}
    # Articles alone show definiteness in German.
    german = ("DET", "Definite", 0.9, 0.99), ("NOUN", "Definite", -0.1, 0.7), ("ADJ", "Definite", 0.2, 0.8)
    assert written(*german) == {"DET": ["Definite"]}


def test_what_treebanks_mark_need_not_show():
    # Wolof: nothing inflects for number or person, but pronouns differ; all numerals are cardinal.
    wolof = ("PRON", "Person", 0.9, 0.99), ("PRON", "Number", 0.9, 0.4), ("NUM", "NumType", 0.0, 0.98)
    assert written(*wolof, language="wo") == {"PRON": ["Person"], "NUM": ["NumType"]}
    assert written(*wolof, language="nl") == {"PRON": ["Person"]}


def test_auxiliaries_show_what_verbs_do():
    both = ("AUX", "Number", 0.3, 0.9), ("VERB", "Number", 0.2, 0.8)
    assert written(*both) == {"AUX": ["Number"], "VERB": ["Number"]}
    assert written(both[0], ("NOUN", "Number", 0.3, 0.9)) == {"NOUN": ["Number"]}
    assert written(("NOUN", "Number", 0.3, 0.4)) == {}


@pytest.mark.parametrize(
    ("linked", "cell"),
    [
        ("Case=Acc|Number=Sing", "Case=Dat|Number=Sing"),
        ("Case=Nom|Degree=Pos|Number=Plur", "Case=Nom|Degree=Pos|Number=Plur"),
        # Of readings that links agree with alike, what both say.
        ("Case=Nom|Number=Sing", "_"),
        # Links tell no case of nouns.
        ("Number=Sing", "Number=Sing"),
        ("_", "_"),
    ],
)
def test_a_lexicon_limits_what_links_tell(linked, cell):
    listed = [
        Inflection("hunde", "hund", ("NOUN",), feats)
        for feats in ("Case=Nom|Number=Plur", "Case=Dat|Number=Sing", "_")
    ]
    one = with_columns(Sentence.from_words(["Hunde", "hunde"], upos=["NOUN", "ADJ"]), feats=[linked] * 2)
    (made,) = with_listed_features([one], listed)
    assert made.feats == (cell, linked)


def test_a_listed_participle_has_no_mood():
    listed = [Inflection("stato", "essere", ("VERB",), "Number=Sing|VerbForm=Part")]
    cells = ["Mood=Ind|Number=Plur|Person=3|VerbForm=Fin", "Mood=Ind|VerbForm=Fin"]
    one = with_columns(Sentence.from_words(["stato", "fu"], upos=["VERB", "VERB"]), feats=cells)
    (made,) = with_listed_features([one], listed)
    assert made.feats == ("Number=Sing|VerbForm=Part", cells[1])
