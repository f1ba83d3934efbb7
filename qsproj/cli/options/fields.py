"""Options that set fields of a dataclass of options, as the dataclass tells of them (``models.spec``).

An option is called as the field that it sets, ``--max-sentences`` for ``max_sentences``.
"""

from __future__ import annotations

import argparse
from typing import Any

from qsproj.cli.options.common import add_number, add_whole_number
from qsproj.models.spec import told_of


def add_fields(group: argparse._ActionsContainer, usual: object, *names: str) -> None:
    """Add an option for each named field of a dataclass; ``usual`` is what it is where none is given."""
    known = told_of(type(usual))
    for field in names:
        told, name, default = known[field], f"--{field.replace('_', '-')}", getattr(usual, field)
        if isinstance(default, int):
            metavar = told.metavar or "N"
            add_whole_number(
                group, name, least=int(told.least), default=default, metavar=metavar, help=told.help
            )
        else:
            bounds = {"least": told.least, "most": told.most}
            metavar = told.metavar or "X"
            add_number(group, name, **bounds, default=default, metavar=metavar, help=told.help)


def values_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return what was given for each field, by its name: keyword arguments of the dataclass."""
    return {name: getattr(options, name) for name in names}
