"""Lemmas of a package of many languages: what is asked of it, and its one-line errors."""

import sys
from types import SimpleNamespace

import pytest

from qsproj.corpus.language.lexicon import Inflection, lexicon_of
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError

KNOWN = {"Hunde": "Hund", "ging": "gehen", "Ging": "Ging", "die": "der"}
GONE = Sentence.from_words(
    ["Die", "Hunde", "Ging", "Hunde", "xyz", "."], upos=["DET", "NOUN", "VERB", "NOUN", "NOUN", "PUNCT"]
)


@pytest.fixture
def package(monkeypatch):
    """Put a package of one language in place of the real one."""

    def is_known(word, code):
        if code != "de":
            raise ValueError(code)
        return word in KNOWN or word == "."

    made = SimpleNamespace(is_known=is_known, lemmatize=lambda word, _: KNOWN.get(word, word))
    monkeypatch.setitem(sys.modules, "simplemma", made)


def test_words_are_asked_for_once_as_their_tag_writes_them(package):
    assert lexicon_of(None, "simplemma", "de").inflections_of([GONE]) == [
        Inflection("Die", "der", ("DET",), "_"),
        Inflection("Hunde", "Hund", ("NOUN",), "_"),
        Inflection("Ging", "gehen", ("VERB",), "_"),
    ]


def test_what_a_file_lists_comes_first(package, tmp_path):
    path = tmp_path / "lexicon"
    path.write_text("Hündin\tHunde\tN;PL\n", encoding="utf-8")
    first, *_ = lexicon_of(str(path), "simplemma", "de").inflections_of([GONE])
    assert first == Inflection("Hunde", "Hündin", ("NOUN", "PROPN"), "Number=Plur")


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [
        ("simplema", "de", "lemmatizer 'simplema'"),
        ("simplemma", None, "--lemmatizer needs --language CODE"),
        ("simplemma", "wo", "simplemma has no lemmas of 'wo'; give a --lexicon"),
    ],
)
def test_faults_are_one_line(package, name, language, message):
    with pytest.raises(UsageError, match=message):
        lexicon_of(None, name, language)


def test_a_package_that_is_not_here(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(UsageError, match=r"pip install 'qsproj\[lemmas\]'"):
        lexicon_of(None, "simplemma", "de")


def test_the_package_itself():
    pytest.importorskip("simplemma")
    told = lexicon_of(None, "simplemma", "hr")
    (found,) = told.inflections_of([Sentence.from_words(["knjige"], upos=["NOUN"])])
    assert found.lemma == "knjiga"
    with pytest.raises(UsageError, match="has no lemmas of 'wo'"):
        lexicon_of(None, "simplemma", "wo")
