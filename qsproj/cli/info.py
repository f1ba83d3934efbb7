"""Tell what a model is, what it was made from, and what it can do.

How it was made is the command, its options, the names of its inputs (not their folders) and counts.
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qsproj.corpus.files import open_output
from qsproj.models.storage import KINDS, described, model_from, opened_model

EXAMPLES = """examples:
  qsproj info de.model
  qsproj info de.model --json
"""

# Lists of more than so many names are counted and cut.
_SHOWN = 20
# What a name alone does not say.
_EXPLAINED = {
    "languages": "languages that the text may be in, with the share of its words that are common in each"
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model that qsproj wrote")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(options: argparse.Namespace) -> None:
    info = model_info(options.model)
    text = json.dumps(info, ensure_ascii=False, indent=2) if options.json else "\n".join(_lines(info))
    with open_output(None) as handle:
        handle.write(text + "\n")


def _lines(info: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Lay out one fact a line, those of a part further in."""
    width = max(len(name) for name in info) + 1
    for name, value in info.items():
        label = _EXPLAINED.get(name, name.replace("_", " "))
        if isinstance(value, Mapping) and value:
            yield f"{indent}{label}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{label + ':':<{width}} {_shown(value)}"


def _shown(value: Any) -> str:
    if value is None or value in ({}, []):
        return "not told" if value != [] else "none"
    if isinstance(value, list):
        more = f", ... ({len(value)})" if len(value) > _SHOWN else ""
        return ", ".join(map(_shown, value[:_SHOWN])) + more
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def model_info(path: str | Path) -> dict[str, Any]:
    """Return what is known of a model, as JSON; the rest of it depends on the kind (``Stored.described``).

    ``kind``, ``what`` and ``use``; ``bytes`` of the file and ``numbers`` in it; ``made``, how it was made,
    empty where the file does not say. Of a model with parts each part is a mapping of its own.
    """
    what, use, told = "model of a kind that this version does not know", "", dict[str, Any]()
    with opened_model(path) as file:
        if file.kind in KINDS:
            model_from(file.kind, file.header, file.arrays)
            (_, _, what, use), told = KINDS[file.kind], described(file.kind, file.header)
        numbers = sum(math.prod(file.arrays.declared(name)[0]) for name in file.arrays)
    size = {"bytes": Path(path).stat().st_size, "numbers": numbers}
    return {"kind": file.kind, "what": what, "use": use} | size | told | {"made": file.made}
