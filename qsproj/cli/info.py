"""Show the type, provenance and capabilities of a model.

Provenance is the command with its options, the names of its input files (without folders) and counts.
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qsproj.cli.command_parser import print_lines
from qsproj.cli.options.declare import Option
from qsproj.models.storage import KINDS, described, model_from, opened_model

OPTIONS = (Option("MODEL", "a model written by qsproj"), Option("--json", "print JSON instead of text"))
EXAMPLES = """examples:
  qsproj info de.model
  qsproj info de.model --json
"""

_SHOWN = 20  # elements of a longer list
# Labels of mappings whose names need an explanation.
_EXPLAINED = {
    "languages": "languages that the text may be in, with the share of its words that are common in each"
}


def run(options: argparse.Namespace) -> None:
    info = model_info(options.model)
    text = json.dumps(info, ensure_ascii=False, indent=2) if options.json else "\n".join(lines_of(info))
    print_lines([text])


def lines_of(info: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    width = max(len(name) for name in info) + 1
    for name, value in info.items():
        label = name.replace("_", " ")
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_EXPLAINED.get(name, label)}:"
            yield from lines_of(value, indent + "  ")
        else:
            yield f"{indent}{label + ':':<{width}} {_shown(value)}"


def _shown(value: Any) -> str:
    if value is None or value in ({}, []):
        return "unknown" if value != [] else "none"
    if isinstance(value, list):
        more = f", ... ({len(value)})" if len(value) > _SHOWN else ""
        return ", ".join(map(_shown, value[:_SHOWN])) + more
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def model_info(path: str | Path) -> dict[str, Any]:
    what, use, facts = "model of a kind that this version does not know", "", dict[str, Any]()
    with opened_model(path) as file:
        if file.kind in KINDS:
            model_from(file.kind, file.header, file.arrays)
            (_, _, what, use), facts = KINDS[file.kind], described(file.kind, file.header)
        numbers = sum(math.prod(file.arrays.declared(name)[0]) for name in file.arrays)
    size = {"bytes": Path(path).stat().st_size, "numbers": numbers}
    return {"kind": file.kind, "what": what, "use": use} | size | facts | {"made": file.made}
