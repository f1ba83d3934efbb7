"""Options that set a number in a bundle of options: declared by a table, with the bundle's own defaults.

An option is called as the field that it sets, ``--max-sentences`` for ``max_sentences``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from qsproj.cli.options.common import add_number, add_whole_number


class Field(NamedTuple):
    """A row of a table: the field of a bundle, what its option is for, from what to what it may be set."""

    name: str
    help: str
    least: float
    most: float = math.inf
    metavar: str | None = None


def add_fields(group: argparse._ActionsContainer, fields: Sequence[Field], *, defaults: object) -> None:
    """Add an option for each field; ``defaults`` is the bundle as it is where none is given."""
    for field in fields:
        name, default = f"--{field.name.replace('_', '-')}", getattr(defaults, field.name)
        if isinstance(default, int):
            least, metavar = int(field.least), field.metavar or "N"
            add_whole_number(group, name, least=least, default=default, metavar=metavar, help=field.help)
        else:
            add_number(
                group,
                name,
                least=field.least,
                most=field.most,
                default=default,
                metavar=field.metavar or "X",
                help=field.help,
            )


def values_of(options: argparse.Namespace, fields: Sequence[Field]) -> dict[str, Any]:
    """Return what was given for each field, by its name: keyword arguments of the bundle."""
    return {field.name: getattr(options, field.name) for field in fields}
