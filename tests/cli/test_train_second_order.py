"""``qsproj train --order 2`` from the command line."""

import json

import pytest

CORPORA = "corpora/en.conllu"


def test_a_second_order_parser_is_trained_and_parses(run_cli, tmp_path):
    model, out = tmp_path / "model", tmp_path / "out.conllu"
    trained = run_cli("train", CORPORA, "-o", model, "--order", "2", "--epochs", "3", "--iterations", "3")
    told = "projective parser, one root, 2 epochs; these train the factors, after 3 epochs of arcs alone"
    assert (trained.code, trained.err.startswith(told)) == (0, True), trained.err
    assert run_cli("parse", "-m", model, CORPORA, "-o", out, "--confidence").code == 0
    assert json.loads(run_cli("eval", CORPORA, out, "--json").out)["uas"] > 97
    assert "ArcProb=" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--factors", "grand,luck"],
            "unknown factors 'luck'; known: grand, childseq, valence, nocross",
        ),
        (
            ["--objective", "risk"],
            "unknown objective of a second-order parser 'risk'; known: margin, likelihood",
        ),
    ],
)
def test_wrong_options_are_one_line(run_cli, tmp_path, arguments, message):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", "--order", "2", *arguments)
    assert (outcome.code, outcome.err) == (2, f"qsproj train: {message}\n")


@pytest.mark.parametrize("option", ["--factors=grand"])
def test_options_of_the_second_order_are_refused_in_the_first(run_cli, tmp_path, option):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", option)
    name = option.partition("=")[0]
    assert outcome.code == 2
    assert outcome.err == f"qsproj train: {name} belongs to --order 2; leave it out\n"
