"""Languages told by their commonest words: no false alarm on treebanks, and none where little tells."""

from itertools import islice

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.language.recognition import OTHER_SCRIPT, are_swapped, other_than, recognise

TEXTS = {
    "cs": "treebanks/czech-cac-dev",
    "da": "treebanks/danish-ddt-dev",
    "de": "treebanks/german-gsd-dev",
    "en": "treebanks/english-ewt-dev",
    "es": "treebanks/spanish-gsd-dev",
    "hu": "treebanks/hungarian-szeged-dev",
    "ja": "treebanks/japanese-gsd-dev",
    "sl": "treebanks/slovenian-ssj-dev",
    "sv": "treebanks/swedish-talbanken-dev",
    "tr": "treebanks/turkish-imst-dev",
    "pcm": "styles/naija-dev.ud",
}


@pytest.fixture(scope="module")
def recognised(data_dir):
    return {
        code: recognise(
            "".join(one.forms) if code == "ja" else " ".join(one.forms)
            for one in islice(read_conllu(data_dir / f"{name}.conllu.gz"), 100)
        )
        for code, name in TEXTS.items()
    }


def test_texts_are_in_their_language(recognised):
    assert [code for code, text in recognised.items() if text.other_than(code)] == []
    assert recognised["es"].other_than("en") == "es"
    assert recognised["es"].other_than("ja") == OTHER_SCRIPT
    assert recognised["ja"].other_than("es") == OTHER_SCRIPT
    # The script of languages with a code of three letters is not known, nor that of languages without a code.
    assert recognised["ja"].other_than("qaa") is None


def test_swapped_pairs_are_told_and_others_are_not(recognised):
    for one, other in (("en", "de"), ("en", "ja"), ("es", "en"), ("cs", "sl"), ("tr", "en"), ("pcm", "sv")):
        sides = recognised[one], recognised[other]
        assert not are_swapped(sides, (one, other)), (one, other)
        assert are_swapped(sides, (other, one)), (one, other)


def test_text_in_other_letters_than_usual_is_not_refused():
    serbian = [
        "I otac reče da je on u gradu, kao što su ti za to rekli, i da će se od toga na kraju umoriti."
    ]
    text = recognise(serbian * 20)
    assert text.share("hr") > 0.3
    assert text.other_than("en") == "hr"
    assert text.other_than("sr") is None


def test_little_text_tells_nothing():
    few = recognise(["the cat is on the mat"])
    assert few.other_than("de") is None
    assert not are_swapped((few, few), ("de", "en"))


def test_languages_that_a_text_may_be_in_tell_the_same(recognised):
    assert list(recognised["en"].likely()) == ["en"]
    assert "de" in recognised["de"].likely()
    for text in recognised.values():
        if not text.is_unspaced:
            told = {other: other_than(other, text.likely()) for other in TEXTS}
            assert told == {other: text.other_than(other) for other in TEXTS if other != "ja"} | {"ja": None}
    assert recognise(["to be or not to be"]).likely() == {}
