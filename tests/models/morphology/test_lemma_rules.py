"""Lemmas of unknown words: partners of a tag, irregular words, spelling and capitals."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.sentence import Sentence
from qsproj.models.morphology.lemma_rules import lemma_rules
from qsproj.models.morphology.morphology_training import train_morphology

WORDS = [
    *(("könnte", "AUX", "können"), ("hätte", "VERB", "haben"), ("kannst", "AUX", "können")),
    *(("dieser", "DET", "dieser"), ("deren", "DET", "der"), ("jenem", "PRON", "jener")),
    *(("п'яти", "NUM", "п’ять"), ("NATO", "PROPN", "NATO"), ("IBM", "PROPN", "IBM"), ("DER", "DET", "der")),
    *((f"{one}'{other}", "NOUN", f"{one}’{other}") for one, other in ("аб", "вг", "де", "жз", "ик")),
    ("лм'н", "NOUN", "лм`н"),
]


@pytest.mark.parametrize(
    ("form", "upos", "predicted", "better"),
    [
        # An irregular word has the lemma of the most similar form, also of a partner; else it is one itself.
        ("könntest", "AUX", "könntesten", "können"),
        ("Hättest", "AUX", "hättesten", "haben"),
        ("jenen", "DET", "jenen", "jener"),
        ("Mögen", "AUX", "mö", "mögen"),
        # Known lemmas of the tag, and other tags, stay.
        ("könntest", "AUX", "können", "können"),
        ("könntest", "VERB", "könntesten", "könntesten"),
        # An apostrophe is replaced as in the treebank.
        ("м'яса", "NOUN", "м'ясо", "м’ясо"),
        # Short words in capitals keep them.
        ("UNO", "PROPN", "uno", "UNO"),
        ("UNESCO", "PROPN", "unesco", "unesco"),
        ("UN", "PROPN", "uns", "uns"),
    ],
)
def test_lemmas_of_unknown_words_are_improved(form, upos, predicted, better):
    assert lemma_rules(WORDS).improved(form, upos, predicted) == better


def test_rules_need_evidence():
    rules = lemma_rules([*WORDS, ("UNO", "PROPN", "uno"), ("IS", "PROPN", "is"), ("a'b", "X", "a'b")])
    assert rules.improved("IBM", "PROPN", "ibm") == "ibm"
    assert rules.improved("м'яса", "NOUN", "м'ясо") == "м'ясо"
    assert lemma_rules([]).improved("м'яса", "NOUN", "м'ясо") == "м'ясо"
    assert lemma_rules([]).improved("was", "AUX", "wa") == "was"
    assert lemma_rules(WORDS).improved("STOP", "VERB", "stop") == "stop"
    # Vowel signs are letters of an ending, not punctuation.
    hindi = [(f"{one}े", "NOUN", f"{one}ा") for one in ("लड़क", "कपड़", "घोड़", "बेट", "कमर", "रास्त")]
    assert lemma_rules(hindi).improved("मेज़", "NOUN", "मेज़") == "मेज़"


def test_words_without_inflection_are_their_own_lemmas():
    """In Chinese, every word shares its first character with others."""
    words = [("可以", "AUX", "可以"), ("可能", "AUX", "可能"), ("應該要", "AUX", "應該要")]
    assert lemma_rules(words).improved("可有", "AUX", "可其") == "可有"
    assert lemma_rules(words).improved("應該", "AUX", "應該") == "應該"
    assert lemma_rules(words).improved("應該", "AUX", "應") == "應該要"
    assert lemma_rules([*words, ("是", "AUX", "為")]).improved("應該", "AUX", "應該") == "應該要"


def test_a_form_known_with_a_partner_of_its_tag_has_that_lemma():
    sentences = [
        Sentence.from_words(["hatte", "lacht", "lobt"], upos=["AUX", "VERB", "VERB"]),
        Sentence.from_words(["macht", "kocht"], upos=["VERB", "VERB"]),
    ]
    lemmas = [("haben", "lachen", "loben"), ("machen", "kochen")]
    given = [replace(one, lemmas=of) for one, of in zip(sentences, lemmas)]
    trained = train_morphology(given, rng=np.random.default_rng(1), columns=["lemma"])
    (found,) = trained.fill([Sentence.from_words(["hatte", "lacht", "Hatte"], upos=["VERB", "AUX", "NOUN"])])
    assert found.lemmas[:2] == ("haben", "lachen")
    assert found.lemmas[2] != "haben"
