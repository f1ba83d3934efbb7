"""The actions of a command that has several, each with its help and its examples."""

from __future__ import annotations

import argparse
from typing import TypeAlias

# What a line begins with that goes on with the example before.
CONTINUED = " " * 6

Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_action(actions: Actions, name: str, description: str, examples: str) -> argparse.ArgumentParser:
    """Add an action with its help, without options; ``examples`` are those of the command."""
    return actions.add_parser(
        name,
        help=description.partition("\n")[0].rstrip("."),
        description=description,
        epilog=examples_of(examples, name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def examples_of(examples: str, action: str) -> str:
    """Return those of a command's examples that name an action, under the same heading.

    An example is a line ``qsproj COMMAND ACTION ...``, which may go on in indented lines.
    """
    heading, *lines = examples.splitlines()
    kept, asked = [heading], False
    for line in lines:
        asked = asked if line.startswith(CONTINUED) else line.split()[2] == action
        kept += [line] if asked else []
    return "\n".join(kept)
