"""Options of all commands: one name means one thing, help fits on a screen, conditions are declared."""

from __future__ import annotations

import argparse
from collections import defaultdict

import pytest

from qsproj.cli.command_parser import CommandHelp
from qsproj.cli.main import COMMANDS, build_parser
from qsproj.cli.options.declare import (
    Heading,
    Option,
    add_options,
    check_conditions,
    number,
    only_where,
)
from qsproj.errors import UsageError

MOST_LINES = 60


def parsers_of(command):
    """Return the parser of a command, and those of its actions."""
    top = build_parser(command)
    (commands,) = (one for one in top._actions if isinstance(one, argparse._SubParsersAction))
    found = [commands.choices[command]]
    for parser in found:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                found += action.choices.values()
    return found


def kind_of(action):
    """Return what is given after an option: nothing, some words, or one of a few."""
    if action.nargs == 0:
        return "switch"
    return tuple(action.choices) if action.choices else str(action.metavar)


# Values that are files.
ALIKE = dict.fromkeys(("MODEL", "OTHER", "TAGGED", "[NAME=]MODEL", "FOLDER", "DIR"), "FILE")


def test_one_name_means_one_thing():
    meanings = defaultdict(dict)
    for command, _ in COMMANDS:
        for parser in parsers_of(command):
            for action in parser._actions:
                kind = kind_of(action)
                kind = ALIKE.get(kind, kind) if isinstance(kind, str) else kind
                for name in action.option_strings:
                    if action.help is not argparse.SUPPRESS:
                        meanings[name].setdefault(kind, []).append(command)
    several = {name: kinds for name, kinds in meanings.items() if len(kinds) > 1}
    assert set(several) <= KNOWN, several
    assert len(meanings) < 175


# The same thing, given in other ways: names of columns, or all of them; one name of factors, or several; the
# methods of different tasks.
KNOWN = {"--columns", "--factors", "--labels", "--method"}


@pytest.mark.parametrize("command", [name for name, _ in COMMANDS])
def test_help_fits_on_a_screen(command):
    for parser in parsers_of(command):
        lines = parser.format_help().splitlines()
        assert len(lines) <= MOST_LINES, f"{parser.prog}: {len(lines)} lines"
        assert max(map(len, lines)) <= 110
        assert parser.formatter_class is CommandHelp


def test_help_states_the_limits_of_numbers():
    of_project, of_train, of_bundle = (
        " ".join(parsers_of(command)[0].format_help().split()) for command in ("project", "train", "bundle")
    )
    assert "relative to the prior, 0 to 2 (default: 0.75)" in of_project
    assert "strength of the L2 penalty, 0 to 1,000,000 (default: 15; hidden 60)" in of_train
    assert "up to N uncertain tags, 1,000 at most;" in of_bundle


def test_what_nobody_would_turn_is_not_offered():
    gone = "limit support l1 entropy strength min-weight min-attached min-linked longest sibling-pairs"
    offered = {
        name
        for command, _ in COMMANDS
        for parser in parsers_of(command)
        for name in parser._option_string_actions
    }
    assert not offered & {f"--{name}" for name in gone.split()}
    assert {"--best", "--cost", "--clusters"} <= offered


def conditional():
    """Return a parser of which ``--deep`` is read by one method only, and ``--fast`` with ``--model``."""
    parser = argparse.ArgumentParser(prog="t")
    options = (
        Option("--method NAME", "how", default="a"),
        Option("-m, --model MODEL", "what"),
        Option("--deep N", "how deep", default=3, needs="--method b, c"),
        Option("--half X", "half of it"),
        Heading("more", needs="-m"),
        Option("--fast", "faster"),
    )
    add_options(parser, options)
    only_where(parser, "an even number", lambda options: options.deep % 2 == 0, "half")
    return parser


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("", None),
        ("--deep 3", None),
        ("--deep 4", "--deep belongs to --method b, c; leave it out"),
        ("--method c --deep 4 --half x", None),
        ("--fast", "--fast belongs to -m; leave it out"),
        ("--fast --model m", None),
        ("--half x", "--half belongs to an even number; leave it out"),
    ],
)
def test_options_are_refused_where_they_are_not_read(words, refused):
    parser = conditional()
    options = parser.parse_args(words.split())
    if refused is None:
        check_conditions(parser, options)
        assert ("deep" in options.unread) == ("c" not in words.split())
    else:
        with pytest.raises(UsageError, match=refused):
            check_conditions(parser, options)


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (number(least=1, whole=True), {"1": 1, "20": 20}, ["0", "x", "1.5", "-1", "9" * 30]),
        (number(least=1, most=5, whole=True), {"5": 5}, ["6", "0"]),
        (number(least=0.0, most=1.0), {"0.5": 0.5, "1": 1.0}, ["1.1", "-1", "nan", "inf", "x"]),
    ],
)
def test_numbers_are_read_within_their_range(read, good, bad):
    assert {text: read(text) for text in good} == good
    for text in bad:
        with pytest.raises(argparse.ArgumentTypeError, match="expected a"):
            read(text)


@pytest.mark.parametrize(
    ("command", "former", "dest"),
    [
        ("train-tagger t -o m", "--raw x", "text"),
        ("cotrain -m m --source s --target t -o o", "--trees x", "annotated"),
        ("serve --review f", "--beside x", "versus"),
        ("serve --review f", "--by x", "reviewer"),
        ("draw f", "--features", "show_features"),
    ],
)
def test_former_names_of_options_are_read(command, former, dest):
    words = [*command.split(), *former.split()]
    options = build_parser(words[0]).parse_args(words)
    assert getattr(options, dest) in ("x", ["x"], True)
