"""``qsproj train --joint-tags`` from the command line: words in, tags and trees out."""

import json
from pathlib import Path

import pytest

CORPORA = "corpora/en.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from qsproj.cli.main import main

    path = tmp_path_factory.mktemp("models") / "words.model"
    assert main(["train", CORPORA, "-o", str(path), "--joint-tags", "--epochs", "5"]) == 0
    return path


def rows_of(text):
    return [line.split("\t") if "\t" in line else [line] for line in text.splitlines()]


def without_tags(text):
    """Blank LEMMA to DEPREL of every word."""
    return "".join(
        "\t".join([*row[:2], *"______", *row[8:]] if len(row) > 1 and row[0].isdigit() else row) + "\n"
        for row in rows_of(text)
    )


def test_words_alone_get_tags_heads_and_relations(run_cli, model, tmp_path):
    gold = Path(CORPORA).read_text(encoding="utf-8")
    parsed = run_cli("parse", "-m", model, stdin=without_tags(gold))
    assert parsed.code == 0
    out = tmp_path / "out.conllu"
    out.write_text(parsed.out, encoding="utf-8")
    scores = json.loads(run_cli("eval", CORPORA, out, "--json").out)
    assert scores["uas"] > 95
    assert scores["las"] > 93
    words = [(a, b) for a, b in zip(rows_of(gold), rows_of(parsed.out), strict=True) if a[0].isdigit()]
    assert sum(a[3] == b[3] for a, b in words) > 0.97 * len(words)
    # What is not predicted stays.
    assert all(b[2] == b[4] == b[5] == "_" and a[8:] == b[8:] for a, b in words)


def test_confidence_of_tags_and_arcs(run_cli, model):
    parsed = run_cli("parse", "-m", model, "--confidence", stdin="1\tDogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert parsed.code == 0
    assert "ArcProb=1.0000|UposProb=0." in parsed.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--order", "2"], "--joint-tags and --order 2 are different parsers; choose one"),
        (["--labels", "joint"], "--labels belongs to parsers without --joint-tags; leave it out"),
        (["--cutoff", "2"], "--cutoff belongs to parsers without --joint-tags; leave it out"),
        (["--objective", "hidden"], "--objective hidden and --joint-tags are different parsers; choose one"),
        (["--features", "morphology"], "unknown features of a parser that tags 'morphology'; known: words"),
        (
            ["--objective", "risk"],
            "unknown objective of a parser that tags 'risk'; known: margin, likelihood",
        ),
    ],
)
def test_wrong_options_are_one_line(run_cli, tmp_path, arguments, message):
    outcome = run_cli("train", CORPORA, "-o", tmp_path / "m", "--joint-tags", *arguments)
    assert (outcome.code, outcome.err) == (2, f"qsproj train: {message}\n")


def test_the_most_probable_tree_is_not_offered(run_cli, model):
    outcome = run_cli("parse", "-m", model, "--decode", "map", CORPORA)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "qsproj parse: unknown decoder 'map'; known: mbr\n"


def test_an_untagged_treebank_is_refused_in_one_line(run_cli, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("1\tDogs\t_\t_\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    outcome = run_cli("train", bare, "-o", tmp_path / "m", "--joint-tags")
    assert outcome.code == 2
    assert outcome.err == (
        f"qsproj train: {bare}:1: found word 1 ('Dogs') without UPOS, expected one on every word; "
        "tag it, or leave the sentence out\n"
    )
