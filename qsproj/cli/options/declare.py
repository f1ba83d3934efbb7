"""Options of a command: dataclasses, which become arguments of argparse."""

import argparse
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any

from qsproj.errors import UsageError

COLUMNS = ("upos", "xpos", "feats", "lemma")


@dataclass(frozen=True, slots=True)
class Option:
    """An option ``-o, --output FILE``, or an argument ``FILE ...``, or ``[FILE]`` that may be left out."""

    written: str  # as the help shows it: N, K, PIXELS whole numbers, P a probability, NAME,... columns
    help: str
    _: KW_ONLY
    default: str | float | None = None  # a number, or ``-``, a standard stream, completes the help
    choices: Collection[str] | Collection[int] = ()
    least: float = 1  # range; a float as ``least`` allows any number
    most: float = math.inf
    required: bool = False
    several: bool = False  # it may be given several times
    needs: str = ""  # an option, ``--text``, or values of one, ``--method a, b``; without it, not read
    writes: str | None = None  # an output, as ``-o`` always is, which may replace these inputs
    former: str | None = None  # an old name, not shown
    dest: str | None = None  # name in the namespace
    hidden: bool = False
    alone: bool = False  # with it, arguments are not required
    instead: bool = False  # an alternative to the option before it

    def add_to(self, container: Any) -> argparse.Action:
        words = [word.removesuffix(",") for word in re.sub(r"^\[(.*)]$", r"\1", self.written).split()]
        names, value = [word for word in words if word[0] == "-"], [word for word in words if word[0] != "-"]
        more: dict[str, Any] = {"choices": list(self.choices)} if self.choices else {}
        help, default = self.help, self.default
        if value:
            single = len({*value, "..."}) <= 2
            more["metavar"] = re.sub(r"^\[(\w*)]$", r"\1", value[0]) if single else tuple(value)
            more["type"] = self._type(value[0])
        elif more and isinstance(more["choices"][0], int):
            more["type"] = number(least=1, whole=True)
        if not names and self.written.endswith("]"):
            more["nargs"] = "*" if value[1:] else "?"
        elif value[1:]:
            more["nargs"] = "+" if value[1] == "..." else len(value)
        elif value and value[0] != more["metavar"]:
            more |= {"nargs": "?", "const": more["choices"][0]}
        if self.several or self.alone:
            more["action"] = "append" if self.several else _Alone
        elif not value and not self.choices:
            more["action"] = "store_true"
        if self.several or "..." in value:
            more["default"] = []
        elif default is not None:
            more["default"] = default
        if default == "-":
            help = f"{help} (default: standard {'output' if names else 'input'})"
        elif value and isinstance(default, int | float):
            help = f"{help} (default: {default:g})"
        if names:
            more |= {"required": self.required} | ({"dest": self.dest} if self.dest else {})
        shown = argparse.SUPPRESS if self.hidden else help
        action = container.add_argument(*(names or [self.dest or value[0].lower()]), help=shown, **more)
        if self.writes is not None or "-o" in names:
            action.writes = self.writes or ""
        if self.former:
            container._option_string_actions[self.former] = action
        return action

    def _type(self, value: str) -> Callable[[str], Any] | None:
        if value == "P":
            return number(least=0.0, most=1.0)
        if isinstance(self.least, float):
            return number(least=self.least, most=self.most)
        if value in ("N", "K", "PIXELS"):
            return number(least=self.least, most=self.most, whole=True)
        return column_names if value == "NAME,..." else None


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of the options after it; ``needs``: as of each of them."""

    title: str
    about: str | None = None
    needs: str = ""


def add_options(
    parser: argparse.ArgumentParser, options: Iterable[Option | Heading | Callable[[], Iterable[Option]]]
) -> None:
    """Add options, some of them by functions that are called now, to a parser."""
    group: Any = parser
    either: Any = None
    before: Any = None
    of_group = ""
    for option in chain.from_iterable(one() if callable(one) else [one] for one in options):
        if isinstance(option, Heading):
            group, of_group = parser.add_argument_group(option.title, option.about), option.needs
            continue
        if not option.instead:
            either = None
        elif either is None:
            either = group.add_mutually_exclusive_group(required=before.required)
            either._group_actions.append(before)
            before.required = False
        before = option.add_to(either or group)
        for condition in filter(None, (option.needs, of_group)):
            only_with(parser, condition, before.dest)


class _Alone(argparse.Action):
    """Stores a value and makes the arguments without a name optional."""

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: Any, *_: Any
    ) -> None:
        setattr(options, self.dest, value)
        for action in parser._actions:
            if not action.option_strings:
                action.required = False


def of_fields(
    usual: object, *names: str, by_way: Mapping[str, str] = MappingProxyType({}), needs: str = ""
) -> Iterable[Option]:
    """Yield the options of fields of a dataclass: ``--max-sentences`` for ``max_sentences``.

    Range and help are taken from the field (:mod:`qsproj.models.spec`), the default from ``usual``.
    ``by_way``: fields that default to None, with the text of their default in the help.
    """
    from qsproj.models.spec import specs_of

    for field in names:
        spec, value = specs_of(type(usual))[field], getattr(usual, field)
        span = "" if math.isinf(spec.most) else f", {spec.least:,.9g} to {spec.most:,.9g}"
        metavar, more = "X", dict[str, Any](least=float(spec.least), most=spec.most)
        if isinstance(value, str):
            metavar, more = "NAME", {"choices": spec.known[1]} if spec.known else {}
        elif isinstance(value, int) or isinstance(spec.least, int):
            metavar, more = "N", {"least": int(spec.least)}
        if field not in by_way:
            more["default"] = value
        name, help = field.replace("_", "-"), f"{spec.help}{span} {by_way.get(field, '')}".strip()
        yield Option(f"--{name} {spec.metavar or metavar}", help, needs=needs, **more)


def number(*, least: float, most: float = math.inf, whole: bool = False) -> Callable[[str], Any]:
    """Return a function that reads a number in this range; a whole one has 18 digits at most, for numpy."""
    bounds = f"{least:g} or more" if math.isinf(most) else f"from {least:g} to {most:g}"
    expected = f"a whole number, {bounds}" if whole else f"a number, {bounds}"

    def read(text: str) -> float:
        with suppress(ValueError):
            value = float(text) if not whole else int(text) if re.fullmatch(r"-?\d{1,18}", text) else math.nan
            if math.isfinite(value) and least <= value <= most:
                return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}")

    return read


def column_names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in text.split(","))
    for name in names:
        if name not in COLUMNS:
            raise argparse.ArgumentTypeError(f"found {name!r}, expected some of {', '.join(COLUMNS)}")
    return names


def only_with(parser: argparse.ArgumentParser, condition: str, *names: str) -> None:
    """Declare that options are read as by ``needs`` of :class:`Option`."""
    flag, _, among = condition.partition(" ")

    def holds(options: argparse.Namespace) -> bool:
        value = getattr(options, parser._option_string_actions[flag].dest)
        return str(value) in among.split(", ") if among else value not in (None, False, [])

    only_where(parser, condition, holds, *names)


def only_where(
    parser: argparse.ArgumentParser, text: str, holds: Callable[[argparse.Namespace], bool], *names: str
) -> None:
    """Declare that the named options are read only where ``holds``; ``text`` says so in messages."""
    for action in parser._actions:
        if action.dest in names:
            before: Sequence[Any] = getattr(action, "conditions", ())
            action.conditions = (*before, (text, holds))  # type: ignore[attr-defined]


def check_conditions(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Raise UsageError for the first given option that is not read; list all in ``options.unread``."""
    options.unread = []
    for action in parser._actions:
        unmet = [text for text, holds in getattr(action, "conditions", ()) if not holds(options)]
        if not unmet:
            continue
        options.unread.append(action.dest)
        if (given := getattr(options, action.dest)) != action.default:
            written = action.option_strings[-1:] or ([given] if isinstance(given, str) else given)
            raise UsageError(f"{' '.join(written)} belongs to {unmet[0]}; leave it out")
