"""Sentences go to frames of pandas and come back."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

import qsproj
from qsproj.errors import UsageError

pandas = pytest.importorskip("pandas")
SAMPLES = ["en", "de", "es"]


@pytest.fixture(scope="module")
def german():
    return list(qsproj.read_conllu("corpora/de.conllu"))


@pytest.mark.parametrize("language", SAMPLES)
def test_a_treebank_comes_back_byte_for_byte(language):
    path = Path(f"corpora/{language}.conllu")
    frame = qsproj.to_pandas(qsproj.read_conllu(path))
    assert qsproj.from_pandas(frame).to_conllu() == path.read_text(encoding="utf-8")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
    words = [row for row in rows if row[0].isdigit()]
    assert len(frame) == len(words)
    for column, cell in (("form", 1), ("feats", 5), ("deprel", 7), ("misc", 9)):
        assert frame[column].tolist() == [row[cell] for row in words]
    assert frame["head"].tolist() == [int(row[6]) for row in words]


def test_a_frame_is_indexed_by_sentence_and_word(german):
    frame = qsproj.to_pandas(german)
    assert frame.index.names == ["sentence", "word"]
    assert frame.loc[(2, 1), "form"] == german[1][1].form
    assert frame.loc[3, "lemma"].tolist() == list(german[2].lemmas)
    assert qsproj.to_pandas(german[0]).shape == (len(german[0]), len(frame.columns))
    split = frame[frame.token_id.str.contains("-")]
    assert set(split.token) and not set(split.token) & set(split.form)
    assert len(qsproj.to_pandas([])) == 0 and len(qsproj.from_pandas(qsproj.to_pandas([]))) == 0


def test_a_frame_from_a_file_is_as_good(german, tmp_path):
    frame = qsproj.to_pandas(german[:5])
    frame.to_csv(tmp_path / "words.csv")
    read = pandas.read_csv(tmp_path / "words.csv", na_values=["_"], keep_default_na=False)
    text = "".join(map(str, german[:5]))
    assert qsproj.from_pandas(read).to_conllu() == text
    fractions = frame.assign(head=frame["head"].astype(float), new=1)
    assert qsproj.from_pandas(fractions).to_conllu() == text
    less = frame[["form", "upos"]].reset_index()
    assert [one.upos for one in qsproj.from_pandas(less)] == [one.upos for one in german[:5]]


def test_sentences_are_left_out_and_columns_changed(german):
    frame = qsproj.to_pandas(german)
    long = frame.groupby("sentence").filter(lambda rows: len(rows) > 8)
    found = qsproj.from_pandas(long.assign(upos="X"))
    assert [one.forms for one in found] == [one.forms for one in german if len(one) > 8]
    assert set(found[0].upos) == {"X"}


BROKEN = {
    "a word left out": (lambda f: f[f.upos != "DET"], r"sentence 1: found word 2, expected 1; .*not words"),
    "another order": (lambda f: f.iloc[::-1], r"sentence 2: found word .*sort_index"),
    "two places": (
        lambda f: pandas.concat([f.loc[[1]], f.loc[[2]], f.loc[[1]]]),
        r"sentence 1: found its words in two places",
    ),
    "no form": (lambda f: f.drop(columns="form"), "found no form in the frame"),
    "a form read as missing": (lambda f: f.assign(form=None), "found no form of word 1, .*keep_default_na"),
    "no index": (lambda f: f.reset_index(drop=True), "found no sentence in the frame"),
    "a head outside": (lambda f: f.assign(head=99), r"sentence 1: found HEAD 99, expected 0 to"),
    "a cycle": (lambda f: f.assign(head=[2, 1, *[0] * (len(f) - 2)]), "the cycle of heads"),
    "half a head": (lambda f: f.assign(head=0.5), r"sentence 1: found 0.5 as head of word 1"),
    "an infinite head": (lambda f: f.assign(head=float("inf")), "found inf as head of word 1"),
    "a list as a number": (
        lambda f: f.reset_index().assign(sentence=[[1]] * len(f)),
        r"found \[1\] as number of a sentence",
    ),
    "a column twice": (lambda f: pandas.concat([f, f], axis=1), "found several columns form"),
    "a head in letters": (lambda f: f.assign(head="x"), r"found 'x' as head of word 1"),
    "a tab": (lambda f: f.assign(lemma="a\tb"), "without tabs and line ends"),
    "an empty cell": (lambda f: f.assign(lemma=""), "found '' in row 1"),
    "a token of other words": (lambda f: f.assign(token_id="5-6"), "found token_id 5-6 on word 1"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_frame_that_is_no_treebank_is_refused(fault, german):
    change, message = BROKEN[fault]
    with pytest.raises(UsageError, match=message) as error:
        qsproj.from_pandas(change(qsproj.to_pandas(german[:2])))
    assert "\n" not in str(error.value)


def test_what_is_no_frame_is_refused():
    with pytest.raises(TypeError, match=r"found \[1\] \(list\), expected a DataFrame"):
        qsproj.from_pandas([1])
    with pytest.raises(TypeError, match="expected sentences; make them"):
        qsproj.to_pandas("corpora/de.conllu")


def test_missing_heads_and_multiword_tokens_with_misc_come_back():
    text = (
        "# sent_id = x\n1-2\tIm\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "1\tIn\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdem\t_\t_\t_\t_\t1\t_\t1:a|1.1:b\tA\n\n"
    )
    frame = qsproj.to_pandas(qsproj.Sentence.from_conllu(text))
    assert frame["head"].tolist() == [-1, 1]
    assert qsproj.from_pandas(frame).to_conllu() == text


@pytest.mark.data
def test_ten_thousand_sentences_are_a_frame(real_treebank="english-ewt-train.conllu.gz"):
    import os

    path = Path(os.environ["QSPROJ_DATA"]) / "treebanks" / real_treebank
    sentences = list(islice(qsproj.read_conllu(path), 2000))
    whole = [one for one in sentences if not one.empty_nodes]
    assert qsproj.from_pandas(qsproj.to_pandas(whole)).to_conllu() == "".join(map(str, whole))


def test_only_line_feeds_end_comments():
    text = "# text = a\u2028b\n# c = 1\x85# d = 2\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    sentence = qsproj.Sentence.from_conllu(text)
    (again,) = qsproj.from_pandas(qsproj.to_pandas([sentence]))
    assert again.comments == sentence.comments
