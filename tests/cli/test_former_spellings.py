"""Commands that were modes of others: one line names the present command."""

import shlex

import pytest

from qsproj.cli.main import COMMANDS

PAIR = "--source s --target t --alignment a"


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("tag --train a b -o m", "train-tagger"),
        ("tag -o m --train=a", "train-tagger"),
        (f"tag {PAIR} -o m --project", "project-tags"),
        (f"biparse train {PAIR} --source-model e -o m", "train-biparser"),
        ("biparse join -m m --source-model e --target-model d -o n", "join-biparser"),
        (f"biparse parse {PAIR} -m m", "biparse"),
        (f"biparse cotrain {PAIR} -m m --trees t -o n", "cotrain"),
        ("adapt -m c --source s -o t", "convert"),
        ("adapt --source s --model=c -o t", "convert"),
        ("styles convert --to prague 'my trees' -o t", "convert"),
    ],
)
def test_a_former_spelling_names_the_present_command(run_cli, former, present):
    outcome = run_cli(*shlex.split(former))
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert f"is now spelled `qsproj {present}`; see qsproj help {present}" in outcome.err
    assert present in dict(COMMANDS)


@pytest.mark.parametrize("same", ["tag -m m", "biparse -m m", "styles list", f"adapt {PAIR}", "eval a train"])
def test_other_commands_are_as_they_were(run_cli, same):
    assert "is now spelled" not in run_cli(*same.split()).err
