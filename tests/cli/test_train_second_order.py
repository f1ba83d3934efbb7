"""``qsproj train --order 2`` from the command line."""

import json
from dataclasses import replace

import pytest

from qsproj import load_model, read_conllu

CORPORA = "corpora/en.conllu"


def test_a_second_order_parser_is_trained_and_parses(run_cli, tmp_path):
    model, out = tmp_path / "model", tmp_path / "out.conllu"
    trained = run_cli("train", CORPORA, "-o", model, "--order", "2", "--epochs", "3", "--iterations", "3")
    assert (trained.code, trained.err.startswith("projective parser")) == (0, True)
    assert run_cli("parse", "-m", model, CORPORA, "-o", out, "--confidence").code == 0
    assert json.loads(run_cli("eval", CORPORA, out, "--json").out)["uas"] > 97
    assert "ArcProb=" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--factors", "grand,luck"], "unknown factors 'luck'; known: grand, childseq, valence, nocross"),
        (
            ["--relax", "0.5"],
            "argument --relax: found '0.5', expected a number, from 0 to 0.49; see qsproj train --help",
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


@pytest.mark.parametrize("option", ["--factors=grand", "--relax=0.1"])
def test_options_of_the_second_order_are_refused_in_the_first(run_cli, tmp_path, option):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", option)
    name = option.partition("=")[0]
    assert outcome.code == 2
    assert outcome.err == f"qsproj train: {name} belongs to --order 2; leave it out with --order 1\n"


def test_a_relaxed_parser_leaves_factors_out(run_cli, tmp_path):
    model = tmp_path / "model"
    options = ["--order", "2", "--epochs", "2", "--relax", "0.05"]
    assert run_cli("train", CORPORA, "-o", model, *options).code == 0
    parser = load_model(model)
    full = replace(parser, options=replace(parser.options, doubt=0.0))
    sentences = list(read_conllu(CORPORA))[:20]
    relaxed, complete = (
        sum(one.arc_beliefs(sentence).n_factors for sentence in sentences) for one in (parser, full)
    )
    assert 0 < relaxed < complete
