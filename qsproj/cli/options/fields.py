"""Options that set fields of a dataclass of options, as the dataclass tells of them (``models.spec``).

An option is called as the field that it sets, ``--max-sentences`` for ``max_sentences``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from qsproj.cli.options.common import add_number, add_whole_number
from qsproj.models.spec import told_of


def add_fields(
    group: argparse._ActionsContainer,
    usual: object,
    *names: str,
    by_way: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add an option for each named field of a dataclass; ``usual`` is what it is where nothing is given.

    ``by_way``: fields whose default depends on how the command is used, and what help says of it; they are
    None where they are not given.
    """
    known = told_of(type(usual))
    for field in names:
        told, default = known[field], getattr(usual, field)
        name, help_ = (
            f"--{field.replace('_', '-')}",
            " ".join((known[field].help, by_way.get(field, ""))).strip(),
        )
        shown = None if field in by_way else default
        if isinstance(default, str):
            group.add_argument(name, default=shown, metavar=told.metavar or "NAME", help=help_)
        elif isinstance(default, int):
            metavar = told.metavar or "N"
            add_whole_number(group, name, least=int(told.least), default=shown, metavar=metavar, help=help_)
        else:
            bounds = {"least": told.least, "most": told.most}
            add_number(group, name, **bounds, default=shown, metavar=told.metavar or "X", help=help_)


def values_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return what was given for each field, by its name: keyword arguments of the dataclass."""
    return {name: getattr(options, name) for name in names}
