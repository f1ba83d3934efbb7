"""Functions beside commands do what the commands do."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import qsproj
from qsproj.cli.main import main
from qsproj.corpus.editing import with_columns
from qsproj.errors import DataError, UsageError

KEPT = Path(__file__).parents[1] / "kept_models"
TEXT = "Der Hund bellt.\n\nWir gehen zum Haus.\n"


def output_of(*command, path):
    assert main([*map(str, command), "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def test_trees_are_converted_as_by_the_command(english, tmp_path):
    by_command = output_of("convert", "--to", "prague", "corpora/en.conllu", path=tmp_path / "out")
    assert "".join(map(str, qsproj.convert(english, "prague"))) == by_command
    found = qsproj.convert(qsproj.convert(english, "prague"), "ud", source="auto")
    assert qsproj.evaluate(english, found).uas > 99
    converter = qsproj.train_converter(english[:10], qsproj.convert(english[:10], "prague"))
    new = qsproj.convert(english[10:12], converter, confidence=True)
    assert new[0][1].arc_probability is not None
    assert "prague" in qsproj.detect_style(qsproj.convert(english, "prague")).presets


def test_text_is_cut_as_by_the_command(tmp_path):
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    by_command = output_of("tokenize", "--language", "de", tmp_path / "text", path=tmp_path / "out")
    words = qsproj.tokenize(TEXT, language="de")
    assert "".join(" ".join(line) + "\n" for line in words) == by_command
    assert [one.forms for one in qsproj.read_text(tmp_path / "text", language="de")] == [words[0], words[2]]
    model = qsproj.load_model(KEPT / "text-parser.model")
    by_model = output_of(
        "tokenize", "-m", KEPT / "text-parser.model", tmp_path / "text", path=tmp_path / "out"
    )
    assert "".join(" ".join(line) + "\n" for line in qsproj.tokenize(TEXT, model=model)) == by_model
    running = io.StringIO("Der Hund bellt. Die Katze schläft.")
    assert [len(one) for one in qsproj.read_text(running, language="de", paragraphs=True)] == [4, 4]
    running.seek(0)
    assert [len(one) for one in qsproj.read_text(running, model=model, paragraphs=True)] == [4, 4]


@pytest.mark.parametrize("paragraphs", [False, True])
def test_errors_name_the_text_that_a_model_cannot_divide(tmp_path, paragraphs):
    words = qsproj.Sentence.from_words(["a", "b"], upos=["DET", "NOUN"])
    (tmp_path / "thai").write_text("ภาษาไทยเป็นภาษาที่มีระดับเสียง\n", encoding="utf-8")
    model = qsproj.train_tagger([words] * 4, language="th")
    with pytest.raises(DataError, match=r"thai:1: "):
        list(qsproj.read_text(tmp_path / "thai", model=model, paragraphs=paragraphs))


def test_sentences_are_suggested_as_by_the_command(english, parser, tmp_path):
    parser.save(tmp_path / "parser")
    qsproj.write_conllu(english[40:60], tmp_path / "raw")
    qsproj.write_conllu(english[:40], tmp_path / "done")
    by_command = output_of(
        *("suggest", "-m", tmp_path / "parser", tmp_path / "raw", "--count", "4", "--predict"),
        *("--annotated", tmp_path / "done"),
        path=tmp_path / "out",
    )
    found = qsproj.suggest(parser, english[40:60], count=4, annotated=english[:40], predict=True)
    assert "".join(map(str, found)) == by_command


def test_words_are_found_as_by_the_command(english, capsys):
    found = qsproj.search(english, "upos=NOUN deprel=nsubj")
    assert main(["search", "upos=NOUN deprel=nsubj", "corpora/en.conllu"]) == 0
    lines = [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()]
    assert lines == [[token.sentence.sent_id, str(token.id)] for token in found]


def test_tags_are_projected_with_one_source_and_with_several(english, german, tmp_path):
    words = [qsproj.Sentence.from_words(one.forms) for one in german]
    links = qsproj.align(english, german, threshold=0.1)
    right = [tag for one in german for tag in one.upos]

    def accuracy(tagger):
        return sum(
            tag == own for tag, own in zip((t for w in words for t in tagger.tag(w).upos), right)
        ) / len(right)

    one = qsproj.project_tags(english, words, links, language="de", columns=[])
    assert accuracy(one) > 0.75
    few = qsproj.project_tags([english, english], words, [links, links], tagged=german[:10], columns=[])
    assert accuracy(few) > accuracy(one)
    lexicon = {"der": ["NUM"], "Der": ["NUM"]}
    listed = qsproj.project_tags(english, words, links, lexicon=lexicon, columns=[])
    assert listed.tag(words[0]).upos[0] == "NUM"
    # Targets of each source are joined by their words: two halves are as good as the whole.
    halves = [(english[:45], words[:45], links[:45]), (english[45:], words[45:], links[45:])]
    joined = qsproj.project_tags(*map(list, zip(*halves, strict=True)), columns=[])
    assert accuracy(joined) > 0.75
    with pytest.raises(UsageError, match="found element 2 in source and none in target"):
        qsproj.project_tags([english, english], [words], [links, links])
    related = qsproj.project_tags(english, words, links, columns=[], also=[german, english])
    assert accuracy(related) > accuracy(one)
    with pytest.raises(UsageError, match="also: found no sentence with UPOS on every word"):
        qsproj.project_tags(english, words, links, columns=[], also=words)
    with pytest.raises(UsageError, match="unknown column that links carry 'xpos'"):
        qsproj.project_tags(english, words, links, columns=["xpos"])
    with pytest.raises(UsageError, match="found element 2 in source and none in alignments"):
        qsproj.project_tags([english, english], words, [links])


def test_a_parser_is_trained_as_by_the_command(german, tmp_path):
    qsproj.write_conllu(german[:20], tmp_path / "de.conllu")
    command = f"train {tmp_path / 'de.conllu'} -o {tmp_path / 'model'} --features words --epochs 2 --l2 3"
    assert main([*command.split(), "--nonprojective", "--multi-root"]) == 0
    options = {"features": "words", "epochs": 2, "l2": 3.0, "projective": False, "single_root": False}
    parser, expected = qsproj.train_parser(german[:20], **options), qsproj.load_model(tmp_path / "model")
    assert parser.inference == expected.inference
    np.testing.assert_array_equal(parser.scores(german[30]), expected.scores(german[30]))


def test_a_tagger_learns_how_its_treebank_cuts_text(german):
    tagger = qsproj.train_tagger(german, language="de")
    assert tagger.tokenizer is not None and tagger.splitter is not None
    document = tagger("Der Hund schläft im Garten. Die Katze schläft.")
    assert [len(one) for one in document] == [7, 4] and document[0].multiword_tokens[0].form == "im"


def test_a_tagger_and_a_parser_are_one_model(german):
    text_model, parser = qsproj.load_model(KEPT / "text-parser.model"), qsproj.train_parser(german[:30])
    model = qsproj.bundle(text_model, parser)
    assert model.tagger is text_model.tagger and model.base is parser
    with pytest.raises(UsageError, match="as tagger, expected a tagger"):
        qsproj.bundle(parser, parser)


def test_bitext_is_read_in_each_form(tmp_path):
    pairs = [("the dog", "der Hund"), ("", "ja"), ("a house", "ein Haus")]
    lines = "".join(f"{one}\t{other}\n" for one, other in pairs)
    assert list(qsproj.read_bitext(io.StringIO(lines))) == pairs
    sides = [tmp_path / "en", tmp_path / "de"]
    for path, side in zip(sides, zip(*pairs)):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    assert list(qsproj.read_bitext(*sides)) == pairs
    tmx = (
        '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>'
        '<tu><tuv xml:lang="en"><seg>the dog</seg></tuv><tuv xml:lang="de"><seg>der Hund</seg></tuv></tu>'
        "</body></tmx>"
    )
    (tmp_path / "pairs.tmx").write_text(tmx, encoding="utf-8")
    assert list(qsproj.read_bitext(tmp_path / "pairs.tmx", languages=("en", "de"))) == pairs[:1]
    for path, text in zip(sides, ("MAT 1:1\tthe dog\nMAT 1:2\tyes\n", "MAT 1:2\tja\nMAT 1:1\tder Hund\n")):
        path.write_text(text, encoding="utf-8")
    assert sorted(qsproj.read_bitext(*sides, paired_by="verse")) == [("the dog", "der Hund"), ("yes", "ja")]
    with pytest.raises(UsageError, match="expected two files of verses"):
        qsproj.read_bitext(sides[0], paired_by="verse")


REFUSED = {
    "no way to cut": (lambda: qsproj.tokenize("Der Hund."), "found neither language nor model"),
    "a language": (lambda: qsproj.tokenize("Der Hund.", language="German"), "German"),
    "a parser that is to cut": (
        lambda: qsproj.tokenize("a", model=qsproj.load_model(KEPT / "arc-parser.model")),
        "as model, expected a tagger or a text model",
    ),
    "a line without spaces": (lambda: qsproj.tokenize("a\n我喜欢吃苹果和梨子。\n", language="zh"), "text:2"),
    "a style": (lambda: qsproj.convert([], "praha"), "praha"),
    "no style": (lambda: qsproj.convert([], 7), "expected the name of a style, or a converter"),
    "a sure rule": (lambda: qsproj.convert([], "prague", confidence=True), "leave it out"),
    "a tagger that is to suggest": (
        lambda: qsproj.suggest(qsproj.load_model(KEPT / "tagger.model"), []),
        "expected a parser or a converter",
    ),
    "a pattern": (lambda: qsproj.search([], "colour=red"), "colour"),
    "a parser that is to cotrain": (
        lambda: qsproj.cotrain(qsproj.load_model(KEPT / "tagger.model"), [], [], [], []),
        "expected a model of qsproj.train_biparser",
    ),
}


def test_iterators_are_as_good_as_lists(english, german):
    words = [qsproj.Sentence.from_words(one.forms) for one in german]
    links = list(qsproj.read_alignments("corpora/en-de.pharaoh"))
    lists = qsproj.project_tags(english, words, links, columns=["feats"])
    iterators = qsproj.project_tags(
        iter(english), iter(words), iter(links), columns=iter(["feats"]), also=iter(())
    )
    assert [one.tag(words[0]).feats for one in (lists, iterators)] == [lists.tag(words[0]).feats] * 2
    assert set(lists.tag(words[0]).feats) > {"_"}
    with pytest.raises(UsageError, match="found 0 sentences in also"):
        qsproj.project_tags(english, words, links, also=[[]])


def test_numbers_of_numpy_are_numbers(english):
    one, other = (qsproj.train_parser(english[:5], epochs=1, l2=l2) for l2 in (2, np.float32(2)))
    assert np.array_equal(one.scorer.weights, other.scorer.weights)
    with pytest.raises(TypeError, match="as l2, expected a number"):
        qsproj.train_parser(english[:5], l2="2")


@pytest.mark.parametrize("single_root", [None, False])
def test_an_objective_of_whole_trees_asks_for_heads(english, single_root):
    part = [one.replace(heads=[None, *one.heads.tolist()[2:]]) for one in english[:10]]
    with pytest.raises(UsageError, match="that the parser can build; complete HEAD"):
        qsproj.train_parser(part, objective="eg", epochs=1, single_root=single_root)


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_are_told(mistake):
    call, message = REFUSED[mistake]
    with pytest.raises(qsproj.QsprojError) as error:
        call()
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.slow
def test_a_parser_is_cotrained(english, german, parser):
    links = qsproj.align(english, german, threshold=0.1)
    model = qsproj.train_biparser(english[:20], german[:20], links[:20], source_model=parser)
    trained = qsproj.cotrain(model, german[:20], english[20:40], german[20:40], links[20:40])
    assert qsproj.evaluate(german[60:], map(trained.parse, german[60:])).uas > 40


def test_rules_need_relations_of_ud(english):
    other = [with_columns(one, deprels=["x"] * len(one)) for one in english[:3]]
    with pytest.raises(DataError, match="sentences: found the relations x"):
        qsproj.convert(other, "sud")


def test_a_lexicon_has_tags_of_ud(english, german):
    links = qsproj.align(english, german, threshold=0.1)
    with pytest.raises(UsageError, match="unknown tag of 'Hund' 'FOO'"):
        qsproj.project_tags(english, german, links, lexicon={"Hund": ["FOO"]})
