"""Sentences go to spaCy and come back; a model is a component of a pipeline."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import qsproj
from qsproj.errors import UsageError

spacy = pytest.importorskip("spacy")
from spacy import displacy  # noqa: E402
from spacy.matcher import DependencyMatcher  # noqa: E402
from spacy.tokens import Doc  # noqa: E402

import qsproj.interop.spacy_component  # noqa: E402  # the package may not be installed

CHECKOUT = Path(__file__).resolve().parents[2]
TEXT = "Der Hund bellt im Garten.\n\nDie  Katze schläft."
SAMPLES = ["en", "de", "es"]


def kept(name):
    return str(CHECKOUT / "tests" / "kept_models" / f"{name}.model")


def pipeline(**config):
    nlp = spacy.blank("de")
    nlp.add_pipe("qsproj", config={"model": kept("text-parser"), **config})
    return nlp


@pytest.mark.parametrize("language", SAMPLES)
def test_a_treebank_comes_back_byte_for_byte(language):
    path = Path(f"corpora/{language}.conllu")
    sentences = list(qsproj.read_conllu(path))
    doc = qsproj.to_spacy(sentences)
    assert [[token.text for token in span] for span in doc.sents] == [list(one.forms) for one in sentences]
    assert qsproj.from_spacy(doc).to_conllu() == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", SAMPLES)
def test_trees_come_back_from_tokens_alone(language):
    sentences = list(qsproj.read_conllu(f"corpora/{language}.conllu"))
    doc = qsproj.to_spacy(sentences)
    doc.user_data.clear()
    for one, other in zip(sentences, qsproj.from_spacy(doc), strict=True):
        for column in ("forms", "lemmas", "upos", "xpos", "feats", "deprels"):
            assert getattr(one, column) == getattr(other, column)
        assert one.heads.tolist() == other.heads.tolist()


def test_tokens_have_what_words_have():
    sentence = qsproj.Sentence.from_words(
        ["Dogs", "bark", "!"],
        upos=["NOUN", "VERB", "PUNCT"],
        xpos=["NNS", None, "."],
        lemmas=["dog", "bark", "!"],
        feats=["Number=Plur", None, None],
        heads=[2, 0, 2],
        deprels=["nsubj", "root", "punct"],
        misc=["ArcProb=0.7500", "SpaceAfter=No", None],
    )
    dogs, bark, mark = doc = qsproj.to_spacy(sentence)
    assert doc.text.strip() == "Dogs bark!"
    assert (dogs.pos_, dogs.tag_, dogs.lemma_, dogs.dep_) == ("NOUN", "NNS", "dog", "nsubj")
    assert dogs.head == bark == bark.head and bark.dep_ == "ROOT" and mark.is_sent_start is False
    assert dogs.morph.get("Number") == ["Plur"]
    assert dogs._.arc_probability == 0.75 and bark._.arc_probability is None


def test_what_is_changed_in_a_doc_is_changed_in_the_sentence():
    (sentence,) = qsproj.Document.from_conllu(
        "# x = y\n1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_\n1\tIn\t_\tADP\t_\tB=1|a=2\t2\tcase\t2:case\tArcProb=0.5\n"
        "2\tdem\t_\tFOO\t_\t_\t0\troot\t0:root\tGloss=x\n\n"
    )
    doc = qsproj.to_spacy(sentence)
    assert qsproj.from_spacy(doc).to_conllu() == sentence.to_conllu()
    doc[0].lemma_ = "in"
    assert qsproj.from_spacy(doc)[0].to_conllu() == sentence.replace(lemmas=["in", None]).to_conllu()
    again = Doc(spacy.vocab.Vocab()).from_bytes(doc.to_bytes())
    assert qsproj.from_spacy(again).to_conllu() == qsproj.from_spacy(doc).to_conllu()


def test_only_the_changed_cells_of_a_doc_change():
    """spaCy has its own order of features, no features without values, and no missing relations."""
    rows = (
        ("Zwei", "NUM", "Number=Plur|NumType=Card", "2", "nummod"),
        ("Hunde", "NOUN", "Odd|Case=Nom,Acc|Empty=", "0", "root"),
        ("hier", "FOO", "B=1|A=1", "2", "_"),
    )
    lines = (
        f"{i}\t{form}\t_\t{tag}\t_\t{feats}\t{head}\t{name}\t_\t_\n"
        for i, (form, tag, feats, head, name) in enumerate(rows, start=1)
    )
    sentence = qsproj.Sentence.from_conllu("".join(lines) + "\n")
    doc = qsproj.to_spacy(sentence)
    assert qsproj.from_spacy(doc).to_conllu() == sentence.to_conllu()
    doc[0].dep_, doc[0].pos_ = "det", "DET"
    doc[1].set_morph("Number=Plur|NumType=Card")
    changed = sentence.replace(
        deprels=["det", "root", None],
        upos=["DET", "NOUN", "FOO"],
        feats=[sentence.feats[0], "Number=Plur|NumType=Card", sentence.feats[2]],
    )
    assert qsproj.from_spacy(doc)[0].to_conllu() == changed.to_conllu()
    doc.user_data.clear()
    (bare,) = qsproj.from_spacy(doc)
    assert (bare.deprels, bare.upos[2]) == (("det", "root", "dep"), "_")
    assert bare.feats == ("Number=Plur|NumType=Card", "Number=Plur|NumType=Card", "A=1|B=1")


def test_words_without_a_head_keep_relations_and_probabilities():
    (sentence,) = qsproj.Document.from_conllu(
        "1\tA\t_\tX\t_\t_\t0\t_\t_\tArcProb=0.9|RelProb=0.8\n2\tb\t_\tX\t_\t_\t_\tobj\t_\t_\n"
        "3\tc\t_\tX\t_\t_\t1\tdet\t_\tArcProb=0.7\n\n"
    )
    doc = qsproj.to_spacy(sentence)
    assert qsproj.from_spacy(doc).to_conllu() == sentence.to_conllu()
    doc[2].dep_ = "amod"
    (changed,) = qsproj.from_spacy(doc)
    assert (changed.heads.tolist()[1:], changed.deprels) == ([0, -1, 1], ("_", "obj", "amod"))


@pytest.mark.parametrize(
    "heads", [[None, None, None], [2, None, 2], [0, 0, 2], [None, 3, 0], [3, None, None]], ids=str
)
def test_parts_of_trees_and_several_roots_stay_one_sentence(heads):
    one = qsproj.Sentence.from_words(
        ["a", "b", "c"], heads=heads, deprels=["x" if h else None for h in heads]
    )
    one = one.replace(deprels=["root" if h == 0 else d for h, d in zip(heads, one.deprels)])
    doc = qsproj.to_spacy([one, one])
    assert len(list(doc.sents)) == 2
    assert qsproj.from_spacy(doc).to_conllu() == one.to_conllu() * 2
    doc.user_data.clear()
    assert [other.heads.tolist() for other in qsproj.from_spacy(doc)] == [one.heads.tolist()] * 2


def test_a_doc_without_annotation_and_white_space():
    doc = spacy.blank("de")("\n Der  Hund\nbellt. Ja.\n")
    (sentence,) = qsproj.from_spacy(doc)
    assert sentence.forms == ("Der", "Hund", "bellt", ".", "Ja", ".")
    assert set(sentence.upos) == {"_"} and (sentence.heads == -1).all()
    assert [token.misc for token in sentence] == [
        {"SpacesBefore": r"\n\s", "SpacesAfter": r"\s\s"},
        {"SpacesAfter": r"\n"},
        {"SpaceAfter": "No"},
        {},
        {"SpaceAfter": "No"},
        {"SpacesAfter": r"\n"},
    ]
    assert len(qsproj.from_spacy(spacy.blank("de")(" \n "))) == 0
    with pytest.raises(TypeError, match="expected a Doc of spaCy"):
        qsproj.from_spacy("Der Hund.")


def test_a_model_annotates_the_tokens_of_spacy():
    doc = pipeline()(TEXT)
    assert doc.text == TEXT and [token.text for token in doc] == [
        token.text for token in spacy.blank("de")(TEXT)
    ]
    words = [token for token in doc if not token.is_space]
    assert [token.pos_ for token in words[:3]] == ["DET", "NOUN", "VERB"]
    assert (words[1].head.text, words[1].dep_, words[2].dep_) == ("bellt", "nsubj", "ROOT")
    assert [span.text.strip() for span in doc.sents] == ["Der Hund bellt im Garten.", "Die  Katze schläft."]
    assert all(0 < token._.arc_probability <= 1 for token in words)
    assert [token.pos_ for token in doc if token.is_space] == ["SPACE"] * 2
    model = qsproj.load_model(kept("text-parser"))
    alone = model(qsproj.Sentence.from_words([token.text for token in next(doc.sents) if not token.is_space]))
    assert qsproj.from_spacy(doc)[0].heads.tolist() == alone.heads.tolist()


def test_a_model_also_cuts_the_text():
    doc = pipeline(tokenize=True)(TEXT)
    expected = qsproj.load_model(kept("text-parser"))(TEXT, confidence=True)
    plain = pipeline(tokenize=True)("Der Hund bellt.\n\nDie Katze schläft.  ")
    assert qsproj.from_spacy(plain).text == plain.text
    assert (doc.text[-1], pipeline(tokenize=True)(f"{TEXT} ").text[-1]) == (".", " ")
    assert [one.multiword_tokens for one in qsproj.from_spacy(doc)] == [
        one.multiword_tokens for one in expected
    ]
    assert [token.text for token in doc] == [form for one in expected for form in one.forms]
    assert [len(span) for span in doc.sents] == [len(one) for one in expected]
    for one, other in zip(qsproj.from_spacy(doc), expected, strict=True):
        assert one.heads.tolist() == other.heads.tolist() and one.upos == other.upos
        assert [token.arc_probability for token in one] == [token.arc_probability for token in other]


@pytest.mark.parametrize("tokenize", [False, True])
def test_pipelines_work_in_batches_and_are_kept(tokenize, tmp_path):
    nlp = pipeline(tokenize=tokenize)
    texts = [TEXT, "", " ", "Die Katze schläft. Ja."] * 2
    single = [nlp(text).to_json() for text in texts]
    assert [doc.to_json() for doc in nlp.pipe(texts, batch_size=3)] == single
    nlp.to_disk(tmp_path / "nlp")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "nlp").rename(tmp_path / "elsewhere" / "nlp")
    kept_pipeline = spacy.load(tmp_path / "elsewhere" / "nlp")
    assert kept_pipeline(TEXT).to_json() == single[0]
    assert pickle.loads(pickle.dumps(nlp.get_pipe("qsproj").annotator)) is not None


def test_sentences_that_are_known_stay():
    nlp = spacy.blank("de")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("qsproj", config={"model": kept("text-parser"), "confidence": False})
    doc = nlp("Der Hund. Die Katze! Ja")
    assert [span.text for span in doc.sents] == ["Der Hund.", "Die Katze!", "Ja"]
    assert doc[0]._.arc_probability is None


def test_a_parser_of_tagged_words_reads_the_tags_of_the_pipeline():
    nlp = spacy.blank("de")
    nlp.add_pipe("qsproj", name="tags", config={"model": kept("tagger")})
    nlp.add_pipe("qsproj", name="trees", config={"model": kept("graph-parser")})
    doc = nlp("Der Hund bellt.")
    assert doc[1].pos_ == "NOUN" and doc[1].dep_ and doc.has_annotation("DEP")


def test_trees_are_drawn_and_searched():
    """As the guide shows: displaCy, and a DependencyMatcher over subjects."""
    nlp = pipeline()
    doc = nlp("Der Hund bellt.")
    assert "nsubj" in displacy.render(doc, style="dep", jupyter=False)
    matcher = DependencyMatcher(nlp.vocab)
    verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"POS": "VERB"}}
    subject = {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "subject", "RIGHT_ATTRS": {"DEP": "nsubj"}}
    matcher.add("subjects", [[verb, subject]])
    ((_, found),) = matcher(doc)
    assert [doc[at].text for at in found] == ["bellt", "Hund"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model": kept("link-chooser")}, "found <LinkChooser>, expected a parser, a tagger or a text model"),
        ({"model": "no.model"}, "qsproj: found no model at 'no.model', expected a file"),
        ({}, 'qsproj: found no model, expected a file; nlp.add_pipe("qsproj"'),
        ({"model": kept("labelled-parser")}, "found a sentence without UPOS"),
        ({"model": __file__}, "expected a model"),
        ({"model": kept("graph-parser"), "tokenize": True}, "found a text, but <GraphParser"),
    ],
    ids=str,
)
def test_a_model_that_does_not_fit_is_told(config, message):
    nlp = spacy.blank("de")
    with pytest.raises((UsageError, ValueError)) as error:
        nlp.add_pipe("qsproj", config=config)
        nlp("Der Hund bellt.")
    assert message in str(error.value)


@pytest.mark.slow
def test_spacy_finds_the_component_by_the_entry_point_of_the_package(tmp_path):
    """Where the package is installed; its metadata are put beside the checkout."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((group, points),) = project["entry-points"].items()
    lines = "\n".join(f"{name} = {value}" for name, value in points.items())
    metadata = tmp_path / "qsproj_beside-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: qsproj-beside\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
    program = (
        "import spacy, sys; nlp = spacy.blank('de')\n"
        "nlp.add_pipe('qsproj', config={'model': sys.argv[1]}); print(nlp('Der Hund bellt.')[1].dep_)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, kept("text-parser")],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "nsubj\n"), done.stderr
