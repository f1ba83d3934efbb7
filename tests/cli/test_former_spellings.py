"""Commands that were modes of others: one line names what to type now."""

import shlex

import pytest

from qsproj.cli.former_spellings import present_spelling
from qsproj.cli.main import build_parser

PAIR = "--source s --target t --alignment a"


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("tag --train a b -o m", "train-tagger a b -o m"),
        ("tag --raw x --train a b --language de -o m", "train-tagger a b --raw x --language de -o m"),
        ("tag -o m --train=a", "train-tagger a -o m"),
        (f"tag --project {PAIR} -o m", f"project-tags {PAIR} -o m"),
        (f"tag {PAIR} -o m --project", f"project-tags {PAIR} -o m"),
        (f"biparse train {PAIR} --source-model e -o m", f"train-biparser {PAIR} --source-model e -o m"),
        ("biparse join -m m --source-model e --target-model d -o n", None),
        (f"biparse parse {PAIR} -m m", f"biparse {PAIR} -m m"),
        (f"biparse cotrain {PAIR} -m m --trees t -o n", f"cotrain {PAIR} -m m --trees t -o n"),
        ("adapt -m c --source s -o t", "convert s -m c -o t"),
        ("adapt --source s --model=c -o t", "convert s --model=c -o t"),
        ("styles convert --to prague 'my trees' -o t", "convert --to prague 'my trees' -o t"),
    ],
)
def test_a_former_spelling_names_the_whole_command(run_cli, former, present):
    outcome = run_cli(*shlex.split(former))
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    typed = outcome.err.strip().partition("type: qsproj ")[2]
    assert present is None or typed == present
    # What is to be typed is a command line that parses.
    build_parser(typed.split()[0]).parse_args(shlex.split(typed))


@pytest.mark.parametrize(
    "same",
    ["tag -m m", "biparse -m m", "styles list", f"adapt {PAIR}", "parse -m m", "train", "", "eval a b"],
)
def test_other_commands_are_as_they_were(same):
    assert present_spelling(same.split()) is None
