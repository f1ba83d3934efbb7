"""Options that cannot be meant: one line that says what is wrong, exit code 2, nothing written."""

from pathlib import Path

import pytest

from tests.cli.refusals import LINKS, PAIR, PROJECT, SAMPLE, assert_one_line

EMPTY = ("--source", "empty", "--target", "empty", "--alignment", "empty")


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [
        (("parse", "-m", "x", "empty"), "--decode", "mbr, map, max-z"),
        (("parse", "-m", "x", "empty"), "--backend", "processes, dask"),
        (("align", "empty", "empty"), "--pair", "id, order"),
        (("project", "--method", "hard", *EMPTY), "--completion", "none, hwa"),
        (("project", "--method", "qg", *EMPTY), "--punctuation", "keep, strip"),
        (("train", "empty"), "--features", "delexicalised, words, morphology"),
        (("train", "empty"), "--optimizer", "sgd, lbfgs, cg"),
        (("train-biparser", *EMPTY, "--source-model", "x"), "--target-tags", "given, links, joint"),
        (("biparse", *EMPTY, "-m", "x"), "--source-tree", "joint, best, observed"),
    ],
)
def test_an_unknown_value_is_found_before_anything_is_read(
    run_cli, tmp_path, monkeypatch, command, option, known
):
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()
    assert_one_line(run_cli(*command, option, "bogus"), f"unknown {option} 'bogus'; known: {known}")


def test_an_unknown_alignment_format_is_found_before_anything_is_read(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()
    outcome = run_cli("project", *EMPTY, "-o", "m", "--alignment-format", "fast:tokens")
    assert_one_line(outcome, "unknown alignment format 'fast'; known: pharaoh")


def test_an_unknown_method_lists_the_known(run_cli, tmp_path):
    outcome = run_cli(
        *("project", "--source", "corpora/en.conllu", "--target", SAMPLE, "--method", "magic"),
        *("--alignment", "corpora/en-de.pharaoh", "-o", tmp_path / "m"),
    )
    assert_one_line(outcome, "unknown --method 'magic'; known: soft, hard")


@pytest.mark.parametrize("task", [("train-tagger", SAMPLE, "-o", "m"), ("tag", "-m", "m", SAMPLE)])
def test_a_language_that_is_no_code(run_cli, tmp_path, monkeypatch, task):
    """Whether or not any text is to be cut."""
    task = [Path.cwd() / word if word == SAMPLE else word for word in task]
    monkeypatch.chdir(tmp_path)
    assert_one_line(
        run_cli(*task, "--language", "klingon"), "found language 'klingon'", "expected a code of ISO 639"
    )
    assert not list(tmp_path.iterdir())


BIPARSE = (
    *("train-biparser", "--source", "corpora/en.conllu", "--target", SAMPLE, "--alignment", LINKS),
    *("--source-model", "no.model"),
)


@pytest.mark.parametrize(
    ("command", "option", "value", "bounds"),
    [
        (("train", SAMPLE), "--epochs", "0", "a whole number, 1 or more"),
        (("train", SAMPLE), "--order", "x", "a whole number, 1 or more"),
        (("parse", SAMPLE, "-m", "m"), "--jobs", "x", "a whole number, -1 or more"),
        (("suggest", SAMPLE, "-m", "m"), "--count", "0", "a whole number, 1 or more"),
        (("train", SAMPLE), "--seed", "-1", "a whole number, 0 or more"),
        (BIPARSE, "--epochs", "0", "a whole number, 1 or more"),
        (("train", SAMPLE), "--l2", "nan", "a number, from 0 to 1e+06"),
        (("train", SAMPLE), "--l2", "1e300", "a number, from 0 to 1e+06"),
        (("suggest", SAMPLE, "-m", "m"), "--sentence-cost", "nan", "a number, 0 or more"),
        (PROJECT, "--iterations", "-1", "a whole number, 0 or more"),
    ],
)
def test_numbers_out_of_bounds(run_cli, tmp_path, command, option, value, bounds):
    outcome = run_cli(*command, "-o", tmp_path / "m", f"{option}={value}")
    assert_one_line(outcome, f"argument {option}: found '{value}', expected {bounds}")


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (("train", "-", "-o", "m"), "standard input:1: found the text 'x'"),
        (("eval", "-", SAMPLE), "standard input:1: found the text 'x'"),
        (("train", SAMPLE, "--dev", "-", "-o", "m"), "standard input: found no word with a head"),
        (("draw", "-", "--sentence", "none", "-o", "m.html"), "standard input: found no sentence 'none'"),
        (("eval", "-", SAMPLE), "as in standard input"),
    ],
)
def test_standard_input_has_a_name(run_cli, command, place):
    stdin = "x" if "1:" in place else "1\tx" + 8 * "\t_" + "\n\n"
    outcome = run_cli(*command, stdin=stdin)
    assert_one_line(outcome, place)


def test_standard_input_is_read_once(run_cli, tmp_path):
    for command in (
        ("adapt", "--source", "-", "--target", "-", "-o", tmp_path / "m"),
        ("draw", "-", "--target", "-", "--alignment", LINKS),
        ("project", "--source", "-", "--target", "-", "--alignment", LINKS, "-o", tmp_path / "m"),
        ("biparse", "--source", "-", "--target", "-", "--alignment", LINKS, "-m", "no.model"),
    ):
        assert_one_line(run_cli(*command), "only one file can be - (standard input)")


def test_factors_belong_to_the_second_order(run_cli, tmp_path):
    outcome = run_cli("train", SAMPLE, "--factors", "grand", "-o", tmp_path / "m")
    assert_one_line(outcome, "--factors belongs to --order 2")


@pytest.mark.parametrize(
    "command",
    [
        ("project", *PAIR, "-o", "{there}", "--trees", "{there}"),
        ("biparse", "-m", "x", *PAIR, "-o", "{there}", "--source-output", "{there}"),
        ("biparse", "-m", "x", *PAIR, "-o", "{there}", "--source-output", "{there again}"),
        ("biparse", "-m", "x", *PAIR, "-o", "-", "--alignment-output", "-"),
        ("convert", "-m", "x", SAMPLE, "-o", "{there}", "--least-sure", "{there}"),
    ],
)
def test_two_outputs_of_one_name(run_cli, tmp_path, command):
    there = tmp_path / "there"
    there.write_text("what was there")
    spellings = {"{there}": str(there), "{there again}": f"{tmp_path}/./there"}
    arguments = [spellings.get(part, part) for part in command]
    assert_one_line(run_cli(*arguments), "for two outputs, expected a name of its own for each")
    assert there.read_text() == "what was there"


@pytest.mark.parametrize("command", [("bootstrap", "--work", "w/x"), (*PROJECT, "--checkpoint", "w/x")])
@pytest.mark.parametrize("output", ["w/x", "w"])
def test_an_output_that_is_also_a_folder_to_make(run_cli, tmp_path, monkeypatch, command, output):
    monkeypatch.chdir(tmp_path)
    more = ("--treebank", "t", "--bitext", "b", "--languages", "en", "de") * (command[0] == "bootstrap")
    method = ("--method", "em") * (command[0] == "project")
    outcome = run_cli(*command, *more, *method, "-o", "m", "--trees", output)
    if output == "w/x":
        Path("w").mkdir()
        outcome = run_cli(*command, *more, *method, "-o", "m", "--trees", output)
    assert_one_line(outcome, f"found {output} as a folder and as a file to write; name another")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ("train", SAMPLE, "--iterations", "3"),
            "--bp-iterations belongs to --order 2, --joint-tags; leave it out",
        ),
        (
            ("train", SAMPLE, "--order", "2", "--cutoff", "2"),
            "--cutoff belongs to --order 1; leave it out",
        ),
        (
            ("train", SAMPLE, "--cutoff", "1000"),
            f"{SAMPLE}: no feature has 1,000 occurrences; lower the cutoff",
        ),
        (("train", "-", "--dev", "-"), "only one file can be -"),
        (
            ("train-tagger", SAMPLE, "--backend", "dask"),
            "found --backend, which it does not know; it is an option of bootstrap, parse, ",
        ),
        (
            ("train-biparser", *PAIR, "--source-model", "x", "--factors", "synch", "--epochs", "3"),
            "--epochs",
        ),
        (("draw", SAMPLE), "found no format in the name"),
        (
            ("biparse", "-m", "x", *PAIR, "--link-threshold", "0.3"),
            "--link-threshold belongs to --al",
        ),
    ],
)
def test_options_that_would_not_be_read(run_cli, tmp_path, command, message):
    assert_one_line(run_cli(*command, "-o", tmp_path / "x.jpg"), message)
    assert not (tmp_path / "x.jpg").exists()


TRAININGS = [
    ("train", SAMPLE),
    ("train-tagger", SAMPLE),
    ("adapt", "--source", SAMPLE, "--target", SAMPLE),
    PROJECT,
    BIPARSE,
    ("cotrain", *PAIR, "-m", "x", "--trees", SAMPLE),
]


@pytest.mark.parametrize("command", TRAININGS, ids=lambda command: f"{command[0]} {command[1]}")
@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("none/model", "none/model: cannot be written: No such file or directory"),
        (".", ".: found a directory, expected a file to write"),
        ("-", "a model is not written to standard output; give -o MODEL"),
        (SAMPLE, f"found {SAMPLE} as a file to read and as one to write"),
    ],
)
def test_where_a_model_goes_is_checked_before_it_is_trained(run_cli, monkeypatch, command, output, message):
    """Nothing is read by then."""
    monkeypatch.setattr("qsproj.corpus.conllu.open_text", None)
    assert_one_line(run_cli(*command, "-o", output), message)


def test_trees_that_cannot_be_written_are_told_at_once(run_cli, monkeypatch, tmp_path):
    monkeypatch.setattr("qsproj.corpus.conllu.open_text", None)
    outcome = run_cli(*PROJECT, "-o", tmp_path / "m", "--trees", tmp_path / "none" / "trees")
    assert_one_line(outcome, "none/trees: cannot be written: No such file or directory")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("parse", "-m", "no.model", SAMPLE, "--confidence", "-o"), "--confidence"),
        (("tag", "-m", "no.model", SAMPLE, "--confidence", "-o"), "--confidence"),
        (
            ("convert", "-m", "no.model", SAMPLE, "--confidence", "-o"),
            "--confidence",
        ),
        (("align", "corpora/en.conllu", SAMPLE, "--linked"), "--linked"),
    ],
)
def test_what_goes_into_misc_is_not_lost_in_conllx(run_cli, tmp_path, command, option):
    out = tmp_path / "words.conllx.gz"
    message = f"{option} adds to MISC, found {out}, expected a name of CoNLL-U, as CoNLL-X has no MISC"
    assert_one_line(run_cli(*command, out), message)
    assert not out.exists()


def test_one_argument_too_many(run_cli):
    outcome = run_cli("convert", SAMPLE, "other", "--to", "ud")
    assert outcome.err == "qsproj convert: found other, expected no more arguments; see qsproj help convert\n"
    assert outcome.code == 2


def test_a_treebank_of_comments_alone_is_no_text(run_cli, tmp_path, tagger):
    (tmp_path / "x.conllu").write_text("# nothing\n\n", encoding="utf-8")
    outcome = run_cli("tag", "-m", tagger, tmp_path / "x.conllu", "-o", tmp_path / "out")
    assert_one_line(outcome, "x.conllu:1: found a sentence without words")
