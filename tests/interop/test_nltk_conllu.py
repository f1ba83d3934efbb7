"""Sentences and pairs go to nltk and to the package conllu, and come back."""

from __future__ import annotations

import io
from itertools import islice

import conllu
import pytest
from nltk.parse import DependencyGraph
from nltk.translate import AlignedSent
from nltk.translate import Alignment as NltkAlignment

import qsproj
from qsproj.corpus.editing import column_values
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair, make_alignment

SAMPLES = ["en", "de", "es"]


def sample(language):
    return list(qsproj.read_conllu(f"corpora/{language}.conllu"))


def text_of(sentence):
    handle = io.StringIO()
    qsproj.write_conllu([sentence], handle)
    return handle.getvalue()


@pytest.mark.parametrize("language", SAMPLES)
def test_trees_come_back_from_nltk(language):
    for sentence in sample(language):
        back = qsproj.from_nltk(qsproj.to_nltk(sentence))
        assert column_values(back) == column_values(sentence)


def test_nltk_reads_its_graphs_as_we_make_them():
    """Its own reader of the ten columns makes the same nodes."""
    for sentence in sample("en"):
        rows = "\n".join(
            line
            for line in text_of(sentence).splitlines()
            if line[:1].isdigit() and "-" not in line.split("\t")[0]
        )
        read = DependencyGraph(rows, cell_separator="\t", top_relation_label="root")
        made = qsproj.to_nltk(sentence)
        for address in range(1, len(sentence) + 1):
            assert {**read.nodes[address], "deps": dict(read.nodes[address]["deps"])} == {
                **made.nodes[address],
                "deps": dict(made.nodes[address]["deps"]),
            }
        assert made.tree() == read.tree()
        assert list(made.triples()) == list(read.triples())
        assert qsproj.from_nltk(read).heads.tolist() == sentence.heads.tolist()


def test_missing_heads_and_tags_come_back_from_nltk():
    sentence = qsproj.Sentence.from_words(["a", "b", "c"], heads=[None, 0, 2])
    back = qsproj.from_nltk(qsproj.to_nltk(sentence))
    assert column_values(back) == column_values(sentence)
    made = DependencyGraph("John NNP 2\nsleeps VB 0\n")
    assert qsproj.from_nltk(made).heads.tolist() == [-1, 2, 0]
    assert qsproj.from_nltk(made).upos == ("NNP", "VB")


def test_links_come_back_from_nltk():
    for pair in AlignedFiles("corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"):
        aligned = qsproj.to_nltk(pair)
        assert aligned.mots == list(pair.source.forms)
        back = qsproj.from_nltk(aligned)
        assert (back.source.forms, back.target.forms) == (pair.source.forms, pair.target.forms)
        assert back.alignment.links.tolist() == pair.alignment.links.tolist()


def test_words_of_nltk_may_have_no_link():
    pair = qsproj.from_nltk(AlignedSent(["x", "y"], ["a"], NltkAlignment([(0, 0), (1, None)])))
    assert pair.alignment.links.tolist() == [[1, 1]]
    empty = SentencePair(pair.source, pair.target, make_alignment(1, 2, []))
    assert list(qsproj.to_nltk(empty).alignment) == []


@pytest.mark.parametrize("language", SAMPLES)
def test_every_byte_comes_back_from_token_lists(language):
    for sentence in sample(language):
        assert text_of(qsproj.from_token_list(qsproj.to_token_list(sentence))) == text_of(sentence)


def test_real_sentences_come_back_from_token_lists(data_dir):
    """All but comments without a value, which the package does not hold."""
    paths = sorted(data_dir.glob("treebanks/*.conllu.gz"))
    assert paths
    for path in paths:
        for sentence in islice(qsproj.read_conllu(path), 20):
            back = qsproj.from_token_list(qsproj.to_token_list(sentence))
            assert column_values(back) == column_values(sentence)
            kept = [line for line in sentence.layout.lines if line[0] != "#" or " = " in line]
            assert list(back.layout.lines) == kept


def test_values_may_contain_equals_signs():
    sentence = qsproj.Sentence.from_words(["＝"], misc=["UnidicInfo=,＝,=,=,|a|b=_|c=d=e"])
    tokens = qsproj.to_token_list(sentence)
    assert tokens[0]["misc"] == {"UnidicInfo": ",＝,=,=,", "a": "", "b": None, "c": "d=e"}
    assert text_of(qsproj.from_token_list(tokens)) == text_of(sentence)


def test_token_lists_are_those_of_the_package():
    rows = (
        "1-2 du _ _ _ _ _ _ _ SpaceAfter=No",
        "1 de _ ADP _ A=1 0 root 0:root a|b=_",
        "1.1 v _ _ _ _ _ _ _ _",
        "2 le _ DET _ _ 1 det 1:det _",
    )
    text = "\n".join(["# sent_id = s", *(row.replace(" ", "\t") for row in rows), "", ""])
    (sentence,) = qsproj.read_conllu(io.StringIO(text))
    assert qsproj.to_token_list(sentence) == conllu.parse(text)[0]
    assert text_of(qsproj.from_token_list(conllu.parse(text)[0])) == text


REFUSED = {
    "a string to nltk": (lambda: qsproj.to_nltk("a b"), "expected a Sentence or a SentencePair"),
    "a string from nltk": (lambda: qsproj.from_nltk("a b"), "expected nltk's DependencyGraph or AlignedSent"),
    "an empty graph": (lambda: qsproj.from_nltk(DependencyGraph()), "words are not 1, 2"),
    "a cycle": (
        lambda: qsproj.from_nltk(DependencyGraph("a X 2\nb X 1\nc X 0\n")),
        "found the cycle of heads",
    ),
    "words as string": (lambda: qsproj.from_nltk(AlignedSent("ab", ["a"])), "found the string 'ab'"),
    "words for tokens": (lambda: qsproj.to_token_list(["a"]), "expected a Sentence"),
    "a list for tokens": (lambda: qsproj.from_token_list([{"id": 1}]), "expected a TokenList"),
    "tokens out of order": (
        lambda: qsproj.from_token_list(conllu.TokenList([{"id": 2, "form": "a"}])),
        "found ID '2', expected 1",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_is_none_of_these_is_refused(mistake):
    call, message = REFUSED[mistake]
    with pytest.raises(qsproj.QsprojError, match=message):
        call()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "conllu", None)
    with pytest.raises(qsproj.QsprojError, match="pip install conllu"):
        qsproj.to_token_list(sample("en")[0])
