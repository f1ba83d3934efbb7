"""The page of functions beside commands has each command, and functions and methods that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import qsproj
from qsproj.cli.main import COMMANDS
from qsproj.models.storage import KINDS, _class_of

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "functions.md"
ROWS = re.findall(r"^\| `qsproj ([\w-]+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_each_command_has_its_row_in_the_order_of_the_help():
    assert [command for command, _ in ROWS] == [command for command, _ in COMMANDS]


@pytest.mark.parametrize(("command", "said"), ROWS)
def test_functions_of_a_row_are_there(command, said):
    functions = re.findall(r"`qsproj\.(\w+)", said)
    methods = re.findall(r"`(?:model|biparser)\.(\w+)\(", said)
    assert functions or "command only" in said or "[the tour]" in said or "repr(model)" in said
    assert set(functions) <= set(qsproj.__all__)
    for method in methods:
        assert any(hasattr(_class_of(kind), method) for kind in KINDS), method


def test_every_public_function_that_does_a_job_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8") + (PAGE.parent / "python.md").read_text(encoding="utf-8")
    functions = [name for name in qsproj.__all__ if name[0].islower()]
    assert [name for name in functions if not re.search(rf"\b{name}\b", text)] == []
