"""DEPS of an old tree beside new heads: emptied wherever heads are predicted, and said once."""

import re
from pathlib import Path

import pytest

import qsproj
from qsproj.corpus.editing import has_graph
from qsproj.corpus.formats import read_sentences

KEPT = Path(__file__).parents[1] / "kept_models"

ROWS = """# sent_id = 1
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t2:det\t_
2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t3:nsubj\t_
3\tsleeps\tsleep\tVERB\tVBZ\t_\t0\troot\t0:root\tA=1
3.1\tx\tx\tVERB\t_\t_\t_\t_\t3:conj\t_

"""
SAID = "DEPS belongs to the trees that are replaced, and is left empty"


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(ROWS * 2)
    return path


@pytest.mark.parametrize(
    "model",
    [
        "arc-parser",
        "labelled-parser",
        "graph-parser",
        "cluster-parser",
        "dmv",
        "adapted-parser",
        "text-parser",
    ],
)
def test_parse(given, tmp_path, run_cli, model):
    out = tmp_path / "out.conllu"
    outcome = run_cli("parse", "-m", KEPT / f"{model}.model", given, "-o", out)
    assert outcome.code == 0
    assert outcome.err.count(SAID + "; empty nodes without DEPS are not valid in UD") == 1
    assert not any(map(has_graph, read_sentences(out)))
    assert "3:conj" not in out.read_text()
    assert out.read_text().count("\tA=1\n") == 2


def test_nothing_is_said_of_whole_trees_that_stay(given, tmp_path, run_cli):
    given.write_text(ROWS + "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    out = tmp_path / "out.conllu"
    outcome = run_cli("parse", "-m", KEPT / "arc-parser.model", given, "-o", out, "--fixed")
    assert (outcome.code, outcome.err, out.read_text()) == (0, "", given.read_text())


def test_an_enhanced_parser_writes_its_own(given, tmp_path, run_cli):
    out = tmp_path / "out.conllu"
    outcome = run_cli("parse", "-m", KEPT / "enhanced-parser.model", given, "-o", out)
    assert (outcome.code, SAID in outcome.err) == (0, False)
    assert (
        outcome.err.count("the new DEPS have no edges to empty nodes, which stay; empty nodes without") == 1
    )
    assert all(map(has_graph, read_sentences(out)))


def test_nothing_is_said_of_empty_nodes_that_had_no_deps(given, tmp_path, run_cli):
    given.write_text(ROWS.replace("3:conj", "_"))
    out = tmp_path / "out.conllu"
    outcome = run_cli("parse", "-m", KEPT / "arc-parser.model", given, "-o", out, "--fixed")
    assert (outcome.code, outcome.err, out.read_text()) == (0, "", given.read_text())


def test_conversion_by_a_model(given, tmp_path, run_cli):
    out = tmp_path / "out.conllu"
    outcome = run_cli("convert", "-m", KEPT / "converter.model", given, "-o", out)
    assert (outcome.code, outcome.err.count(SAID)) == (0, 1)
    assert not any(map(has_graph, read_sentences(out)))


def test_conversion_by_rules(given, tmp_path, run_cli):
    out = tmp_path / "out.conllu"
    outcome = run_cli("convert", "--to", "determiners=head", given, "-o", out)
    assert (outcome.code, outcome.err.count(SAID)) == (0, 1)
    assert not any(map(has_graph, read_sentences(out)))


def test_nothing_is_said_without_deps(given, tmp_path, run_cli):
    rows = [line for line in ROWS.splitlines(keepends=True) if not line.startswith("3.1")]
    given.write_text(re.sub(r"\t[023]:\w+", "\t_", "".join(rows)))
    outcome = run_cli("convert", "--to", "determiners=head", given, "-o", tmp_path / "out.conllu")
    assert (outcome.code, SAID in outcome.err) == (0, False)


def test_parsing_of_pairs(given, tmp_path, run_cli):
    out, links = tmp_path / "out.conllu", tmp_path / "links"
    given.write_text(ROWS + ROWS.replace("sent_id = 1", "sent_id = 2"))
    links.write_text("0-0 1-1 2-2\n" * 2)
    outcome = run_cli(
        *("biparse", "-m", KEPT / "joint-parser.model", "--source", given, "--target", given),
        *("--alignment", links, "-o", out),
    )
    assert (outcome.code, outcome.err.count("DEPS of the target belongs to the trees")) == (0, 1)
    assert not any(map(has_graph, read_sentences(out)))


def test_complete_keeps_the_deps_of_whole_trees(given):
    sentence = next(read_sentences(given))
    parser = qsproj.load_model(KEPT / "arc-parser.model")
    assert qsproj.complete(parser, sentence).to_conllu() == sentence.to_conllu()
    partial = sentence.replace(heads=[2, -1, 0])
    assert not has_graph(qsproj.complete(parser, partial))
