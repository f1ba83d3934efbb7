"""Models are called: texts and sentences in, documents and sentences out, for every kept kind."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

import qsproj
from qsproj import Document, Sentence
from qsproj.errors import QsprojError, UsageError

KEPT = sorted(Path(__file__).parents[1].glob("kept_models/*.model"))
TEXT = "Der Hund bellt. Die Katze schläft.\n\nEin Haus steht hier."
WORDS = Sentence.from_words(["Der", "Hund", "bellt", "."])
TAGGED = WORDS.replace(upos=["DET", "NOUN", "VERB", "PUNCT"])


def kept(name):
    return qsproj.load_model(Path(__file__).parents[1] / "kept_models" / f"{name}.model")


@pytest.fixture(scope="module")
def text_model():
    return kept("text-parser")


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_repr_of_every_kind_is_short(path):
    model = qsproj.load_model(path)
    assert re.fullmatch(rf"<{type(model).__name__}( [\w ,]+)?>", repr(model)) and len(repr(model)) < 60
    assert repr(pickle.loads(pickle.dumps(model))) == repr(model)


def test_the_repr_says_what_a_model_knows(text_model):
    assert repr(text_model) == "<TextParser de, 7 tags, 7 relations>"
    assert repr(kept("tagger")) == "<Tagger de, 7 tags>"


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_every_kind_takes_a_sentence_or_says_what_it_takes(path):
    model = qsproj.load_model(path)
    if not hasattr(model, "parse"):
        with pytest.raises(QsprojError, match=r"has no parse, parsers do .* this model has align"):
            model(TAGGED)
        return
    sentence = TAGGED.replace(heads=[2, 3, 0, 3]) if path.stem == "converter" else TAGGED
    called = model(sentence, confidence=True)
    assert called.to_conllu() == model.parse(sentence, confidence=True).to_conllu()
    assert any("Prob=" in line for line in called.to_conllu().splitlines())
    document = model([sentence, sentence])
    assert isinstance(document, Document) and len(document) == 2
    assert [str(one) for one in model.pipe([sentence] * 3, batch_size=2)] == [str(model(sentence))] * 3


def test_a_text_becomes_a_document(text_model):
    document = text_model(TEXT, confidence=True)
    assert document.text == TEXT
    assert [sentence.text for sentence in document] == [
        *("Der Hund bellt.", "Die Katze schläft.", "Ein Haus steht hier.")
    ]
    assert document[0].root.form == "bellt" and document[0][2].parent.form == "bellt"
    assert all(0 < token.arc_probability <= 1 for token in document.tokens)
    assert Document.from_conllu(document.to_conllu()).to_conllu() == document.to_conllu()
    assert text_model("").to_conllu() == "" and len(text_model(" \n")) == 0


def test_a_text_is_parsed_as_it_is_looked_at(text_model):
    """The first sentence is there before the last line is read."""
    document = text_model("Der Hund bellt.\n\n" * 5000)
    assert next(iter(document))[3].form == "bellt"
    assert len(document._found) < 1000


def test_texts_are_piped_in_batches_with_the_same_results(text_model):
    texts = [TEXT, "", "Der Hund.", *["Die Katze schläft. Der Hund bellt."] * 3]
    single = [text_model(text).to_conllu() for text in texts]
    for size in (1, 2, 100):
        piped = list(text_model.pipe(iter(texts), batch_size=size))
        assert [one.to_conllu() for one in piped] == single and [one.text for one in piped] == texts
    assert "ArcProb=" in next(text_model.pipe(texts, confidence=True)).to_conllu()


@pytest.mark.slow
def test_sentences_that_are_too_long_are_left_as_they_are(text_model):
    text = "Der Hund bellt.\n\n" + "lang " * 1001 + "\n\nDie Katze schläft."
    (piped,) = text_model.pipe([text])
    for document in (text_model(text), piped):
        assert [(len(one), one.root is None) for one in document] == [(4, False), (1001, True), (4, False)]


def test_texts_are_piped_by_several_processes(text_model):
    texts = ["Der Hund bellt. Die Katze schläft."] * 7
    single = [one.to_conllu() for one in text_model.pipe(texts)]
    assert [one.to_conllu() for one in text_model.pipe(texts, jobs=2, batch_size=2)] == single


def test_a_tagger_reads_text():
    (first, second) = kept("tagger")("Der Hund bellt. Die Katze schläft.", confidence=True)
    assert first.upos[:2] == ("DET", "NOUN") and "TagProb" in second[1].misc


REFUSED = {
    "a text for a parser of words": (
        lambda: kept("arc-parser")("Der Hund."),
        r"found a text, but <ArcParser 7 relations> reads sentences of words: model\(qsproj.Sentence",
    ),
    "a text for a parser of pairs": (
        lambda: kept("joint-parser")("Der Hund."),
        r"reads pairs of sentences: parse_pair\(source, target, alignment\)",
    ),
    "a text for a chooser of links": (lambda: kept("link-chooser")("Der Hund."), r"align\(pair\)"),
    "a text to parse": (
        lambda: kept("arc-parser").parse("Der Hund."),
        r"found 'Der Hund.' \(str\), expected a Sentence; .*; models of .* read text: model\(text\)",
    ),
    "sentences to parse": (
        lambda: kept("arc-parser").parse([WORDS]),
        r"several sentences are annotated by model.pipe\(sentences\)",
    ),
    "two sentences as one": (
        lambda: kept("text-parser").parse("Der Hund.\nDie Katze."),
        r"found a text of 2 lines, expected one sentence; for several: model\(text\)",
    ),
    "texts to call": (lambda: len(kept("text-parser")(["Der Hund."])), r"of texts: model.pipe\(texts\)"),
    "a number": (lambda: kept("text-parser")(7), r"found 7 \(int\), expected a Sentence"),
    "one text to pipe": (lambda: kept("text-parser").pipe("Der Hund."), "expected a list of texts"),
    "no batch": (lambda: kept("text-parser").pipe([], batch_size=0), "found 0 as batch_size"),
    "no job": (lambda: kept("text-parser").pipe([], jobs=0), "expected 1 or more, or -1"),
    "a tagger of no language": (
        lambda: kept("tagging-parser")("Der Hund."),
        "does not know its language; train it with language=CODE",
    ),
    "untagged words": (lambda: kept("arc-parser")(WORDS), "found a sentence without UPOS.*; tag it first"),
    "untagged words among others": (
        lambda: list(kept("graph-parser").pipe([TAGGED, WORDS])),
        "found a sentence without UPOS",
    ),
    "a tagger that is to parse": (
        lambda: kept("tagger").arc_probabilities(WORDS),
        "Tagger has no arc_probabilities, parsers do; this model has tag, read, parse",
    ),
    "a parser that is to tag": (
        lambda: kept("arc-parser").tag(WORDS),
        "ArcParser has no tag, taggers and text models do",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_a_model_cannot_do_says_which_can(mistake):
    call, message = REFUSED[mistake]
    with pytest.raises(UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_other_attributes_that_are_not_there_are_missing_as_usual():
    assert not hasattr(kept("tagger"), "scorer") and not hasattr(kept("tagger"), "arc_probabilities")
    with pytest.raises(AttributeError, match="'nothing'"):
        kept("tagger").nothing  # noqa: B018


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_every_method_of_every_kind_takes_a_sentence_and_says_so(path):
    model = qsproj.load_model(path)
    for name in ("parse", "tag", "arc_probabilities", "convert_sentence"):
        for given in ([TAGGED], 7, None, b"a") if hasattr(model, name) else ():
            with pytest.raises(UsageError, match="expected a Sentence"):
                getattr(model, name)(given)
