"""``qsproj biparse``: from files to files, and what bad input says."""

from __future__ import annotations

from pathlib import Path

import pytest

from qsproj.corpus.alignments import read_alignments
from qsproj.corpus.conllu import read_conllu

PAIRS = ("--source", "corpora/en.conllu", "--target", "corpora/de.conllu")
LINKS = ("--alignment", "corpora/en-de.pharaoh")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from qsproj.cli.main import main

    folder = tmp_path_factory.mktemp("models")
    source, joint = str(folder / "en.model"), str(folder / "en-de.model")
    assert main(["train", "corpora/en.conllu", "-o", source, "--epochs", "2"]) == 0
    train = ["biparse", "train", *PAIRS, *LINKS, "--source-model", source, "-o", joint]
    assert main([*train, "--factors", "mono", "--epochs", "1", "--source-tree", "best"]) == 0
    return source, joint


def test_both_sides_and_the_links_are_written(run_cli, models, tmp_path):
    outputs = tmp_path / "de.conllu", tmp_path / "en.conllu", tmp_path / "links"
    outcome = run_cli(
        *("biparse", "parse", "-m", models[1], *PAIRS, *LINKS, "--source-tree", "joint", "-o", outputs[0]),
        *("--source-output", outputs[1], "--alignment-output", outputs[2]),
    )
    assert outcome.code == 0
    assert "90 pairs" in outcome.err
    assert "runs converged" in outcome.err
    for output, gold in zip(outputs, ("corpora/de.conllu", "corpora/en.conllu")):
        parsed, original = list(read_conllu(output)), list(read_conllu(gold))
        assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in original]
        assert all((sentence.heads[1:] >= 0).all() for sentence in parsed)
        assert "ArcProb=" in output.read_text(encoding="utf-8")
    links = list(read_alignments(outputs[2]))
    assert len(links) == 90
    assert all(link.weights is not None for link in links if len(link.links))


def assert_one_line(outcome, *parts):
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1, outcome.err
    for part in parts:
        assert part in outcome.err


def test_bad_input_is_one_line(run_cli, models, tmp_path):
    source, joint = models
    output = tmp_path / "out"
    other = tmp_path / "other.conllu"
    text = Path("corpora/de.conllu").read_text(encoding="utf-8")
    other.write_text(text.replace("sample/003", "sample/999"), encoding="utf-8")
    train = ("biparse", "train", *PAIRS, "--source-model", source, "-o", output)
    assert_one_line(run_cli(*train, *LINKS, "--factors", "some"), "unknown factors", "all, mono")
    assert_one_line(run_cli(*train, *LINKS, "--source-tree", "gold"), "unknown source tree", "joint, best")
    assert_one_line(run_cli(*train, "--alignment", tmp_path / "none"), "none")
    unmatched = ("--source", "corpora/en.conllu", "--target", other)
    parse = ("biparse", "parse", "-m", joint, *LINKS, "-o", output)
    assert_one_line(run_cli(*parse, *unmatched), "sample/003")
    wrong_kind = run_cli("biparse", "parse", "-m", source, *PAIRS, *LINKS, "-o", output)
    assert_one_line(wrong_kind, "ArcParser", "expected a joint parser")
    swapped = ("biparse", "train", *PAIRS, *LINKS, "--source-model", joint, "-o", output)
    assert_one_line(run_cli(*swapped), "JointParser", "expected a first-order parser")
    assert not output.exists()


def test_cotraining_gives_a_parser_of_the_target_alone(run_cli, models, tmp_path):
    parser, parsed = tmp_path / "de.model", tmp_path / "de.conllu"
    cotrain = ("biparse", "cotrain", *PAIRS, *LINKS, "--trees", "corpora/de.conllu", "-o", parser)
    outcome = run_cli(*cotrain, "-m", models[1])
    assert outcome.code == 0
    assert "90 trees and 90 pairs" in outcome.err
    assert run_cli("parse", "-m", parser, "corpora/de.conllu", "-o", parsed).code == 0
    assert all((sentence.heads[1:] >= 0).all() for sentence in read_conllu(parsed))
    before = parser.read_bytes()
    assert_one_line(run_cli(*cotrain, "-m", models[0]), "ArcParser", "expected a joint parser")
    assert_one_line(run_cli(*cotrain, "-m", models[1], "--rounds", "0"), "expected a whole number, 1 or more")
    assert parser.read_bytes() == before
