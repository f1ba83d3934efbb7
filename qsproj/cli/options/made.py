"""What a model file says of how it was made: command, version, options, names of inputs and counts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from qsproj import __version__

# Options that do not change a model, whatever the command: who computes, and what else is written.
_WITHOUT_EFFECT = frozenset(
    {
        *(
            "run",
            "read_by_some",
            "unread",
            "command",
            "output",
            "jobs",
            "backend",
            "scheduler",
            "checkpoint",
            "resume",
            "trees",
        ),
        *("work", "clean", "report", "save_model"),
    }
)
_COMPRESSED = (".gz", ".xz")


def made_by(options: argparse.Namespace, **facts: Any) -> dict[str, Any]:
    """Return the record of a model made by a command with these options.

    The same command on files of the same names and content gives the same record, wherever it runs: of a path
    only the name is kept, without ``.gz`` or ``.xz``; there is no date.

    Parameters
    ----------
    options : argparse.Namespace
        As parsed; those that are unset are left out, and those that do not change the model, as what the way
        in which the command was used does not read (:func:`qsproj.cli.options.ways.refuse_unread`).
    **facts
        What else is known: counts of sentences, accuracy.
    """
    without_effect = _WITHOUT_EFFECT.union(getattr(options, "unread", ()))
    kept = {
        name: _plain(value)
        for name, value in sorted(vars(options).items())
        if name not in without_effect and value not in (None, False, [])
    }
    return {"command": options.command, "version": __version__, "options": kept, **facts}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str) and ("/" in value or "\\" in value or value.endswith(_COMPRESSED)):
        path = Path(value)
        return path.stem if path.suffix in _COMPRESSED else path.name
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
