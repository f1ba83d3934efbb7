"""Sentences as containers: tokens, indices, replaced columns, CoNLL-U in and out; documents of them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import qsproj
from qsproj import Document, Sentence
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import make_alignment
from qsproj.errors import DataError, UsageError, WrongTypeError

RICH = (
    "# newpar\n# sent_id = a1\n# text = Im Haus schläft er.\n"
    "1-2\tIm\t_\t_\t_\t_\t_\t_\t_\tTranslit=im\n"
    "1\tIn\tin\tADP\tAPPR\t_\t3\tcase\t3:case\t_\n"
    "2\tdem\tder\tDET\tART\tCase=Dat|Number=Sing\t3\tdet\t3:det\t_\n"
    "3\tHaus\tHaus\tNOUN\tNN\tCase=Dat\t4\tobl\t4:obl|4.1:orphan\tGloss=house|Check\n"
    "4\tschläft\tschlafen\tVERB\tVVFIN\t_\t0\troot\t0:root\tArcProb=0.9000\n"
    "4.1\tund\t_\tCCONJ\t_\tPolarity=Neg\t_\t_\t4:conj\tCopyOf=4\n"
    "5\ter\ter\tPRON\tPPER\tCase=Nom\t4\tnsubj\t4:nsubj\tSpaceAfter=No\n"
    "6\t.\t.\tPUNCT\t$.\t_\t4\tpunct\t4:punct\t_\n\n"
)


@pytest.fixture
def rich():
    return Sentence.from_conllu(RICH)


def test_a_sentence_is_a_container_of_its_words(rich):
    assert len(rich) == 6
    assert [token.form for token in rich] == ["In", "dem", "Haus", "schläft", "er", "."]
    assert [token.id for token in reversed(rich)] == [6, 5, 4, 3, 2, 1]
    assert rich[1].form == "In" and rich[6] == rich[-1] == rich[np.int64(6)] != rich[1]
    assert rich[2] in rich and len({rich[1], rich[-6], rich[2]}) == 2


def test_a_token_has_every_column(rich):
    noun = rich[3]
    assert (noun.id, noun.form, noun.lemma, noun.upos, noun.xpos) == (3, "Haus", "Haus", "NOUN", "NN")
    assert (noun.head, noun.deprel, rich[4].head) == (4, "obl", 0)
    assert rich[2].feats == {"Case": "Dat", "Number": "Sing"} and rich[1].feats == {}
    assert noun.deps == [(4, "obl"), ("4.1", "orphan")]
    assert noun.misc == {"Gloss": "house", "Check": None} and rich[1].misc == {}
    assert (rich[4].arc_probability, noun.arc_probability) == (0.9, None)
    assert rich[4].is_root and not noun.is_root
    assert noun.parent == rich[4] and rich[4].parent is None
    assert noun.children == (rich[1], rich[2]) and rich[1].children == ()
    assert rich.root == rich[4]


def test_what_is_no_word_is_there_too(rich):
    (token,) = rich.multiword_tokens
    assert (token.id, token.first, token.last, token.form) == ("1-2", 1, 2, "Im")
    assert token.misc == {"Translit": "im"}
    (node,) = rich.empty_nodes
    assert (node.id, node.form, node.upos, node.feats) == ("4.1", "und", "CCONJ", {"Polarity": "Neg"})
    assert (node.deps, node.misc) == (((4, "conj"),), {"CopyOf": "4"})
    assert rich.comments == ("# newpar", "# sent_id = a1", "# text = Im Haus schläft er.")
    assert rich.text == "Im Haus schläft er."


def test_the_text_is_spelled_where_no_comment_has_it(rich):
    bare = Sentence.from_conllu("".join(line for line in RICH.splitlines(True) if line[0] != "#"))
    assert bare.text == rich.text and bare.comments == ()
    assert Sentence.from_words(["Ja", "!"]).text == "Ja !"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_sentence_is_written_and_read_without_loss(newline):
    text = RICH.replace("\n", newline)
    sentence = Sentence.from_conllu(text)
    assert sentence.to_conllu() == str(sentence) == text
    assert sentence[3].misc == {"Gloss": "house", "Check": None}


def test_reprs_are_short(rich):
    assert repr(rich) == "<Sentence 'Im Haus schläft er.' 6 words>"
    assert repr(rich[3]) == "<Token 3 'Haus' NOUN>" and str(rich[3]) == "Haus"
    assert len(repr(Sentence.from_words(["Wort"] * 500))) < 100
    assert repr(Sentence.from_words(["Ja"])) == "<Sentence 'Ja' 1 word>"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (0, "words count from 1"),
        (7, "found 7 as the number of a word, expected 1 to 6"),
        (-7, "expected 1 to 6, or -1 to -6 from the end"),
        (slice(1, 3), "words count from 1"),
        (slice(None, None, 2), "found a slice"),
    ],
)
def test_an_index_that_is_none_says_that_words_count_from_1(word, message, rich):
    with pytest.raises(IndexError, match=message):
        rich[word]
    with pytest.raises(qsproj.QsprojError):
        rich[word]
    with pytest.raises(TypeError, match=r"found 'Haus' \(str\) as the number of a word"):
        rich["Haus"]


def test_columns_are_replaced_in_a_copy(rich):
    other = rich.replace(
        heads=[3, 3, 0, 3, 3, 3],
        deprels=["case", None, "root", "dep", "dep", "punct"],
        feats=[None, {"Case": "Acc"}, "X=Y", None, {}, None],
        misc=[None, None, {"Note": None, "Gloss": "h"}, None, "SpaceAfter=No", None],
        deps=[[(3, "case")], [], [(0, "root"), ("4.1", "x")], [], [], []],
        sent_id="b2",
    )
    assert other.heads.tolist() == [-1, 3, 3, 0, 3, 3, 3] and not other.heads.flags.writeable
    assert (other[2].deprel, other[2].feats, other[3].feats) == ("_", {"Case": "Acc"}, {"X": "Y"})
    assert other[3].misc == {"Note": None, "Gloss": "h"} and other[3].deps == [(0, "root"), ("4.1", "x")]
    assert other.comments[1] == "# sent_id = b2" and other.multiword_tokens == rich.multiword_tokens
    again = Sentence.from_conllu(other.to_conllu())
    assert again.to_conllu() == other.to_conllu() and again.heads.tolist() == other.heads.tolist()
    # The sentence itself is what it was.
    assert rich.to_conllu() == RICH


def test_a_probability_of_an_old_arc_does_not_stay(rich):
    assert rich.replace(upos=["X"] * 6)[4].arc_probability == 0.9
    assert rich.replace(heads=rich.heads)[4].arc_probability is None
    assert rich.replace(heads=rich.heads, misc=["ArcProb=0.5"] * 6)[4].arc_probability == 0.5


REFUSED = {
    "an edge from no word": ({"deps": [[(9, "x")], []]}, "found the edge (9, 'x') in deps, expected a word"),
    "two edges in one": ({"deps": [[(0, "a|1:b")], []]}, "a relation without |"),
    "no edge": ({"deps": [["x"], []]}, "found 'x' (str) in deps, expected an edge (head, relation)"),
    "too few heads": ({"heads": [0]}, "found 1 head, expected 2, one for each word"),
    "too many heads": ({"heads": [-1, 0, 1, 1]}, "found 4 heads, expected 2"),
    "as many as with the root, but without it": ({"heads": [2, 0, 1]}, "found 3 heads, expected 2"),
    "a cycle": ({"heads": [2, 1]}, "the cycle of heads 1 <- 2 <- 1"),
    "a head outside": ({"heads": [3, 0]}, "found HEAD 3, expected 0 to 2"),
    "a string": ({"upos": "XY"}, "found the string 'XY' as upos"),
    "a short column": ({"misc": ["A=1"]}, "found 1 cell in misc, expected 2"),
    "a tab": ({"misc": ["A=\t", None]}, "without tabs and line ends"),
    "a bar in an item": ({"misc": [{"A": "1|2"}, None]}, "found the item {'A': '1|2'} in misc"),
    "a number in an item": ({"feats": [{"A": 1}, None]}, "found the item {'A': 1} in feats"),
    "a line end as name": ({"sent_id": "a\nb"}, "as sent_id"),
    "a column of numbers": ({"lemmas": [1, 2]}, "found 1 (int) as word 1 of lemmas"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_does_not_fit_is_not_put_in(mistake):
    columns, message = REFUSED[mistake]
    with pytest.raises(UsageError) as error:
        Sentence.from_words(["a", "b"]).replace(**columns)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_words_come_with_lemmas_features_and_misc():
    made = Sentence.from_words(
        ["Ja", "!"],
        lemmas=["ja", None],
        xpos=["ITJ", "$."],
        feats=["A=B", None],
        misc=["SpaceAfter=No", None],
    )
    assert (made[1].lemma, made[2].lemma, made[2].xpos, made[1].feats) == ("ja", "_", "$.", {"A": "B"})
    assert made.text == "Ja!" and "# text = Ja!" in made.comments
    (again,) = read_conllu_text(str(made))
    assert again.to_conllu() == str(made)


def read_conllu_text(text):
    return list(Document.from_conllu(text))


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (RICH * 2, UsageError, "found 2 sentences, expected one; for several: qsproj.Document.from_conllu"),
        ("de.conllu", DataError, "<text>:1: found the text 'de.conllu'"),
        ("", DataError, "no sentence"),
        (b"1", WrongTypeError, "expected a string"),
    ],
)
def test_what_is_not_one_sentence_is_told(text, kind, message):
    with pytest.raises(kind, match=message):
        Sentence.from_conllu(text)


def test_sentences_go_to_other_processes_and_keep_their_views(rich):
    again = pickle.loads(pickle.dumps(rich))
    assert [str(token) for token in again] == list(rich.forms)
    assert pickle.loads(pickle.dumps(rich[3])).form == "Haus"
    links = make_alignment(1, 2, [(1, 2)], weights=[0.5])
    for again, arrays in (
        (pickle.loads(pickle.dumps(rich)), ("heads",)),
        (copy.deepcopy(rich), ("heads",)),
        (copy.deepcopy(links), ("links", "sure", "weights")),
    ):
        assert not any(getattr(again, name).flags.writeable for name in arrays)
    assert copy.deepcopy(rich).to_conllu() == rich.to_conllu()


def test_the_sample_is_the_same_through_tokens_and_text():
    """Every file of the sample, token by token, against the cells of its rows."""
    for name in ("en", "de", "es"):
        path = Path(f"corpora/{name}.conllu")
        text = path.read_text(encoding="utf-8")
        sentences = list(read_conllu(path))
        assert "".join(map(str, sentences)) == text == Document(sentences).to_conllu()
        rows = [line.split("\t") for line in text.splitlines() if line and line[0].isdigit()]
        words = [row for row in rows if row[0].isdigit()]
        tokens = [token for sentence in sentences for token in sentence]
        assert [[str(t.id), t.form, t.lemma, t.upos, t.xpos, str(t.head), t.deprel] for t in tokens] == [
            [*row[:5], *row[6:8]] for row in words
        ]


def test_a_document_streams_and_keeps_its_sentences():
    taken = []

    def source():
        for form in "abc":
            taken.append(form)
            yield Sentence.from_words([form])

    document = Document(source(), text="a b  c")
    first = iter(document)
    assert next(first).forms == ("a",) and taken == ["a"]
    assert document[1].forms == ("b",) and taken == ["a", "b"]
    assert [one.forms for one in document] == [("a",), ("b",), ("c",)]
    assert len(document) == 3 and document[-1] is document[2]
    assert isinstance(document[1:], Document) and len(document[1:]) == 2
    assert document.text == "a b  c" and repr(document) == "<Document 'a b c' 3 sentences>"
    assert pickle.loads(pickle.dumps(document)).to_conllu() == document.to_conllu() == str(document)
    assert [token.form for token in document.tokens] == ["a", "b", "c"]
    with pytest.raises(IndexError):
        document[3]


def test_a_document_that_failed_fails_again():
    def sentences():
        yield Sentence.from_words(["Hush"])
        raise DataError("file", 2, "a fault", "none")

    document = Document(sentences())
    assert document[0].forms == ("Hush",)
    for use in (len, list, Document.to_conllu, lambda one: one[1], repr):
        with pytest.raises(DataError, match="a fault"):
            use(document)
    assert document[0].forms == ("Hush",)


def test_a_document_that_was_interrupted_is_not_cut_short():
    def sentences():
        yield Sentence.from_words(["Hush"])
        raise KeyboardInterrupt

    document = Document(sentences())
    with pytest.raises(KeyboardInterrupt):
        len(document)
    for _ in range(2):
        with pytest.raises(UsageError, match="interrupted"):
            len(document)


@pytest.mark.parametrize("comments", ["", "# sent_id = old\n# text = a\n"])
def test_a_sentence_loses_its_id(comments):
    (one,) = Document.from_conllu(f"{comments}1\ta" + "\t_" * 8 + "\n\n")
    named, bare = one.replace(sent_id="new"), one.replace(sent_id="new").replace(sent_id="")
    assert (named.sent_id, bare.sent_id) == ("new", None)
    assert "# sent_id = new\n" in named.to_conllu()
    assert "sent_id" not in bare.to_conllu()
    assert Document.from_conllu(bare.to_conllu())[0].sent_id is None


def test_a_document_without_text_is_put_together(rich):
    later = Sentence.from_words(["Ja", "."], misc=["SpaceAfter=No", "SpaceAfter=No"])
    assert Document([rich, later, later, rich]).text == f"{rich.text} Ja.Ja.\n{rich.text}"
    with pytest.raises(UsageError, match="as sentences, expected a list"):
        Document("Ein Satz.")


def test_only_line_feeds_end_comments():
    sentence = Sentence.from_conllu(
        "# text = a\u2028b\n# c = 1\x85# d = 2\n1\ta\u2028b\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert sentence.comments == ("# text = a\u2028b", "# c = 1\x85# d = 2")
