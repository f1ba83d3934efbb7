"""Sentences go to the dictionaries of stanza and come back."""

from __future__ import annotations

import json

import pytest

import qsproj
from qsproj.errors import UsageError

# What stanza's ``Document.to_dict`` gives for this text, by its documentation.
TEXT = "Im Haus schläft er. Ja!"
DICTIONARIES = [
    [
        {"id": (1, 2), "text": "Im", "start_char": 0, "end_char": 2},
        {"id": 1, "text": "In", "lemma": "in", "upos": "ADP", "xpos": "APPR", "head": 3, "deprel": "case"},
        {
            "id": 2,
            "text": "dem",
            "lemma": "der",
            "upos": "DET",
            "feats": "Case=Dat",
            "head": 3,
            "deprel": "det",
        },
        {"id": 3, "text": "Haus", "head": 4, "deprel": "obl", "start_char": 3, "end_char": 7},
        {"id": 4, "text": "schläft", "head": 0, "deprel": "root", "start_char": 8, "end_char": 15},
        {"id": 5, "text": "er", "head": 4, "deprel": "nsubj", "start_char": 16, "end_char": 18},
        {"id": 6, "text": ".", "head": 4, "deprel": "punct", "start_char": 18, "end_char": 19},
    ],
    [
        {"id": 1, "text": "Ja", "head": 0, "deprel": "root", "start_char": 20, "end_char": 22},
        {"id": 2, "text": "!", "head": 1, "deprel": "punct", "start_char": 22, "end_char": 23},
    ],
]


def test_dictionaries_become_sentences():
    document = qsproj.from_stanza(DICTIONARIES)
    assert document.text == TEXT and [one.text for one in document] == ["Im Haus schläft er.", "Ja!"]
    first = document[0]
    assert first.multiword_tokens[0].id == "1-2" and first[2].feats == {"Case": "Dat"}
    assert first.root.form == "schläft" and first[5].misc == {"SpaceAfter": "No"}


def test_they_come_back_as_they_were():
    again = qsproj.to_stanza(qsproj.from_stanza(DICTIONARIES))
    spaces = [[token.pop("misc", None) for token in sentence] for sentence in again]
    assert again == DICTIONARIES
    assert spaces == [[None, None, None, None, None, "SpaceAfter=No", None], ["SpaceAfter=No", None]]


def test_json_and_one_sentence_are_read_too():
    lists = json.loads(json.dumps(DICTIONARIES))
    assert qsproj.from_stanza(lists).to_conllu() == qsproj.from_stanza(DICTIONARIES).to_conllu()
    assert len(qsproj.from_stanza(DICTIONARIES[1])) == 1

    class StanzaDocument:
        def to_dict(self):
            return DICTIONARIES

    assert qsproj.from_stanza(StanzaDocument()).text == TEXT


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_the_sample_comes_back_but_for_comments(language):
    sentences = list(qsproj.read_conllu(f"corpora/{language}.conllu"))
    back = qsproj.from_stanza(qsproj.to_stanza(sentences))
    for one, other in zip(sentences, back, strict=True):
        rows, others = ([line for line in str(s).splitlines() if line[:1] != "#"] for s in (one, other))
        assert rows == others and one.text == other.text


@pytest.mark.parametrize("number", [(0, 1), (2, 1), (1, 2)])
def test_empty_nodes_are_left_out(number):
    words = [
        {"id": 1, "text": "Er", "head": 2, "deprel": "nsubj"},
        {"id": 2, "text": "liest", "head": 0, "deprel": "root"},
    ]
    empty = {"id": number, "text": "e", "upos": "VERB", "deps": "2:conj"}
    (sentence,) = qsproj.from_stanza([[*words, empty]])
    assert sentence.forms == ("Er", "liest")
    assert not sentence.multiword_tokens


def test_multiword_tokens_with_features_stay():
    cells = "\t_" * 3
    (sentence,) = qsproj.Document.from_conllu(
        f"1-2\tzum{cells}\tTypo=Yes{cells}\tSpaceAfter=No\n1\tzu\t_\tADP\t_\t_\t3\tcase\t_\t_\n"
        "2\tdem\t_\tDET\t_\t_\t3\tdet\t_\t_\n3\tHaus\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    )
    (given,) = qsproj.to_stanza(sentence)
    (back,) = qsproj.from_stanza([[one | {"lemma": one.get("lemma")} for one in given]])
    assert [one.form for one in back.multiword_tokens] == ["zum"]
    assert back.text == sentence.text == "zumHaus"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Ja!", "expected stanza's list of lists of dictionaries"),
        ([["Ja"]], "sentence 1: found 'Ja', expected a dictionary with id and text"),
        ([[{"id": "1", "text": "Ja"}]], "sentence 1: found '1' as id"),
        ([[{"id": 1, "text": "Ja", "head": 2}]], "sentence 1: found HEAD 2, expected 0 to 1"),
        ([[{"id": 2, "text": "Ja"}]], "sentence 1: found ID '2', expected 1"),
        ([[{"id": 1, "text": "Ja\n"}]], "without tabs and line ends"),
    ],
)
def test_what_is_nothing_of_the_kind_is_refused(given, message):
    with pytest.raises(UsageError) as error:
        qsproj.from_stanza(given)
    assert message in str(error.value) and "\n" not in str(error.value)
