"""Actions (subcommands) of a command: ``qsproj COMMAND ACTION``."""

from __future__ import annotations

import argparse
from typing import TypeAlias

from qsproj.cli.command_parser import CommandHelp

# Indent of continuation lines of an example.
CONTINUED = " " * 6

Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_action(actions: Actions, name: str, description: str, examples: str) -> argparse.ArgumentParser:
    return actions.add_parser(
        name,
        help=description.partition("\n")[0].rstrip("."),
        description=description,
        epilog=examples_of(examples, name),
        formatter_class=CommandHelp,
    )


def examples_of(examples: str, action: str) -> str:
    """Return the examples ``qsproj COMMAND ACTION ...`` of one action, with their continuation lines."""
    heading, *lines = examples.splitlines()
    kept, asked = [heading], False
    for line in lines:
        asked = asked if line.startswith(CONTINUED) else line.split()[2] == action
        kept += [line] if asked else []
    return "\n".join(kept)
