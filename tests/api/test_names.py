"""Public names: with the signatures of the design, documented, typed; their examples run."""

from __future__ import annotations

import doctest
import inspect
import os
import pydoc
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import qsproj
from tests.documentation import examples

SIGNATURES = {
    "read_conllu": "(path_or_file)",
    "write_conllu": "(sentences, path_or_file)",
    "read_alignments": "(path, format='pharaoh', sizes=None)",
    "load_model": "(path)",
    "train_parser": (
        "(sentences, *, order=1, objective='margin', labels='after', features=None, dev=(), seed=1, "
        "epochs=None, l2=None, projective=None, single_root=None)"
    ),
    "train_tagger": "(sentences, *, raw=(), language=None, seed=1)",
    "align": "(source, target, *, threshold=0.5)",
    "project": (
        "(source, target, alignments, *, method='soft', treebank=(), also=(), annotated=(), seed=1, "
        "tagger=None)"
    ),
    "adapt": "(source, target, *, seed=1)",
    "train_biparser": "(source, target, alignments, *, source_model, order=1, seed=1, options=None)",
    "evaluate": "(gold, system)",
    "complete": "(parser, sentence, *, decode='mbr', confidence=False, retag=False)",
    "draw": "(sentence_or_pair, *, versus=None)",
    "bootstrap": (
        "(*, treebank, bitext, languages, work=None, text=(), lexicon=None, annotated=(), draws=None, "
        "jobs=1, seed=1, tagged=(), also=(), parsed_source=(), paired_by='line', cut=None, "
        "paragraphs=False, lemmatizer=None, unspaced=None, suggest_sentences=20, learn_text=None)"
    ),
}
DOCUMENTED = [name for name in qsproj.__all__ if not name.startswith("__")]


def bare(function):
    """Return a signature without annotations."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(parameters))


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_the_design(name):
    assert bare(getattr(qsproj, name)) == SIGNATURES[name]


@pytest.mark.parametrize("name", qsproj.__all__)
def test_no_module_takes_the_place_of_a_name(name):
    """Importing qsproj/align.py or qsproj/align/ would put the module where the function was."""
    package = Path(qsproj.__file__).parent
    assert not (package / name).exists() and not (package / f"{name}.py").exists()


def test_completion_offers_the_public_names_and_no_others():
    assert [name for name in dir(qsproj) if not name.startswith("__")] == DOCUMENTED
    assert set(SIGNATURES) < set(DOCUMENTED)


def test_sentences_are_made_of_words():
    expected = (
        "(forms, *, upos=None, heads=None, deprels=None, sent_id='', lemmas=None, xpos=None, feats=None, "
        "misc=None)"
    )
    assert bare(qsproj.Sentence.from_words) == expected


def test_help_shows_every_name():
    text = pydoc.render_doc(qsproj, renderer=pydoc.plaintext)
    for name in DOCUMENTED:
        assert f"    {name}(" in text or f"    class {name}(" in text, name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "bootstrap")) for name in DOCUMENTED]
)
def test_names_are_documented_and_their_examples_run(name, tmp_path, monkeypatch):
    value = getattr(qsproj, name)
    # Examples read the sample, and may write.
    (tmp_path / "corpora").symlink_to(Path(qsproj.__file__).parent.parent / "corpora")
    monkeypatch.chdir(tmp_path)
    assert len(value.__doc__) > 40
    assert getattr(import_module(qsproj._HOMES[name]), name) is value
    finder = doctest.DocTestFinder(recurse=False)
    # Examples of qsproj.api assume ``import qsproj``, as those of numpy and pandas assume theirs.
    for test in finder.find(value, name, sys.modules[value.__module__], extraglobs={"qsproj": qsproj}):
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        if name in SIGNATURES and value.__module__.startswith("qsproj.api"):
            assert test.examples


TYPED = """
import qsproj

sentence = qsproj.Sentence.from_words(["a"], heads=[0])
reveal_type(qsproj.train_parser([sentence]))
reveal_type(qsproj.align([["a"]], [sentence]))
reveal_type(qsproj.project([sentence], [sentence], []).parse(sentence))
reveal_type(qsproj.adapt([sentence], [sentence]).convert_sentence(sentence))
reveal_type(qsproj.evaluate([sentence], [sentence]).upos)
reveal_type(qsproj.draw(sentence).svg)
qsproj.train_parser("corpora/en.conllu")
qsproj.nothing
"""
REVEALED = [
    "qsproj.models.parser.Parser",
    "list[qsproj.corpus.sentence.Alignment]",
    "qsproj.corpus.sentence.Sentence",
    "qsproj.corpus.sentence.Sentence",
    "float",
    "str",
]


@pytest.mark.slow
def test_types_are_seen_from_outside(tmp_path):
    """Through the lazy imports; what cannot be typed is told."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(TYPED, encoding="utf-8")
    # Installed packages are not judged, and this checkout stands for one.
    strictly = ["--strict", "--follow-imports=silent"]
    command = [sys.executable, "-m", "mypy", *strictly, "--no-error-summary", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    revealed = [line.split('"')[1] for line in lines if line.startswith("note: Revealed type")]
    assert revealed == REVEALED
    errors = [line for line in lines if line.startswith("error")]
    assert len(errors) == 2
    assert "[arg-type]" in errors[0] and "[attr-defined]" in errors[1]


SCRIPT = """
import numpy as np
import qsproj

english = list(qsproj.read_conllu("corpora/en.conllu"))
german = list(qsproj.read_conllu("corpora/de.conllu"))
parser = qsproj.train_parser(english[:60], features="words")
parser.save("en.parser")
model = qsproj.load_model("en.parser")
sentence = qsproj.Sentence.from_words(["Dogs", "bark", "."], upos=["NOUN", "VERB", "PUNCT"])
parsed: qsproj.Sentence = model.parse(sentence, confidence=True, decode="map")
chances = model.arc_probabilities(sentence)
likeliest: list[int] = np.argmax(chances, axis=0).tolist()
qsproj.draw(parsed).save("tree.svg")
tagger = qsproj.load_model("de.tagger")
tags: tuple[str, ...] = tagger.tag(german[0]).upos
text_model = qsproj.load_model("fr.model")
several: list[qsproj.Sentence] = [text_model.parse("Le chien dort."), *text_model.parse_text("Il dort.")]
converter = qsproj.load_model("new.converter")
converted = converter.convert_sentence(parsed)
links = qsproj.align(english, german, threshold=0.15)
biparser = qsproj.load_model("pairs.model")
pair = biparser.parse_pair(english[0], german[0], links[0])
print(pair.target.heads.tolist(), converted.deprels, qsproj.evaluate(english, map(model.parse, english)).uas)
try:
    qsproj.load_model("no.model")
except ValueError as error:
    print(error)
"""


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "python.md"


@pytest.mark.slow
@pytest.mark.parametrize("source", ["a script", "the guide"])
def test_a_script_of_a_user_passes_strict_type_checks(source, tmp_path, tmp_path_factory):
    pytest.importorskip("mypy")
    script = SCRIPT
    if source == "the guide":
        pytest.importorskip("spacy")
        script = "".join(example.text for example in examples(GUIDE.read_text(encoding="utf-8")))
        assert "qsproj.bootstrap(" in script and "add_pipe" in script
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    strictly = ["--strict", "--follow-imports=silent", "--cache-dir", tmp_path_factory.getbasetemp() / "mypy"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *strictly, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(qsproj.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
