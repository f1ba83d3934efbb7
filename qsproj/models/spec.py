"""Option fields, declared once: default, range, help text, and form in a model file.

A dataclass of options declares its fields by :func:`option_field`, for the options of commands
(:mod:`qsproj.cli.options.declare`), for values from Python (:func:`check`), model files (:func:`restored`).
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

from qsproj.errors import UsageError, check_name
from qsproj.models.schema import Check, checked, flag, names, number, optional, text, whole

Options = TypeVar("Options")
_SPEC = "spec"
# For a field without a range: values that a header may hold in place of its default.
_LIKE: dict[type, Check] = {bool: flag, int: whole(0, 1 << 31), float: number(), str: text}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """Properties of an option field."""

    help: str = ""  # text for ``--help``, without the default
    least: float = -math.inf  # the range of a number
    most: float = math.inf
    within: bool = False  # whether the bounds themselves are out of range
    expected: str = ""  # the range in messages, where not from the bounds
    known: tuple[str, Collection[str]] | None = None  # noun for a name or names, and the known ones
    metavar: str | None = None  # as in ``--help``

    def check(self, name: str, value: Any) -> None:
        if value is None:
            return
        if self.known is not None:
            kind, known = self.known
            for one in value if isinstance(value, tuple | list) else (value,):
                check_name(kind, one, known)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            inside = self.least < value < self.most if self.within else self.least <= value <= self.most
            if not inside:
                raise UsageError(f"{name} is {value}, expected {self.expected or self._range()}")

    def _range(self) -> str:
        if self.within:
            return f"a probability between {self.least:g} and {self.most:g}"
        bounds = (("at least", self.least), ("at most", self.most))
        return " and ".join(f"{how} {bound:g}" for how, bound in bounds if math.isfinite(bound)) or "a number"


def option_field(default: Any, **what: Any) -> Any:
    """Return a dataclass field with its default and its properties, the fields of :class:`FieldSpec`."""
    return field(default=default, metadata={_SPEC: FieldSpec(**what)})


def specs_of(kind: type) -> dict[str, FieldSpec]:
    return {one.name: one.metadata.get(_SPEC, FieldSpec()) for one in fields(kind)}


def check(options: Any) -> None:
    for name, what in specs_of(type(options)).items():
        what.check(name, getattr(options, name))


class CheckedOptions:
    """A dataclass of options that are within their ranges. Abstract."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check(self)


def restored(
    usual: Options, header: Any, *, among_others: bool = False, former: Collection[str] = ()
) -> Options:
    """Rebuild options from a header; ``usual``: values for fields that it lacks, as older ones do.

    ``among_others``: the header has other fields, too. ``former``: options of older builds, which are left
    out. Raises ValueError for an unknown option or a bad value.
    """
    checked(header, {})
    known = specs_of(type(usual))
    values: dict[str, Any] = {}
    for name, value in header.items():
        if name not in known and not among_others and name not in former:
            raise ValueError(f"unknown option {name!r} in the header")
        if name not in known or (among_others and value is None):
            continue
        default = getattr(usual, name)
        if is_dataclass(default):
            values[name] = restored(default, value)
        elif isinstance(default, tuple) or (default is None and math.isinf(known[name].least)):
            checked(header, {name: optional(names)})
            values[name] = None if value is None else tuple(value)
        else:
            checked(header, {name: _check_of(known[name], default)})
            values[name] = value
    return type(usual)(**({name: getattr(usual, name) for name in known} | values))


def _check_of(what: FieldSpec, default: Any) -> Check:
    if default is None:
        return optional(number(what.least, what.most))
    if math.isinf(what.least) or isinstance(default, int) or what.within:
        # Integer and open ranges are checked when the options are made, like those of users.
        return _LIKE[type(default)]
    return number(what.least, what.most)
