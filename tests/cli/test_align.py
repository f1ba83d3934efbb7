"""``qsproj align``: what it reads, what it writes, and what it says of bad input."""

import re
from itertools import permutations

import pytest

PAIRS = "the house is small\tdas haus ist klein\nthe book\tdas buch\n\tx\na house\tein haus\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


def test_one_line_for_each_pair(run_cli, pairs):
    outcome = run_cli("align", pairs)
    assert outcome.code == 0
    assert outcome.out == "0-0 1-1 2-2 3-3\n0-0 1-1\n\n0-0 1-1\n"
    assert outcome.err == "1 of 4 pairs has an empty side: no links\n"


def test_two_files_standard_input_and_output_file(run_cli, tmp_path):
    source, output = tmp_path / "en.txt", tmp_path / "links"
    source.write_text("".join(line.split("\t")[0] + "\n" for line in PAIRS.splitlines()), encoding="utf-8")
    target = "".join(line.split("\t")[1] + "\n" for line in PAIRS.splitlines())
    outcome = run_cli("align", source, "-", "-o", output, stdin=target)
    assert (outcome.code, outcome.out) == (0, "")
    assert output.read_text() == "0-0 1-1 2-2 3-3\n0-0 1-1\n\n0-0 1-1\n"


def test_weights(run_cli, pairs):
    first = run_cli("align", pairs, "--weights").out.split()[0]
    assert re.fullmatch(r"0-0:0\.9\d+", first)


def test_symmetrize_and_threshold(run_cli, pairs):
    assert run_cli("align", pairs, "--threshold", "1").out == "\n\n\n\n"
    assert run_cli("align", pairs, "--symmetrize", "intersection").out.startswith("0-0 1-1")


def test_unspaced(run_cli, tmp_path):
    """The word of the last line occurs in running text only, and its link counts words."""
    words = {"cat": "猫儿", "dog": "狗子", "tree": "树木", "house": "房屋"}
    orders = [*permutations(words, 2), *permutations(words, 3)]
    lines = [" ".join(order) + "\t" + "".join(words[word] for word in order) + "\n" for order in orders]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(lines) + "cat dog tree\t树木\n", encoding="utf-8")
    outcome = run_cli("align", path, "--unspaced", "target")
    assert outcome.out.splitlines()[-1] == "2-0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "giza"), "unknown alignment method 'giza'; known: hmm, eflomal"),
        (
            ("--symmetrize", "x"),
            "unknown symmetrization 'x'; known: threshold, intersection, union, grow-diag",
        ),
        (("--threshold", "2"), "--threshold: found '2', expected a number, from 0 to 1"),
        (("--threshold", "nan"), "--threshold: found 'nan', expected a number"),
        (
            ("--threshold", "0.5", "--symmetrize", "union"),
            "--threshold belongs to --symmetrize threshold; leave it out",
        ),
        (("--threshold", "0.3", "--method", "eflomal"), "--threshold belongs to --symmetrize threshold"),
        (("--weights", "--method", "eflomal"), "--weights belongs to --method hmm; leave it out"),
        (("-", "--hand-alignment", "-"), "only one file can be - (standard input)"),
        (("--unspaced", "x"), "unknown side 'x'; known: source, target, both"),
    ],
)
def test_bad_options(run_cli, pairs, arguments, message):
    outcome = run_cli("align", pairs, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_single_pair_is_counted_as_one(run_cli, tmp_path):
    (tmp_path / "pairs").write_text("a b\t\n", encoding="utf-8")
    outcome = run_cli("align", tmp_path / "pairs")
    assert (outcome.code, outcome.out) == (0, "\n")
    assert outcome.err == "1 of 1 pair has an empty side: no links\n"


def test_a_file_of_that_name_is_not_the_standard_output(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("a\tb\n", encoding="utf-8")
    assert run_cli("align", "./-").code == 0
    assert run_cli("align", "-", stdin="a\tb\n").out == "0-0\n"


def test_links_do_not_take_the_place_of_what_they_link(run_cli, pairs):
    linked = pairs.with_name("the same file")
    linked.hardlink_to(pairs)
    for output in (pairs.parent / "." / pairs.name, linked):
        outcome = run_cli("align", pairs, "-o", output)
        assert outcome.code == 2
        assert "as a file to read and as one to write; name another" in outcome.err
    assert pairs.read_text(encoding="utf-8") == PAIRS


def test_unequal_line_counts(run_cli, tmp_path):
    (tmp_path / "a").write_text("x\ny\n")
    (tmp_path / "b").write_text("x\n")
    outcome = run_cli("align", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "found 2 lines" in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [(), ("--tokenize", "en", "de")])
def test_pairs_are_not_a_side(run_cli, pairs, tmp_path, arguments):
    (tmp_path / "de").write_text("das haus\n" * 4, encoding="utf-8")
    outcome = run_cli("align", pairs, tmp_path / "de", *arguments)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert "pairs.tsv:1: found a tab as between the sentences of a pair" in outcome.err


def test_pairs_are_not_the_text_beside_trees(run_cli, pairs):
    outcome = run_cli("align", "corpora/de.conllu", pairs)
    assert (outcome.code, outcome.out) == (2, "")
    assert "pairs.tsv:1: found a tab as between the sentences of a pair" in outcome.err


def test_equal_sides_are_told(run_cli, pairs, tmp_path):
    said = "both sides are the same text in all pairs; check that one is the translation"
    text = tmp_path / "text"
    text.write_text("the house\n\na cat\n", encoding="utf-8")
    for side in (text, "corpora/de.conllu"):
        outcome = run_cli("align", side, side)
        assert (outcome.code, said in outcome.err) == (0, True)
    (tmp_path / "other").write_text("the house\n\neine Katze\n", encoding="utf-8")
    assert "same text" not in run_cli("align", text, tmp_path / "other").err


def test_empty_file(run_cli, tmp_path):
    (tmp_path / "empty").write_text("")
    outcome = run_cli("align", tmp_path / "empty")
    assert outcome.code == 2
    assert "found no line, expected sentence pairs" in outcome.err


def test_processes_give_the_same_links(run_cli, pairs):
    assert run_cli("align", pairs, "--jobs", "2").out == run_cli("align", pairs).out


def test_eflomal_takes_no_jobs(run_cli, pairs):
    outcome = run_cli("align", pairs, "--method", "eflomal", "--jobs", "2")
    assert outcome.code == 2
    assert "--jobs belongs to --method hmm; leave it out" in outcome.err


def test_links_are_written_into_the_target(run_cli, tmp_path):
    links, linked = tmp_path / "links", tmp_path / "de.linked.conllu"
    sides = ("corpora/en.conllu", "corpora/de.conllu")
    assert run_cli("align", *sides, "--weights", "--linked", linked, "-o", links).code == 0
    scored = run_cli("eval", "--alignments", links, linked, "--alignment-format", "misc", "--json")
    assert '"aer": 0.0' in scored.out
    drawn = ("draw", sides[0], "--target", linked, "--alignment", linked, "--alignment-format", "misc")
    assert run_cli(*drawn, "-o", tmp_path / "pairs.html").code == 0
    refused = run_cli("align", sides[0], links, "--linked", linked, "-o", tmp_path / "x")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--linked needs two files of CoNLL-U" in refused.err
