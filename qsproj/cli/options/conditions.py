"""Conditions on options that need another option, declared beside them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass

from qsproj.errors import UsageError


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
    """Declare that options, or the present options of groups, are read only under a condition."""
    for one in declared:
        for action in one._group_actions if isinstance(one, argparse._ArgumentGroup) else [one]:
            before = getattr(action, "conditions", ())
            action.conditions = (*before, Condition(text, holds))  # type: ignore[attr-defined]


def check_conditions(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Raise UsageError for the first given option that is not read; passing a default is allowed.

    Set ``options.unread`` to all options that are not read, for
    :func:`qsproj.cli.options.provenance.made_by`.
    """
    options.unread = []
    for action in parser._actions:
        unmet = [one for one in getattr(action, "conditions", ()) if not one.holds(options)]
        if not unmet:
            continue
        options.unread.append(action.dest)
        if getattr(options, action.dest) != action.default:
            written = action.option_strings[-1] if action.option_strings else action.metavar
            raise UsageError(f"{written} belongs to {unmet[0].text}; leave it out")
