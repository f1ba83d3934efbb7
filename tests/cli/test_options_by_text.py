"""Options declared by text are those that ``argparse`` would be told of, one by one."""

import argparse

import pytest

from qsproj.cli.options.common import add_options, number, whole_number


def by_text() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="p")
    add_options(parser)("""
        tree TREE?=-: what is read: a tree
        -m --model MODEL!: a model, whose help goes on
            in a further line
        --also FILE+: several
        --pair CODE CODE...: two, again and again
        --raw TEXT*: any number
        --seen: a switch
        --best K[1..]=5: a whole number
        --share P[0.0..1.0]: a number
    """)
    return parser


def by_hand() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="p")
    parser.add_argument("tree", nargs="?", default="-", metavar="TREE", help="what is read: a tree")
    help_ = "a model, whose help goes on in a further line"
    parser.add_argument("-m", "--model", required=True, metavar="MODEL", help=help_)
    parser.add_argument("--also", nargs="+", default=[], metavar="FILE", help="several")
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], metavar=("CODE", "CODE"), help="two, again and again"
    )
    parser.add_argument("--raw", nargs="*", default=[], metavar="TEXT", help="any number")
    parser.add_argument("--seen", action="store_true", help="a switch")
    parser.add_argument(
        "--best", type=whole_number(least=1), default=5, metavar="K", help="a whole number (default: 5)"
    )
    parser.add_argument("--share", type=number(least=0.0, most=1.0), metavar="P", help="a number")
    return parser


@pytest.mark.parametrize(
    "words",
    [
        "-m a",
        "t --model a --also b c --pair en de --pair da sv --raw --seen --best 7 --share .25",
        "--model a --raw x y",
    ],
)
def test_values_are_those_of_options_told_one_by_one(words):
    assert by_text().parse_args(words.split()) == by_hand().parse_args(words.split())


def test_help_is_the_same():
    assert by_text().format_help() == by_hand().format_help()


@pytest.mark.parametrize(
    "words", ["t", "-m a --best 0", "-m a --best 1.5", "-m a --share 1.1", "-m a --also"]
)
def test_wrong_values_are_refused_alike(words, capsys):
    told = []
    for parser in (by_text(), by_hand()):
        with pytest.raises(SystemExit):
            parser.parse_args(words.split())
        told.append(capsys.readouterr().err)
    assert told[0] == told[1]
