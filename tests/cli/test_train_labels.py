"""Relations inside the tree, from the command line and from Python."""

from __future__ import annotations

import json

import pytest

import qsproj
from qsproj.corpus.editing import misc_values

CORPORA = "corpora/en.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "en.model"
    options = ("--labels", "joint", "--epochs", "2", "--features", "words")
    assert main(["train", CORPORA, "-o", str(path), *options]) == 0
    return path


def test_parsed_with_confidence_and_judged(run_cli, model, tmp_path):
    outcome = run_cli("parse", "-m", model, CORPORA, "--confidence", "-o", tmp_path / "out.conllu")
    assert outcome.code == 0
    first = next(qsproj.read_conllu(tmp_path / "out.conllu"))
    assert None not in misc_values(first, "RelProb")
    told = run_cli("eval", CORPORA, tmp_path / "out.conllu", "--calibration")
    assert told.out.count("expected calibration error") == 2
    assert "RelProb" in told.out
    figures = json.loads(run_cli("eval", CORPORA, tmp_path / "out.conllu", "--calibration", "--json").out)
    assert sum(row["count"] for row in figures["RelProb"]["bins"]) == sum(
        row["count"] for row in figures["bins"]
    )


def test_info_says_it(run_cli, model):
    assert "labels:" in run_cli("info", model).out
    told = json.loads(run_cli("info", model, "--json").out)
    assert told["kind"] == "labelled-parser"
    # What other objectives, optimisers and ways to train read has no part in it.
    read = {"epochs", "features", "labels", "objective", "order", "seed", "treebanks"}
    assert set(told["made"]["options"]) == read


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--objective", "mira"), "--labels belongs to --objective margin, likelihood; leave it out"),
        (("--objective", "risk"), "--labels belongs to --objective margin, likelihood; leave it out"),
        (("--order", "2"), "--labels belongs to --order 1; leave it out"),
        (("--optimizer", "lbfgs"), "--optimizer belongs to --labels after; leave it out"),
        (("--unlabelled", CORPORA), "--unlabelled belongs to --labels after; leave it out"),
    ],
)
def test_what_cannot_take_it_is_refused_in_a_line(run_cli, tmp_path, options, message):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", "--labels", "joint", *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_what_needs_arcs_alone_says_so(run_cli, model, tmp_path):
    links = "corpora/en-de.pharaoh"
    given = ("--source", CORPORA, "--target", "corpora/de.conllu", "--alignment", links)
    outcome = run_cli("train-biparser", *given, "--source-model", model, "-o", tmp_path / "m")
    assert outcome.code == 2
    assert "found a model of kind labelled-parser" in outcome.err


def test_from_python():
    trees = list(qsproj.read_conllu(CORPORA))
    parser = qsproj.train_parser(trees[:8], labels="joint", features="words")
    chances = parser.relation_probabilities(trees[30])
    size = len(trees[30]) + 1
    assert chances.shape == (size, size, len(parser.relations.relations))
    assert chances[:, 1:].sum() == pytest.approx(len(trees[30]))
    with pytest.raises(qsproj.QsprojError, match="labels"):
        qsproj.train_parser(trees[:20], labels="before")
    with pytest.raises(qsproj.QsprojError, match="belongs to order 1"):
        qsproj.train_parser(trees[:20], labels="joint", order=2)
