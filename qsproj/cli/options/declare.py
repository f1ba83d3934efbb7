"""Declaration of options: as the help shows them, from fields of a dataclass, and under a condition."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from qsproj.errors import UsageError

# Maximum that numpy converts; Python also rejects thousands of digits.
_MOST_DIGITS = 18
COLUMNS = ("upos", "xpos", "feats", "lemma")


class Options(argparse._ActionsContainer):
    """A parser or a group of options, which are written as in the help."""

    def option(
        self,
        written: str,
        help: str,
        *,
        least: int | float = 1,
        most: int | float | None = None,
        former: str | None = None,
        writes: str | None = None,
        **more: Any,
    ) -> argparse.Action:
        """Add an option, written as in the help: ``-o, --output FILE``, ``--text FILE ...``, ``--weights``.

        Arguments without a name are written ``FILE ...``, or ``[FILE]`` where they may be left out. The help
        ends with a default that is a number, or ``-``, the standard input or output. N, K and PIXELS are
        whole numbers of at least ``least``, P is a probability, any value with a float as ``least`` a number.
        ``former``: an old name, still accepted; help and messages show the present one. ``writes``: it is an
        output, as always for ``-o``, and may replace those of the named options, if any. ``more``: as for
        ``add_argument``.
        """
        words = [word.removesuffix(",") for word in re.sub(r"^\[(.*)]$", r"\1", written).split()]
        names, value = [word for word in words if word[0] == "-"], [word for word in words if word[0] != "-"]
        if value:
            more.setdefault("metavar", value[0])
        elif not {"choices", "metavar", "nargs"} & more.keys():
            more.setdefault("action", "store_true")
        if not names and written.endswith("]"):
            more["nargs"] = "*" if value[1:] else "?"
        elif value[1:] == ["..."]:
            more["nargs"] = "+"
        default = more.get("default")
        if default == "-":
            help = f"{help} (default: standard {'output' if names else 'input'})"
        elif value and isinstance(default, int | float):
            help = f"{help} (default: {default:g})"
        if value[1:] or more.get("action") == "append":
            more.setdefault("default", [])
        if value[:1] == ["P"]:
            more["type"] = number(least=0.0, most=1.0)
        elif isinstance(least, float):
            more["type"] = number(least=least, most=math.inf if most is None else most)
        elif value[:1] in (["N"], ["K"], ["PIXELS"]):
            more["type"] = whole_number(least=least, most=None if most is None else int(most))
        names = names or [more.pop("dest", value[0].lower())]
        action = self.add_argument(*names, help=help, **more)
        if writes is not None or "-o" in names:
            action.writes = writes or ""  # type: ignore[attr-defined]
        if former is not None:
            self._option_string_actions[former] = action
        return action

    def add_argument_group(self, *args: Any, **more: Any) -> OptionGroup:
        group = OptionGroup(self, *args, **more)
        self._action_groups.append(group)
        return group

    def add_mutually_exclusive_group(self, **more: Any) -> ExclusiveOptions:
        group = ExclusiveOptions(self, **more)
        self._mutually_exclusive_groups.append(group)
        return group


class OptionGroup(Options, argparse._ArgumentGroup):
    """A group of options with a heading."""


class ExclusiveOptions(Options, argparse._MutuallyExclusiveGroup):
    """Options of which one may be given."""


def add_fields(
    group: Options, usual: object, *names: str, by_way: Mapping[str, str] = MappingProxyType({})
) -> list[argparse.Action]:
    """Add an option for each named field of a dataclass: ``--max-sentences`` for ``max_sentences``.

    Range and help are taken from the field (:mod:`qsproj.models.spec`), the default from ``usual``.
    ``by_way``: fields that default to None, with the text of their default in the help.
    """
    from qsproj.models.spec import specs_of

    added = []
    for field in names:
        spec, usual_value = specs_of(type(usual))[field], getattr(usual, field)
        default = None if field in by_way else usual_value
        span = "" if math.isinf(spec.most) else f", {spec.least:,.9g} to {spec.most:,.9g}"
        name, help = f"--{field.replace('_', '-')}", f"{spec.help}{span} {by_way.get(field, '')}".strip()
        value, bounds = "X", dict[str, Any](least=float(spec.least), most=spec.most)
        if isinstance(usual_value, str):
            value, bounds = "NAME", {"choices": spec.known[1]} if spec.known else {}
        elif isinstance(usual_value, int) or isinstance(spec.least, int):
            value, bounds = "N", {"least": int(spec.least)}
        added.append(group.option(f"{name} {spec.metavar or value}", help, default=default, **bounds))
    return added


def values_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def whole_number(*, least: int, most: int | None = None) -> Callable[[str], int]:
    bounds = f"{least} or more" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if len(text) <= _MOST_DIGITS and text.removeprefix("-").isdecimal():
            value = int(text)
            if value >= least and (most is None or value <= most):
                return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, {bounds}")

    return read


def number(*, least: float, most: float = math.inf) -> Callable[[str], float]:
    bounds = f"{least:g} or more" if math.isinf(most) else f"from {least:g} to {most:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and least <= value <= most:
            return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number, {bounds}")

    return read


def column_names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in text.split(","))
    for name in names:
        if name not in COLUMNS:
            raise argparse.ArgumentTypeError(f"found {name!r}, expected some of {', '.join(COLUMNS)}")
    return names


@dataclass(frozen=True)
class Condition:
    """A condition under which an option is read: its text in messages and its test."""

    text: str
    holds: Callable[[argparse.Namespace], bool]


def only_with(
    option: str,
    *declared: argparse.Action | argparse._ArgumentGroup,
    among: Collection[object] = (),
    text: str = "",
) -> None:
    """Declare that options, or the present options of groups, need another option.

    ``option``: name of the other option in the namespace. ``among``: its required values. ``text``: the
    condition in messages, by default ``--option values``.
    """
    written = f"--{option.replace('_', '-')} {', '.join(map(str, among))}".strip()

    def holds(options: argparse.Namespace) -> bool:
        value = getattr(options, option)
        return value in among if among else value not in (None, False, [])

    only_where(text or written, holds, *declared)


def only_where(
    text: str,
    holds: Callable[[argparse.Namespace], bool],
    *declared: argparse.Action | argparse._ArgumentGroup,
) -> None:
    for one in declared:
        for action in one._group_actions if isinstance(one, argparse._ArgumentGroup) else [one]:
            before = getattr(action, "conditions", ())
            action.conditions = (*before, Condition(text, holds))  # type: ignore[attr-defined]


def check_conditions(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Raise UsageError for the first given option that is not read; list all in ``options.unread``."""
    options.unread = []
    for action in parser._actions:
        unmet = [one for one in getattr(action, "conditions", ()) if not one.holds(options)]
        if not unmet:
            continue
        options.unread.append(action.dest)
        if getattr(options, action.dest) != action.default:
            written = action.option_strings[-1] if action.option_strings else action.metavar
            raise UsageError(f"{written} belongs to {unmet[0].text}; leave it out")
