"""The main job from Python: sentences and pairs in, a model out, and the same as by the command."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import qsproj
from qsproj import Document
from qsproj.cli.main import main
from qsproj.errors import UsageError


@pytest.fixture(scope="module")
def pairs(english, german):
    return [(one.text, other.text) for one, other in zip(english, german, strict=True)]


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def made(english, pairs, work):
    return qsproj.bootstrap(
        treebank=iter(english), bitext=pairs, languages=("en", "de"), work=work, draws=1, suggest_sentences=5
    )


@pytest.mark.slow
def test_a_model_is_made_of_sentences_and_pairs(made, german):
    assert [stage.name for stage in made.stages] == [
        *("source", "words", "links", "trees", "tagger", "tagged", "prior", "parser", "model", "examples")
    ]
    assert not any(stage.kept for stage in made.stages) and all(stage.line for stage in made.stages)
    document = made.model("Der Hund schläft im Garten. Die Katze schläft.")
    assert [one.root.form for one in document] == ["schläft", "schläft"]
    assert isinstance(made.trees, Document) and made.trees[0].root is not None
    assert len(made.suggested) == 5 and made.suggested[0][1].arc_probability is not None
    assert repr(made).startswith("<Bootstrap <TextParser de, ") and len(repr(made)) < 120
    assert qsproj.evaluate(german, map(made.model.parse, german)).uas > 60


@pytest.mark.slow
def test_files_and_the_command_find_the_same_stages_made(made, english, pairs, work, tmp_path, capsys):
    """Each stage is kept by what its inputs hold, however they come."""
    path, tsv = tmp_path / "trees.conllu", tmp_path / "pairs.tsv"
    qsproj.write_conllu(english, path)
    lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
    tsv.write_text(lines, encoding="utf-8")
    options = {"languages": ("en", "de"), "work": str(work), "draws": 1, "suggest_sentences": 5}
    for treebank, bitext in (
        (path, tsv),
        (io.StringIO(path.read_text(encoding="utf-8")), io.StringIO(lines)),
    ):
        again = qsproj.bootstrap(treebank=treebank, bitext=bitext, **options)
        kept = {stage.name for stage in again.stages if stage.kept}
        assert kept >= {"source", "words", "links", "trees", "tagger", "tagged", "prior", "parser"}
        text = "Der Hund schläft."
        assert again.model(text).to_conllu() == made.model(text).to_conllu()
    command = [
        "bootstrap",
        "--treebank",
        path,
        "--bitext",
        tsv,
        "--languages",
        "en",
        "de",
        "--draws",
        "1",
        "--verbose",
    ]
    assert main([*map(str, command), "--work", str(work), "-o", str(tmp_path / "model")]) == 0
    said = capsys.readouterr().err
    assert next(line for line in said.splitlines() if line.startswith("parser:")).endswith("(kept)")
    by_command = qsproj.load_model(tmp_path / "model")
    assert by_command("Der Hund schläft.").to_conllu() == made.model("Der Hund schläft.").to_conllu()


LETTERS = [("x" * size, "y" * size) for size in range(1, 60)]
PAIR = {"treebank": "corpora/en.conllu", "bitext": [("a b", "c d")], "languages": ("en", "de")}
REFUSED = {
    "no such file": ({"annotated": "no.conllu"}, "no.conllu"),
    "no such text": ({"text": "no.txt"}, "no.txt"),
    "too few pairs": ({}, "bitext: found 1 pair to learn from"),
    "no pair": ({"bitext": []}, "bitext: found 0 pairs to learn from"),
    "no treebank": ({"treebank": [], "bitext": LETTERS}, "treebank: found no head, expected trees"),
    "pairs that are none": ({"bitext": ["a", "b", "c"]}, "found 'a' (str) as pair 1 of bitext"),
    "one language": ({"languages": ("en", "en")}, "found en as source and target language"),
    "a language that is none": ({"languages": ("en", "German")}, "German"),
    "a string of languages": ({"languages": "en"}, "languages, expected codes of source and target"),
    "two targets": (
        {"languages": [("en", "de"), ("es", "fr")], "treebank": [1, 2], "bitext": [1, 2]},
        "found target languages de and fr",
    ),
    "one treebank for two": (
        {"languages": [("en", "de"), ("es", "de")]},
        "as treebank, expected a list of 2",
    ),
    "a number": ({"treebank": 7}, "found 7 (int) as treebank, expected paths, open files or sentences"),
    "words": ({"treebank": [["the", "dog"]]}, "as treebank-1, expected a path or an open file"),
    "standard input": ({"bitext": "-"}, "found - as bitext, expected a file"),
    "another pairing": ({"paired_by": "order"}, "unknown pairing 'order'; known: line, verse"),
    "one file of verses": ({"bitext": "corpora/README.md", "paired_by": "verse"}, "expected two of verses"),
    "no languages": ({"languages": None}, "found None as languages, expected codes"),
    "a number as folder": ({"work": 1}, "found 1 (int) as work, expected a folder"),
    "no number of jobs": ({"jobs": None}, "the number of jobs is None, expected 1 or more"),
    "a list for a lexicon": ({"lexicon": []}, "as lexicon, expected a path or an open file"),
    "no draw": ({"draws": 0}, "found 0 (int) as draws"),
    "no tree": ({"annotated": [qsproj.Sentence.from_words(["a"], upos=["X"])]}, "annotated: found no head"),
    "a lexicon that is none": (
        {"lexicon": io.StringIO("a b c")},
        "lexicon:1: found 'a b c', expected a word, a tab",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_does_not_fit_is_told_before_anything_is_learned(mistake):
    change, message = REFUSED[mistake]
    with pytest.raises(qsproj.QsprojError) as error:
        qsproj.bootstrap(**{**PAIR, **change})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_options_are_those_of_the_command(tmp_path, monkeypatch):
    given = []

    def kept(texts, *, options, **more):
        given.append(options)
        raise UsageError("seen")

    monkeypatch.setattr("qsproj.api.bootstrapping.run", kept)
    with pytest.raises(UsageError, match="seen"):
        qsproj.bootstrap(**PAIR, work=tmp_path, learn_text=False, also="corpora/es.conllu")
    (options,) = given
    assert options.learn_text is False
    assert [Path(path).name for path in options.also] == ["es.conllu"]


def test_several_sources_are_lists():
    from qsproj.api.bootstrapping import _Inputs, _source_texts

    languages = [("en", "de"), ("es", "de")]
    texts = _source_texts(
        ["en.conllu", ["es.conllu", "more.conllu"]],
        [("en.txt", "de.txt"), "es-de.tsv"],
        languages,
        _Inputs(Path("nowhere")),
        paired_by="line",
        cut=None,
    )
    assert [text.treebanks for text in texts] == [("en.conllu",), ("es.conllu", "more.conllu")]
    assert [text.bitext for text in texts] == [("en.txt", "de.txt"), ("es-de.tsv",)]
    assert [text.languages for text in texts] == languages
