"""The examples of one action of a command."""

from __future__ import annotations


def examples_of(examples: str, action: str) -> str:
    """Return those of a command's examples that name an action, each on one line, under the same heading.

    Parameters
    ----------
    examples : str
        A heading, then lines ``qsproj COMMAND ACTION ...``.
    action : str
    """
    heading, *lines = examples.splitlines()
    return "\n".join([heading, *(line for line in lines if line.split()[2] == action)])
