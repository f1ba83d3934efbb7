"""Rules for pages: how many there are, how long they are, what each guide begins and ends with."""

from __future__ import annotations

import argparse
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from qsproj.cli.main import COMMANDS, build_parser
from tests.documentation import unlisted_options

DOCS = Path("docs")
GUIDES = sorted((DOCS / "guides").glob("*.md"))
# Pages to look things up in; the others are read from the beginning.
TO_LOOK_UP = {"styles", "rest-api", "data", "python", "functions"}
ON_SITE = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "corpora", "docs"}
PAGES = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(DOCS.rglob("*.md"))]


def read(path):
    return path.read_text(encoding="utf-8")


def test_the_readme_is_short_and_its_table_is_that_of_the_results():
    readme = read(Path("README.md"))
    assert len(readme.splitlines()) <= 120
    table = re.search(r"\| language .*?\n\n", read(DOCS / "results" / "bitext.md"), re.DOTALL)[0]
    assert table in readme


def test_pages_beside_guides_and_notes_are_few():
    others = [path for path in DOCS.rglob("*.md") if path.parts[1] not in ("guides", "notes")]
    assert len(others) <= 24


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_is_at_most_three_screens(guide):
    assert len(read(guide).splitlines()) <= 150


@pytest.mark.parametrize(
    "guide", [path for path in GUIDES if path.stem not in TO_LOOK_UP], ids=lambda path: path.stem
)
def test_a_guide_says_what_its_reader_has_gets_and_may_read_next(guide):
    text = read(guide)
    assert re.match(r"# .+\n\n\*\*You have\*\*", text)
    assert "**You get**" in text
    assert text.rpartition("\n## ")[2].startswith("Where to go on\n")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_of_a_page_lead_somewhere_and_are_called_by_titles(page):
    text = re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)
    for name, target in re.findall(r"\[([^]]*)\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target
            on_site = (page.parent / target).resolve().relative_to(Path.cwd()).parts[0] in ON_SITE
            assert on_site or not target.endswith(".md"), f"{target} is no page of the site"
        assert not name.endswith(".md") or name in ("CONTRIBUTING.md", "CHANGELOG.md"), name


def test_the_reference_has_every_command_with_its_options_and_examples(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "site")
    reference = import_module("commands").reference()
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", reference, re.MULTILINE | re.DOTALL))
    assert list(sections) == [name for name, _ in COMMANDS]
    for name, section in sections.items():
        assert f"\nqsproj {name}" in section
        for action in next(iter(build_parser(name)._subparsers._group_actions)).choices[name]._actions:
            shown = action.help is not argparse.SUPPRESS and "--help" not in action.option_strings
            assert not shown or all(f"`{option}" in section for option in action.option_strings), name


def test_a_table_of_the_reference_has_two_columns(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "site")
    rows = re.findall(r"^\|.*$", import_module("commands").reference(), re.MULTILINE)
    assert len(rows) > 100
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}


def typed_in(page):
    """Return the ``qsproj`` commands in the blocks of shell of a page, as lists of arguments."""
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)
    text = re.sub(r"\$\([^)]*\)", "FILE", "".join(blocks))
    lines = text.replace("\\\n", " ").splitlines()
    pieces = [piece for line in lines for piece in re.split(r"\s[|;]\s|&&", line.removeprefix("$ "))]
    words = [
        shlex.split(re.sub(r"\s[<>]+\s*\S+", "", piece), comments=True)
        for piece in pieces
        if "qsproj" in piece
    ]
    return [arguments[1:] for arguments in words if arguments[:1] == ["qsproj"]]


@pytest.mark.parametrize("page", [page for page in PAGES if "qsproj " in read(page)], ids=str)
def test_commands_of_a_page_are_those_of_the_program(page):
    for arguments in typed_in(page):
        build_parser(arguments[0]).parse_args(arguments)
        assert unlisted_options(arguments) == []


def test_options_of_the_changelog_are_those_of_some_command():
    spans = re.findall(r"`([^`]+)`", read(Path("CHANGELOG.md")))
    named = sorted({option for span in spans for option in re.findall(r"(?<!\S)--[a-z-]+", span)})
    assert set.intersection(*(set(unlisted_options([command, *named])) for command, _ in COMMANDS)) == set()
