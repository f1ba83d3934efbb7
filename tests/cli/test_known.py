"""A model that has seen little of what it is given says so, once; else it says nothing of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_scorer import share_of_known_tags
from qsproj.models.parser import load_parser

GERMAN = "corpora/de.conllu"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from qsproj.cli.main import main

    folder = tmp_path_factory.mktemp("models")
    parser, tagger = str(folder / "parser"), str(folder / "tagger")
    assert main(["train", GERMAN, "-o", parser, "--epochs", "1"]) == 0
    assert main(["train-tagger", GERMAN, "-o", tagger, "--language", "de"]) == 0
    assert main(["bundle", tagger, parser, "-o", str(folder / "both")]) == 0
    return folder


def told(run_cli, *arguments, stdin=""):
    outcome = run_cli(*arguments, stdin=stdin)
    assert outcome.code == 0, outcome.err
    return [line for line in outcome.err.splitlines() if " knows " in line]


def test_tags_that_a_parser_has_never_seen(models, run_cli, tmp_path):
    path = tmp_path / "other.conllu"
    write_conllu(
        (with_columns(one, upos=[f"my{tag}" for tag in one.upos]) for one in read_conllu(GERMAN)), path
    )
    for model in ("parser", "both"):
        (line,) = told(run_cli, "parse", "-m", models / model, path)
        assert f"{models / model} knows 0% of the tags (UPOS) of {path}" in line
        assert told(run_cli, "parse", "-m", models / model, GERMAN) == []
    assert told(run_cli, "parse", "-m", models / "both", path, "--retag") == []
    renamed = {"NOUN": "N", "VERB": "V", "PUNCT": "SENT", "DET": "ART", "ADP": "PREP"}
    write_conllu(
        (with_columns(one, upos=[renamed.get(tag, tag) for tag in one.upos]) for one in read_conllu(GERMAN)),
        path,
    )
    (line,) = told(run_cli, "parse", "-m", models / "parser", path)
    share = int(line.split("knows ")[1].split("%")[0])
    assert 10 < share < 50


def test_words_without_tags_are_counted(models, run_cli, tmp_path):
    """By parsers that say which columns they read, and by projected ones, which do not."""
    projected, mixed = tmp_path / "projected", tmp_path / "mixed.conllu"
    sides = ("--source", "corpora/en.conllu", "--target", GERMAN, "--alignment", "corpora/en-de.pharaoh")
    assert run_cli("project", *sides, "--method", "hard", "--epochs", "1", "-o", projected).code == 0
    first, *rest = read_conllu(GERMAN)
    write_conllu([with_columns(first, upos=["_"] * len(first)), *rest], mixed)
    words = sum(map(len, rest)) + len(first)
    for model in (models / "parser", projected):
        expected = f"{mixed}: {len(first)} of {words} words have no UPOS; tag the text first (qsproj tag)"
        assert expected in run_cli("parse", "-m", model, mixed).err
        assert "have no UPOS" not in run_cli("parse", "-m", model, GERMAN).err
    assert "have no UPOS" not in run_cli("parse", "-m", models / "both", mixed).err


def test_tags_are_known_where_every_feature_has_a_weight(models):
    """A table of weights that is almost full, as after training on thousands of trees."""
    rng, parser = np.random.default_rng(1), load_parser(models / "parser")
    weights = parser.scorer.weights
    noise = rng.normal(0.0, np.abs(weights[weights != 0]).mean() / 3, weights.shape).astype(weights.dtype)
    full = replace(parser, scorer=parser.scorer.with_weights(np.where(weights == 0, noise, weights)))
    sentences = list(read_conllu(GERMAN))
    unknown = [with_columns(one, upos=[f"my{tag}" for tag in one.upos]) for one in sentences]
    shares = [share_of_known_tags(full, some, fewest_words=50) for some in (sentences, unknown)]
    assert shares[0] > 0.9 and shares[1] < 0.1


def test_tags_of_short_training_are_known(run_cli, tmp_path):
    """Exponentiated gradient gives few features weights at first, those of arcs between unlike tags."""
    model = tmp_path / "model"
    assert run_cli("train", GERMAN, "-o", model, "--objective", "eg", "--epochs", "2").code == 0
    assert told(run_cli, "parse", "-m", model, GERMAN) == []
    path = tmp_path / "other.conllu"
    write_conllu(
        (with_columns(one, upos=[f"my{tag}" for tag in one.upos]) for one in read_conllu(GERMAN)), path
    )
    (line,) = told(run_cli, "parse", "-m", model, path)
    assert int(line.split("knows ")[1].split("%")[0]) < 10


def test_words_of_another_language(models, run_cli):
    finnish = "koira haukkuu talossa mutta kissa nukkuu vuoteessa eikä kuule mitään\n" * 8
    german = "".join(f"{' '.join(one.forms)}\n" for one in list(read_conllu(GERMAN))[:10])
    for command, model in (("parse", "both"), ("tag", "tagger")):
        (line,) = told(run_cli, command, "-m", models / model, stdin=finnish)
        assert "knows 0% of the words" in line
        assert "which seems to be in another language" in line
        assert told(run_cli, command, "-m", models / model, stdin=german) == []


def test_a_parser_without_a_tagger_of_text_in_another_language(models, run_cli, tmp_path):
    georgian = tmp_path / "ka.conllu"
    words = ["აი", "რა", "სასაუბრო", "და", "სად", "."]
    write_conllu([Sentence.from_words(words, upos=["NOUN"] * 5 + ["PUNCT"])] * 9, georgian)
    for path, expected in (
        (GERMAN, []),
        ("corpora/es.conllu", ["trained on text in de", "seems to be in es"]),
        (georgian, ["trained on text in de", "seems to be in another script"]),
    ):
        outcome = run_cli("parse", "-m", models / "parser", path)
        assert outcome.code == 0, outcome.err
        lines = [line for line in outcome.err.splitlines() if "was trained on text in" in line]
        assert len(lines) == bool(expected)
        assert all(words in lines[0] for words in expected)


def test_relations_that_a_converter_has_never_seen(run_cli, tmp_path):
    converter, other = tmp_path / "converter", tmp_path / "other.conllu"
    run_cli("adapt", "--source", GERMAN, "--target", GERMAN, "-o", converter, "--epochs", "1")
    write_conllu(
        (with_columns(one, deprels=[f"my{name}" for name in one.deprels]) for one in read_conllu(GERMAN)),
        other,
    )
    (line,) = told(run_cli, "convert", "-m", converter, other)
    assert f"{converter} knows 0% of the relations (DEPREL) of {other}" in line
    assert told(run_cli, "convert", "-m", converter, GERMAN) == []
