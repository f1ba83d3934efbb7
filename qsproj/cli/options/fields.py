"""Options for fields of a dataclass: ``--max-sentences`` for ``max_sentences``.

Default, range and help are taken from the field (:mod:`qsproj.models.spec`).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from qsproj.cli.options.numbers import number, whole_number
from qsproj.models.spec import specs_of


def add_fields(
    group: argparse._ActionsContainer,
    usual: object,
    *names: str,
    by_way: Mapping[str, str] = MappingProxyType({}),
) -> list[argparse.Action]:
    """Add an option for each named field of a dataclass; ``usual`` holds the defaults.

    ``by_way``: fields that default to None, with the text of their default in the help.
    """
    return [_add_field(group, usual, name, default_of=by_way.get(name)) for name in names]


def _add_field(
    group: argparse._ActionsContainer, usual: object, field: str, *, default_of: str | None
) -> argparse.Action:
    field_spec, default = specs_of(type(usual))[field], getattr(usual, field)
    name, shown = f"--{field.replace('_', '-')}", default if default_of is None else None
    help = f"{field_spec.help} {default_of or ''}".strip()
    if isinstance(default, str):
        return group.add_argument(name, default=shown, metavar=field_spec.metavar or "NAME", help=help)
    whole = isinstance(default, int) or isinstance(field_spec.least, int)
    read = (
        whole_number(least=int(field_spec.least))
        if whole
        else number(least=field_spec.least, most=field_spec.most)
    )
    if shown is not None:
        help = f"{help} (default: {shown:g})"
    metavar = field_spec.metavar or ("N" if whole else "X")
    return group.add_argument(name, type=read, default=shown, metavar=metavar, help=help)


def values_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the values of fields by name, as keyword arguments of the dataclass."""
    return {name: getattr(options, name) for name in names}
