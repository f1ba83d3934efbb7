"""Every path and dotted name that pages on the code mention is there, and every option of docs/papers.md."""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import qsproj
from qsproj.cli.main import build_parser
from qsproj.models.storage import KINDS

CHECKOUT = Path(qsproj.__file__).parents[1]
PAGES = ("docs/architecture.md", "docs/papers.md", "CONTRIBUTING.md")


def mentioned(text):
    """Yield what stands in backticks and is a path of the checkout or a dotted name of the package."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for name in re.findall(r"`([^`]+)`", text):
        if re.fullmatch(r"\w[\w.]*(/[\w.-]+)+/?|qsproj(\.\w+)+", name):
            yield name


def names_in(body):
    """Return what a module or class defines, by name; values are the bodies of classes."""
    found = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = node.body
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = []
        elif isinstance(node, ast.Assign):
            targets = [one for target in node.targets for one in getattr(target, "elts", [target])]
            found |= {target.id: [] for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = []
    return found


@cache
def body_of(path):
    """Return the statements of a module."""
    return ast.parse(path.read_text(encoding="utf-8")).body


CLASSES_OF_MODELS = {kind.name for kind in KINDS.values()} | {"Parser", "Stored"}


def type_switches():
    """Yield where code outside of models asks of which class a model is."""
    for path in sorted((CHECKOUT / "qsproj").rglob("*.py")):
        if "models" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
                named = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                if named & CLASSES_OF_MODELS:
                    yield f"{path.relative_to(CHECKOUT)}:{node.lineno}"


def test_models_are_asked_by_their_contract():
    found = list(type_switches())
    assert len(found) <= 2, found


def is_there(name):
    if "/" in name:
        return (CHECKOUT / name).exists()
    place, parts = CHECKOUT, name.split(".")
    while parts and (place / parts[0]).is_dir():
        place /= parts.pop(0)
    if parts and (place / f"{parts[0]}.py").exists():
        body = body_of(place / f"{parts.pop(0)}.py")
        for part in parts:
            defined = names_in(body)
            if part not in defined:
                return False
            body = defined[part]
        return True
    return not parts


@pytest.mark.parametrize("page", PAGES)
def test_what_is_mentioned_is_there(page):
    names = set(mentioned((CHECKOUT / page).read_text(encoding="utf-8")))
    assert len(names) > 2
    assert sorted(name for name in names if not is_there(name)) == []


def unknown_to(command):
    """Return the words and options of a command, ``qsproj ...``, that the program does not know."""
    words = command.split()[1:]
    parser, unknown = build_parser(words[0]), []
    for word in words:
        actions = next((one for one in parser._actions if isinstance(one, argparse._SubParsersAction)), None)
        if actions and not word.startswith("-"):
            parser = actions.choices.get(word, parser)
            unknown += [word] if word not in actions.choices else []
        elif word.startswith("-") and word not in parser._option_string_actions:
            unknown.append(word)
    return unknown


def headings_of(page):
    """Return the anchors of a page's headings, as GitHub and the site name them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_what_the_papers_page_tells_to_type_and_to_read_is_there():
    page = CHECKOUT / "docs/papers.md"
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"`(qsproj [^`]+)`", text)
    links = [link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert min(len(commands), len(links)) > 50
    assert {command: unknown_to(command) for command in commands if unknown_to(command)} == {}
    assert [file for file, _, _ in links if not (page.parent / file).exists()] == []
    assert [name for file, _, name in links if name and name not in headings_of(page.parent / file)] == []


def test_what_is_not_there_is_seen():
    assert unknown_to("qsproj train --order 2 --factors grand") == []
    assert unknown_to("qsproj train --odrer 2 --factors grand") == ["--odrer"]
    assert unknown_to("qsproj styles detekt --jobs 2")[0] == "detekt"
    assert is_there("qsproj.bp.graph.FactorGroup.propagate")
    for name in (
        "qsproj/nothing.py",
        "qsproj.bp.graph.Nothing",
        "qsproj.bp.nothing",
        "qsproj.bp.graph.FactorGroup.no",
    ):
        assert not is_there(name), name


def test_every_room_is_on_the_page():
    page = (CHECKOUT / PAGES[0]).read_text(encoding="utf-8")
    rooms = [path.parent.name for path in (CHECKOUT / "qsproj").glob("*/__init__.py")]
    families = [path.parent.name for path in (CHECKOUT / "qsproj/models").glob("*/__init__.py")]
    assert [room for room in rooms if f"`qsproj/{room}`" not in page] == []
    assert [family for family in families if f"`{family}`" not in page] == []


def test_each_module_of_the_reference_is_there_and_once():
    """The site's reference names modules, which move; one that is named twice fails the site."""
    pages = sorted((CHECKOUT / "docs/site/reference").glob("*.md"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = re.findall(r"automodule:: ([\w.]+)", text)
    assert len(named) > 20
    assert sorted(name for name in named if not is_there(name)) == []
    assert sorted({name for name in named if named.count(name) > 1}) == []


def test_layers_on_the_page_are_those_that_are_checked():
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {one["name"]: one.get("layers") for one in settings["tool"]["importlinter"]["contracts"]}
    rooms, families, servers = (
        [re.sub(r"qsproj\.(models\.|serve\.)?", "", layer) for layer in contracts[name]]
        for name in ("Imports run downward", "Families of models", "Parts of the server")
    )
    rooms[rooms.index("models")] = "models:  " + "  ->  ".join(families)
    rooms[rooms.index("serve")] = "serve:   " + "  ->  ".join(servers)
    page = (CHECKOUT / PAGES[0]).read_text(encoding="utf-8")
    shown = page.partition("## Layers")[2].partition("```text\n")[2].partition("```")[0]
    assert shown.splitlines() == rooms
