"""The command itself: exit codes and one-line errors."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from qsproj import __version__
from qsproj.cli import main as command_line
from qsproj.corpus.files import open_output
from qsproj.errors import DataError, UsageError


def command_that(action):
    """Return a stand-in for a command's file whose run does ``action``."""

    class Module:
        """A command."""

        EXAMPLES = "examples:\n  qsproj eval"
        add_arguments = staticmethod(lambda parser: None)
        run = staticmethod(action)

    return Module


def raising(error):
    def action(options):
        raise error

    return action


def test_version(run_cli):
    outcome = run_cli("--version")
    assert (outcome.code, outcome.out.strip()) == (0, f"qsproj {__version__}")


@pytest.mark.parametrize(
    "command, positional", [("eval", "GOLD SYSTEM [SYSTEM ...]"), ("search", "PATTERN [FILE ...]")]
)
def test_usage_marks_arguments_that_may_be_left_out(run_cli, command, positional):
    assert f"usage: qsproj {command} {positional} [options]" in run_cli(command, "--help").out


def test_help_names_every_command(run_cli):
    outcome = run_cli("--help")
    assert outcome.code == 0
    for command, summary in command_line.COMMANDS:
        assert command in outcome.out
        assert summary.split()[0] in outcome.out


def test_the_bare_command_shows_its_help(run_cli):
    outcome = run_cli()
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == run_cli("--help").out


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"], ["eval", "--nonsense"]])
def test_bad_usage_is_one_line_and_exit_2(run_cli, arguments):
    outcome = run_cli(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("qsproj")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("parse --modle de.model de.txt", "found --modle, which it does not know; did you mean --model?"),
        ("bootstrap --suggest-word x --share=1", "found --share, which it does not know; it is an option of"),
        ("styles detect --nonsense", "found --nonsense, which it does not know"),
        # No options: an abbreviation, values, and words after --.
        ("train --epo 3", "the following arguments are required: TREEBANK"),
        ("train -- --epoch", "the following arguments are required: -o/--output"),
    ],
)
def test_an_unknown_option_is_named_before_arguments_that_are_missing(run_cli, arguments, message):
    outcome = run_cli(*arguments.split())
    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UsageError("no such model"), "qsproj eval: no such model\n"),
        (
            DataError("a.conllu", 7, found="9 columns", expected="10"),
            "qsproj eval: a.conllu:7: found 9 columns, expected 10\n",
        ),
    ],
)
def test_an_error_of_the_input_is_one_line_and_exit_2(run_cli, monkeypatch, error, line):
    monkeypatch.setattr(command_line, "import_module", lambda name: command_that(raising(error)))
    outcome = run_cli("eval")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", line)


def test_a_bug_of_ours_is_not_dressed_up(run_cli, monkeypatch):
    monkeypatch.setattr(
        command_line, "import_module", lambda name: command_that(raising(ZeroDivisionError()))
    )
    with pytest.raises(ZeroDivisionError):
        run_cli("eval")


def test_too_little_memory_is_one_line(run_cli, monkeypatch):
    monkeypatch.setattr(command_line, "import_module", lambda name: command_that(raising(MemoryError())))
    outcome = run_cli("eval")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("qsproj eval: out of memory")
    assert outcome.err.count("\n") == 1


def test_an_interrupt_is_one_line_and_exit_130(run_cli, monkeypatch):
    monkeypatch.setattr(
        command_line, "import_module", lambda name: command_that(raising(KeyboardInterrupt()))
    )
    assert run_cli("eval").code == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full, a full disk: Linux has one")
@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">/dev/full", "standard output: cannot be written: No space left on device"),
        (">&-", "standard output is closed; name a file"),
        ("<&-", "standard input is closed; name a file"),
    ],
)
def test_standard_streams_that_do_not_work_are_one_line(monkeypatch, redirection, message):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    command = f"{shlex.quote(sys.executable)} -m qsproj eval corpora/de.conllu corpora/de.conllu"
    if redirection.startswith("<"):
        command = command.replace("corpora/de.conllu", "-", 1)
    outcome = subprocess.run(
        f"{command} {redirection}", shell=True, check=False, stderr=subprocess.PIPE, text=True
    )
    assert (outcome.returncode, outcome.stderr) == (2, f"qsproj eval: {message}\n")


def test_a_reader_that_goes_away_is_no_error(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    command = f"{shlex.quote(sys.executable)} -m qsproj styles list | head -c 1 >/dev/null; echo $?"
    outcome = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
    assert (outcome.stdout, outcome.stderr) == ("0\n", "")


def test_a_file_that_is_lost_with_the_reader_is_an_error(run_cli, tmp_path, monkeypatch):
    def run(options):
        with open_output(tmp_path / "lost"):
            raise BrokenPipeError

    monkeypatch.setattr(command_line, "import_module", lambda _: command_that(run))
    outcome = run_cli("eval")
    assert outcome.code == 2
    assert "lost: not written, as the reader of standard output ended first" in outcome.err
