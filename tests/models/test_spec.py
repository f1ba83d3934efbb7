"""What is told of a field of options is what users of commands, of Python and of model files meet."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import pytest

from qsproj.cli.command_parser import CommandParser
from qsproj.cli.options.declare import add_options, of_fields
from qsproj.cli.options.shared import values_of
from qsproj.errors import UsageError
from qsproj.models.spec import check, option_field, restored


@dataclass(frozen=True, kw_only=True)
class Inner:
    """Options of a part."""

    damping: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Cooking:
    """Options of no model."""

    eggs: int = option_field(3, least=1, help="how many are boiled")
    salt: float = option_field(0.25, least=0.0, most=1.0, metavar="P", help="share of a spoon")
    heat: float = option_field(0.5, least=0.0, most=1.0, within=True)
    herbs: tuple[str, ...] = option_field(("dill",), known=("herb", ("dill", "chives")))
    limit: float | None = option_field(None, least=0.0, most=10.0)
    covered: bool = False
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self):
        check(self)


def test_options_of_a_command_are_made_of_it(capsys):
    parser = CommandParser(prog="cook")
    add_options(parser, of_fields(Cooking(eggs=2), "eggs", "salt"))
    said = " ".join(parser.format_help().split())
    assert "--eggs N how many are boiled (default: 2)" in said
    assert "--salt P share of a spoon, 0 to 1 (default: 0.25)" in said
    given = parser.parse_args(["--salt", "1"])
    assert Cooking(**values_of(given, "eggs", "salt")) == Cooking(eggs=2, salt=1.0)
    for words, message in ((["--eggs", "0"], "a whole number, 1 or more"), (["--salt", "2"], "from 0 to 1")):
        with pytest.raises(SystemExit):
            parser.parse_args(words)
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"eggs": 0}, "eggs is 0, expected at least 1"),
        ({"salt": 1.5}, "salt is 1.5, expected at least 0 and at most 1"),
        ({"heat": 1.0}, "heat is 1.0, expected a probability between 0 and 1"),
        ({"herbs": ("dill", "salt")}, "unknown herb 'salt'; known: dill, chives"),
        ({"limit": -1.0}, "limit is -1.0, expected at least 0 and at most 10"),
    ],
)
def test_what_python_gives_is_checked(given, message):
    with pytest.raises(UsageError, match=message):
        Cooking(**given)


def test_a_header_gives_them_back():
    options = Cooking(eggs=7, herbs=("chives",), limit=2.5, covered=True, inner=Inner(damping=0.1))
    header = asdict(options) | {"herbs": list(options.herbs)}
    assert restored(Cooking(), header) == options
    assert restored(Cooking(eggs=5), {"salt": 0.5}) == Cooking(eggs=5, salt=0.5)
    assert restored(Cooking(), header | {"other": 1, "salt": None}, among_others=True) == options


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ([], "expected an object"),
        ({"pepper": 1}, "unknown option 'pepper' in the header"),
        ({"eggs": "three"}, "eggs in the header: found 'three', expected an integer"),
        ({"eggs": 0}, "eggs is 0, expected at least 1"),
        ({"salt": 2.0}, "salt in the header: found 2.0, expected a number of 0 to 1"),
        ({"heat": 0.0}, "heat is 0.0"),
        ({"herbs": "dill"}, "herbs in the header: found 'dill', expected a list"),
        ({"herbs": ["salt"]}, "unknown herb 'salt'"),
        ({"limit": 11.0}, "limit in the header: found 11.0"),
        ({"covered": 1}, "covered in the header: found 1, expected true or false"),
        ({"inner": {"speed": 1.0}}, "unknown option 'speed' in the header"),
    ],
)
def test_a_header_that_is_wrong_is_refused(header, message):
    with pytest.raises(ValueError, match=message):
        restored(Cooking(), header)
