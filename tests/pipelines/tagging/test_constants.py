"""The table of constants in the notes: each with its value in the code, and none left out."""

from __future__ import annotations

import ast
import dataclasses
import pkgutil
import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import qsproj.pipelines.tagging
from qsproj.pipelines.tagging.options import TagProjectionOptions

PACKAGE = qsproj.pipelines.tagging
MODULES = [module.name for module in pkgutil.iter_modules(PACKAGE.__path__)]
OPTIONS = {TagProjectionOptions.__name__: TagProjectionOptions()}
NOTE = Path("docs/notes/tags-through-links.md")
ROW = re.compile(r"^\| `([\w.]+)` \| ([\d.]+) \|", re.MULTILINE)
# Words of the report; values of the supervised tagger.
OTHERS = {"tags_through_links.NAMED", "source_features.NO_LINK"}
OF_TAGGER = {"classes", "raw_sentences", "feature_sentences", "tuning"}


def in_note():
    return {name: float(value) for name, value in ROW.findall(NOTE.read_text(encoding="utf-8"))}


def numbers_of_modules():
    """Yield the names of constants that are numbers, from the text of the modules."""
    for module in MODULES:
        for node in ast.parse(Path(PACKAGE.__path__[0], f"{module}.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign):
                target, value = node.targets[0], node.value
                several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                for name, one in zip(target.elts, value.elts) if several else [(target, value)]:
                    if isinstance(one, ast.UnaryOp | ast.Constant):
                        found = ast.literal_eval(one)
                        if isinstance(found, int | float):
                            yield f"{module}.{name.id}"


def numbers_of_options():
    for name, options in OPTIONS.items():
        for field in dataclasses.fields(options):
            value = getattr(options, field.name)
            if field.name == "training":
                yield from (f"{name}.training.{one.name}" for one in dataclasses.fields(value))
            elif isinstance(value, int | float) and field.name not in OF_TAGGER:
                yield f"{name}.{field.name}"


def test_the_note_has_the_value_of_each_constant():
    for name, value in in_note().items():
        first, *rest = name.split(".")
        holder = OPTIONS.get(first) or import_module(f"{PACKAGE.__name__}.{first}")
        assert float(reduce(getattr, rest, holder)) == value, name


def test_the_note_leaves_no_constant_out():
    assert in_note().keys() == {*numbers_of_modules(), *numbers_of_options()} - OTHERS


def test_constants_stay_half_of_those_at_first():
    """There were 102; a new one has to replace another."""
    assert len(in_note()) <= 51
