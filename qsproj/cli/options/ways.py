"""Which options belong to which way of using a command: a table, and one refusal for all commands.

A command that can be used in several ways has a table of them. Its keys are what users write to ask for a way
(``--method qg``), its values the options that this way reads and not all others do.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence

from qsproj.errors import UsageError

Ways = Mapping[str, Collection[str]]


def declare_ways(parser: argparse.ArgumentParser, ways: Ways) -> None:
    """Note, of each option in the table, how it is written and what it is unless given.

    Called when the parser has all its options; the table names them as ``argparse`` does.
    """
    named = {name for reads in ways.values() for name in reads}
    written = {action.dest: _written(action) for action in parser._actions if action.dest in named}
    parser.set_defaults(
        read_by_some={name: (written[name], parser.get_default(name)) for name in sorted(named)}
    )


def _written(action: argparse.Action) -> str:
    """Return an option as users write it, or the name that help gives an argument."""
    return action.option_strings[-1] if action.option_strings else str(action.metavar)


def refuse_unread(options: argparse.Namespace, ways: Ways, chosen: str) -> None:
    """Check that the way that was chosen reads every option that was given.

    Who gives an option its default changes nothing, and may.

    Raises
    ------
    UsageError
        For the first option that goes unread; it names the ways that read it.
    """
    for name, (written, default) in options.read_by_some.items():
        if name not in ways[chosen] and getattr(options, name) != default:
            readers = [way for way, reads in ways.items() if name in reads]
            raise UsageError(f"{written} belongs to {_listed(readers)}; leave it out with {chosen}")


def _listed(ways: Sequence[str]) -> str:
    """List ways; values of one option, ``--method hard, qg``, by its name and theirs."""
    options = {way.partition(" ")[0] for way in ways}
    if len(options) > 1:
        return ", ".join(ways)
    return f"{options.pop()} {', '.join(way.partition(' ')[2] for way in ways)}".rstrip()
