"""Options of a command, declared by a text that reads like its help.

A line is an option, ``-o, --output FILE``, or an argument, ``FILE ...`` or ``[FILE]``, then two spaces and
its help; indented lines continue it. ``# links: about them`` begins a group, ``| --to STYLE`` is an
alternative to the line above. N, K and PIXELS are whole numbers, P is a probability, NAME,... are columns.
The help is completed by a default that is a number, or ``-``, the standard input or output. Notes end a line:

- ``[required]``, ``[default: X]``, ``[choices: a b]``, ``[several]``: it may be given several times
- ``[least: 1]``, ``[most: 5]``: its range; any number is read if the least has a point
- ``[with: --text]``: it, or its group, is read only if --text is given; ``[with: --method a, b]``: with these
  values of --method
- ``[writes: input]``: it is an output, as ``-o`` always is, and may replace these inputs
- ``[former: --old]``: an old name, not shown; ``[dest: name]``: its name in the namespace
- ``[hidden]``: not in the help; ``[alone]``: with it, arguments are not required
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from qsproj.errors import UsageError

COLUMNS = ("upos", "xpos", "feats", "lemma")
_NOTE = re.compile(
    r" \[(alone|choices|default|dest|former|hidden|least|most|required|several|with|writes)(?:: ([^]]*))?]$"
)


def add_options(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the options of a text to a parser."""
    group: Any = parser
    either: Any = None
    before: Any = None
    of_group = list[str]()
    for line in filter(None, re.sub(r"\n +", " ", text).split("\n")):
        notes, conditions = dict[str, str](), list[str]()
        while found := _NOTE.search(line):
            line = line[: found.start()]
            if found[1] == "with":
                conditions.insert(0, found[2])
            else:
                notes[found[1]] = found[2] or ""
        if line.startswith("# "):
            title, _, about = line[2:].partition(": ")
            group, of_group = parser.add_argument_group(title, about or None), conditions
            continue
        written, _, help = line.removeprefix("| ").partition("  ")
        if not line.startswith("| "):
            either = None
        elif either is None:
            either = group.add_mutually_exclusive_group(required=before.required)
            either._group_actions.append(before)
            before.required = False
        before = _add_option(either or group, written, help, notes)
        for condition in (*conditions, *of_group):
            only_with(parser, condition, before.dest)


def _add_option(container: Any, written: str, help: str, notes: Mapping[str, str]) -> argparse.Action:
    words = [word.removesuffix(",") for word in re.sub(r"^\[(.*)]$", r"\1", written).split()]
    names, value = [word for word in words if word[0] == "-"], [word for word in words if word[0] != "-"]
    more: dict[str, Any] = {"choices": notes["choices"].split()} if "choices" in notes else {}
    if value:
        more["metavar"] = (
            re.sub(r"^\[(\w*)]$", r"\1", value[0]) if len({*value, "..."}) <= 2 else tuple(value)
        )
        more["type"] = _type_of(value[0], notes)
    elif more and more["choices"][0].isdecimal():
        more |= {"choices": list(map(int, more["choices"])), "type": number(least=1, whole=True)}
    if not names and written.endswith("]"):
        more["nargs"] = "*" if value[1:] else "?"
    elif value[1:]:
        more["nargs"] = "+" if value[1] == "..." else len(value)
    elif value and value[0] != more["metavar"]:
        more |= {"nargs": "?", "const": more["choices"][0]}
    if "several" in notes or "..." in value:
        more["default"] = []
    if "several" in notes or "alone" in notes:
        more["action"] = "append" if "several" in notes else _Alone
    elif not value and "choices" not in more:
        more["action"] = "store_true"
    if "default" in notes:
        default = more["default"] = notes["default"]
        if default == "-":
            help = f"{help} (default: standard {'output' if names else 'input'})"
        elif more.get("type") is not None:
            more["default"] = int(default) if default.isdecimal() else float(default)
            help = f"{help} (default: {more['default']:g})" if value else help
    if names:
        more |= {"required": "required" in notes} | ({"dest": notes["dest"]} if "dest" in notes else {})
    shown = argparse.SUPPRESS if "hidden" in notes else help
    action = container.add_argument(*(names or [notes.get("dest", value[0].lower())]), help=shown, **more)
    if "writes" in notes or "-o" in names:
        action.writes = notes.get("writes", "")
    if "former" in notes:
        container._option_string_actions[notes["former"]] = action
    return action


def _type_of(value: str, notes: Mapping[str, str]) -> Callable[[str], Any] | None:
    least, most = notes.get("least", "1"), float(notes.get("most", "inf"))
    if value == "P":
        return number(least=0.0, most=1.0)
    if not least.removeprefix("-").isdecimal():
        return number(least=float(least), most=most)
    if value in ("N", "K", "PIXELS"):
        return number(least=int(least), most=most, whole=True)
    return column_names if value == "NAME,..." else None


class _Alone(argparse.Action):
    """Stores a value and makes the arguments without a name optional."""

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, value: Any, *_: Any
    ) -> None:
        setattr(options, self.dest, value)
        for action in parser._actions:
            if not action.option_strings:
                action.required = False


def of_fields(usual: object, *names: str, by_way: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the options of fields of a dataclass as a text: ``--max-sentences`` for ``max_sentences``.

    Range and help are taken from the field (:mod:`qsproj.models.spec`), the default from ``usual``.
    ``by_way``: fields that default to None, with the text of their default in the help.
    """
    from qsproj.models.spec import specs_of

    lines = []
    for field in names:
        spec, default = specs_of(type(usual))[field], getattr(usual, field)
        span = "" if math.isinf(spec.most) else f", {spec.least:,.9g} to {spec.most:,.9g}"
        value, notes = "X", f" [least: {float(spec.least)}] [most: {spec.most}]"
        if isinstance(default, str):
            value, notes = "NAME", f" [choices: {' '.join(spec.known[1])}]" if spec.known else ""
        elif isinstance(default, int) or isinstance(spec.least, int):
            value, notes = "N", f" [least: {spec.least}]"
        if default is not None and field not in by_way:
            notes += f" [default: {default}]"
        name, help = field.replace("_", "-"), f"{spec.help}{span} {by_way.get(field, '')}".strip()
        lines.append(f"--{name} {spec.metavar or value}  {help}{notes}")
    return "\n".join(lines)


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
    """Declare that options are read as by the note ``[with: condition]``."""
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
        if getattr(options, action.dest) != action.default:
            written = action.option_strings[-1] if action.option_strings else action.metavar
            raise UsageError(f"{written} belongs to {unmet[0]}; leave it out")
