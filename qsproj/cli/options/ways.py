"""Options that only some ways to use a command read: a table, and one refusal for all commands.

A command that can be used in several ways has a table of them. Its keys are what users write to ask for a way
(``--method qg``), its values the options that this way reads and not all others do.
"""

import argparse
from collections.abc import Collection, Mapping, Sequence

from qsproj.errors import UsageError

Ways = Mapping[str, Collection[str]]


def declare_ways(parser: argparse.ArgumentParser, *tables: Ways) -> None:
    """Note how each option in the tables is written, and its default; the parser has all its options."""
    named = sorted({name for ways in tables for reads in ways.values() for name in reads})
    written = {action.dest: _written(action) for action in parser._actions if action.dest in named}
    parser.set_defaults(read_by_some={name: (written[name], parser.get_default(name)) for name in named})


def _written(action: argparse.Action) -> str:
    """Return an option as users write it, or the name that help gives an argument."""
    return action.option_strings[-1] if action.option_strings else str(action.metavar)


def refuse_unread(options: argparse.Namespace, ways: Ways, chosen: str | None) -> None:
    """Raise UsageError for the first option that the chosen way does not read; it names the ways that do.

    Who gives an option its default changes nothing, and may. What is not read is added to ``options.unread``.
    ``chosen``: a key of ``ways``; None: none of these ways was asked for.
    """
    read = ways[chosen] if chosen is not None else ()
    unread = sorted({name for reads in ways.values() for name in reads}.difference(read))
    options.unread = [*getattr(options, "unread", ()), *unread]
    for name in unread:
        written, default = options.read_by_some[name]
        if getattr(options, name) != default:
            readers = _listed([way for way, reads in ways.items() if name in reads])
            here = "" if chosen is None else f" with {chosen}"
            raise UsageError(f"{written} belongs to {readers}; leave it out{here}")


def _listed(ways: Sequence[str]) -> str:
    """List ways; values of one option, ``--method hard, qg``, by its name and theirs."""
    options = {way.partition(" ")[0] for way in ways}
    if len(options) > 1:
        return ", ".join(ways)
    return f"{options.pop()} {', '.join(way.partition(' ')[2] for way in ways)}".rstrip()
