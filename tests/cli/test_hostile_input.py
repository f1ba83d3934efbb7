"""Numbers, words, names and streams that no one would write: one line, exit 2, nothing lost."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.refusals import SAMPLE, assert_one_line, conllu

HUGE = "9" * 5000
ROW = "{}\ta\t_\tX\t_\t_\t{}\troot\t_\t{}\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW.format(1, HUGE, "_"), "x:1: found HEAD 99999"),
        (ROW.format(HUGE, 0, "_"), "x:1: found ID "),
        (ROW.format(f"1-{HUGE}", "_", "_")[:-1] + ROW.format(1, 0, "_"), "x:1: found range 1-99999"),
        (ROW.format(1, 0, "_")[:-1] + ROW.format(f"1.{HUGE}", "_", "_"), "x:2: found empty node 1.99999"),
    ],
)
def test_numbers_of_thousands_of_digits_in_trees(run_cli, tmp_path, text, message):
    outcome = run_cli("eval", SAMPLE, conllu(tmp_path / "x", text))
    assert_one_line(outcome, message)
    assert len(outcome.err) < 600


@pytest.mark.parametrize(
    ("name", "text"),
    [("pharaoh", f"{HUGE}-0"), ("talp", f"{HUGE}-1"), ("naacl", f"{HUGE} 1 1"), ("naacl", f"1 {HUGE} 1")],
)
def test_numbers_of_thousands_of_digits_in_links(run_cli, tmp_path, name, text):
    one, links = conllu(tmp_path / "one", ROW.format(1, 0, "_")), conllu(tmp_path / "links", text + "\n")
    pair = ("--source", one, "--target", one, "--alignment", links, "--alignment-format", name)
    outcome = run_cli("project", *pair, "--method", "hard", "-o", tmp_path / "m")
    assert_one_line(outcome, f"{links}:1: found ")


@pytest.mark.parametrize("option", ["--seed", "--epochs"])
def test_numbers_of_thousands_of_digits_in_options(run_cli, tmp_path, option):
    outcome = run_cli("train", SAMPLE, option, HUGE, "-o", tmp_path / "m")
    assert_one_line(outcome, f"argument {option}: found '99999", "expected a whole number")
    assert len(outcome.err) < 300


def test_very_long_words_are_shortened_in_messages(run_cli, tmp_path):
    row = f"1\t{'x' * 100_000}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    outcome = run_cli("train-tagger", conllu(tmp_path / "long", row), "-o", tmp_path / "m")
    assert_one_line(outcome, "long:1: found word 1 ('xxxxx", "without UPOS")
    assert len(outcome.err) < 600


@pytest.mark.parametrize("command", [("eval", "--calibration"), ("draw", "-o", "x.html")])
def test_probabilities_that_are_none_are_placed(run_cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    good, bad = (ROW.format(1, 0, f"ArcProb={value}") for value in ("0.5", "x"))
    file = conllu(tmp_path / "trees", good + bad)
    gold = (file,) if command[0] == "eval" else ()
    outcome = run_cli(*command, *gold, file)
    assert_one_line(outcome, f"{file}:3: found ArcProb=x ", "expected a probability")


def test_links_that_lead_in_a_circle(run_cli, model, tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for arguments in (("-m", loop, SAMPLE), ("-m", model, loop), ("-m", model, SAMPLE, "-o", loop)):
        assert_one_line(run_cli("parse", *arguments), f"{loop}: cannot be ")


def test_names_that_are_not_utf8(run_cli, model, tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/x\xff")
    conllu(tmp_path / Path(name).name, SAMPLE.read_bytes())
    assert run_cli("train", name, "--epochs", "1", "-o", f"{name}.model").code == 0
    program = "import sys; from qsproj.cli.main import main; sys.exit(main(sys.argv[1:]))"
    told = subprocess.run([sys.executable, "-c", program, "info", f"{name}.model"], capture_output=True)
    assert told.returncode == 0, told.stderr
    assert b"x\xff" in told.stdout
    assert_one_line(run_cli("parse", "-m", model, f"{name}.none"), "cannot be read")


def test_archives_of_one_endless_line(run_cli, model, tagger, tmp_path):
    bomb = conllu(tmp_path / "bomb", gzip.compress(b"ok\n" + b"a" * (20 << 20), compresslevel=1))
    assert_one_line(run_cli("tag", "-m", tagger, bomb), f"{bomb}:2: found a line of more than 16 MB")


def test_a_sentence_without_end(run_cli, model, tmp_path, monkeypatch):
    monkeypatch.setattr("qsproj.corpus.conllu._MOST_LINES", 1000)
    endless = conllu(tmp_path / "endless", "# sent_id = 1\n" + "# x\n" * 1001)
    assert_one_line(
        run_cli("parse", "-m", model, endless), f"{endless}:1: found a sentence of more than 1,000 lines"
    )


def test_a_standard_error_that_does_not_work_changes_nothing(model, tmp_path):
    """What is said of the work is lost, and is not to be found in the result."""

    def run(stderr, *arguments):
        shell = f'"{sys.executable}" -m qsproj "$@" 2>{stderr}'
        return subprocess.run(["sh", "-c", shell, "sh", *map(str, arguments)], capture_output=True)

    refused = run("&-", "parse", "-m", tmp_path / "none", SAMPLE)
    assert (refused.returncode, refused.stdout) == (2, b"")
    misused = run("/dev/full", "parse", "--unknown")
    assert (misused.returncode, misused.stdout) == (2, b"")


@pytest.mark.parametrize("columns", [7, "x", {"a": 1}, [[]], [None], [7]])
def test_a_record_that_says_nonsense_of_what_a_model_reads(run_cli, model, tmp_path, columns):
    with zipfile.ZipFile(model) as archive, zipfile.ZipFile(tmp_path / "m", "w") as changed:
        for name in archive.namelist():
            entry = archive.read(name)
            if name == "header.json":
                header = json.loads(entry)
                header["made"]["columns"] = columns
                entry = json.dumps(header).encode()
            changed.writestr(name, entry)
    assert run_cli("parse", "-m", tmp_path / "m", SAMPLE, "-o", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    "arguments", [["--help"], [], ["--version"], ["train", "--help"], ["biparse", "--help"]]
)
def test_help_that_cannot_be_written_is_told(arguments):
    command = [sys.executable, "-m", "qsproj", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.endswith(": standard output: cannot be written: No space left on device\n")
    assert done.stderr.count("\n") == 1


def test_help_whose_reader_is_gone_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m qsproj train --help | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        stderr=subprocess.PIPE,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
