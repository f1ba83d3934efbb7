"""The table of contractions is written well, yields to what sentences show, and helps on treebanks."""

import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.contractions import LANGUAGES, contractions_of, known_contractions, learn_contractions
from qsproj.corpus.editing import comment_value
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import read_text, sentence_from_tokens
from qsproj.evaluation.conll18 import cut_scores


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_each_row_is_a_token_and_two_words(language):
    table = contractions_of(language)
    assert len(table) > 1
    for token, words in table.items():
        assert len(words) == 2
        assert all(word and word == word.lower() for word in (token, *words))
        assert token not in words or language == "cs"


def test_a_language_without_a_table_has_none():
    assert contractions_of("tlh") == contractions_of(None) == {}


def test_sentences_overrule_the_table():
    whole = Sentence.from_words(["Zum", "Haus"])
    other = sentence_from_tokens([("im", ("in", "'m"))], "im", sent_id="1")
    known = known_contractions("de", [whole, other])
    assert "zum" not in known
    assert known["im"] == ("in", "'m")
    assert known["am"] == ("an", "dem")
    assert list(known) == sorted(known)


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        (
            "fr",
            "Des hommes parlent des droits des femmes.",
            "Des hommes parlent de les droits de les femmes .",
        ),
        ("fr", "Il a des amis, des livres et des chats.", "Il a des amis , des livres et des chats ."),
        ("fr", "Le prix des pommes et des poires.", "Le prix de les pommes et de les poires ."),
        ("fr", "« Des pommes » avec du sel du pays.", "« Des pommes » avec du sel de le pays ."),
        ("it", "Parla dei suoi amici con degli ospiti.", "Parla di i suoi amici con degli ospiti ."),
        ("pt", "Ele nos disse que nos anos passados.", "Ele nos disse que nos anos passados ."),
        ("pt", "Foi nos anos passados.", "Foi em os anos passados ."),
        ("de", "Im Haus am Meer.", "In dem Haus an dem Meer ."),
    ],
)
def test_what_may_be_an_article_is_split_by_the_word_before(language, line, words):
    (sentence,) = read_text([line], language, contractions=known_contractions(language))
    assert " ".join(sentence.forms) == words


def test_tagged_sentences_show_behind_which_words_a_token_is_whole():
    """The default is what most show; a row for a place needs two of it."""

    def cut(line, split):
        tokens = line.split()
        return sentence_from_tokens(
            [(one, ("de", "les") if at in split else (one,)) for at, one in enumerate(tokens)],
            line,
            sent_id="1",
        )

    shown = [cut("le prix des pommes", {2}), cut("la fin des temps", {2}), cut("une fois des pommes", {2})]
    shown += [cut("il veut des pommes", ()), cut("elle veut des poires", ())]
    assert learn_contractions(shown) == {"des": ("de", "les"), "veut des": ("des",)}
    known = known_contractions("fr", shown)
    assert known["veut des"] == known["avec des"] == ("des",)
    assert known["des"] == ("de", "les")
    # Sentences that read most of them otherwise than the table overrule it.
    against = [cut("le prix des pommes", ()), cut("la fin des temps", ()), cut("avec des pommes", {1})]
    assert not [key for key in known_contractions("fr", against) if key.endswith("des")]


@pytest.mark.parametrize(
    ("path", "language", "least", "more"),
    [
        ("treebanks/german-gsd-dev.conllu.gz", "de", 97.5, 1.5),
        ("treebanks/spanish-gsd-dev.conllu.gz", "es", 98.5, 1.5),
        ("partut/it-dev.conllu.gz", "it", 96.0, 8.0),
        ("treebanks/greek-gdt-dev.conllu.gz", "el", 97.0, 2.0),
    ],
)
def test_words_of_treebanks(data_dir, path, language, least, more):
    gold = [one for _, one in zip(range(200), read_conllu(data_dir / path))]
    lines = [comment_value(one, "text") or "" for one in gold]
    without, with_table = (
        cut_scores(gold, read_text(lines, language, contractions=contractions)).parts["words"].f1
        for contractions in ({}, contractions_of(language))
    )
    print(path, without, with_table)
    assert with_table > least
    assert with_table > without + more
