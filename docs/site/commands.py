"""The reference of the commands, made from their argument parsers."""

import argparse
import re
from collections.abc import Iterator
from importlib import import_module

from qsproj.cli.main import COMMANDS, build_parser, module_of


def reference() -> str:
    """Return all commands as Markdown: what each does, its options, its examples."""
    return "\n".join(line for name, summary in COMMANDS for line in command(name, summary))


def command(name: str, summary: str) -> Iterator[str]:
    """Yield the section of one command."""
    parser = subparsers(build_parser(name)).choices[name]
    module = import_module(module_of(name))
    yield from (f"## {name}", "", f"{summary[0].upper()}{summary[1:]}.", "")
    for title, text in parts(module.EXAMPLES):
        yield from (
            block("sh", text) if title == "examples" else (f"{title.capitalize()}:", *block("text", text))
        )
    yield from (*paragraphs(module.__doc__ or ""), "")
    yield from arguments(parser)
    nested = next((one for one in parser._actions if isinstance(one, argparse._SubParsersAction)), None)
    for part, below in nested.choices.items() if nested else ():
        yield from (f"### {name} {part}", "", *paragraphs(below.description or ""), "", *arguments(below))


def parts(text: str) -> list[tuple[str, str]]:
    """Return the parts of what stands below the options of a command, by their titles."""
    pieces = re.split(r"^(\w[^\n]*):\n", text, flags=re.MULTILINE)[1:]
    return list(zip(pieces[::2], pieces[1::2], strict=True))


def subparsers(parser: argparse.ArgumentParser) -> argparse._SubParsersAction:
    """Return the commands of the parser."""
    return next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))


def arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a table of arguments for each group that has any."""
    for group in parser._action_groups:
        shown = [
            action
            for action in group._group_actions
            if action.help is not argparse.SUPPRESS
            and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
        ]
        if shown:
            title = (group.title or "").replace("positional arguments", "input")
            yield from (f"| {title} | |", "|---|---|")
            yield from (f"| {spelled(action)} | {explained(action)} |" for action in shown)
            yield ""


def spelled(action: argparse.Action) -> str:
    """Return how an argument is typed; of names for the same option the long one comes last."""
    value = "" if action.nargs == 0 else value_of(action)
    if not action.option_strings:
        return code(value)
    return ", ".join(code(f"{name} {value}".strip()) for name in action.option_strings)


def value_of(action: argparse.Action) -> str:
    """Return how the value of an argument is named."""
    metavar = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    shown = " ".join(metavar) if isinstance(metavar, tuple) else metavar
    return f"{shown} ..." if action.nargs in ("+", "*") else shown


def explained(action: argparse.Action) -> str:
    """Return the help of an argument."""
    text = " ".join(((action.help or "") % (vars(action) | {"prog": "qsproj"})).split())
    return f"{text} (required)" if action.required and action.option_strings else escaped(text)


def paragraphs(text: str) -> Iterator[str]:
    """Yield a docstring as Markdown; indented lines are shown as they stand."""
    for paragraph in text.strip().split("\n\n"):
        if paragraph.startswith(" "):
            yield from block("text", paragraph)
        else:
            yield from ("", escaped(paragraph))


def block(language: str, text: str) -> Iterator[str]:
    """Yield a block of code without the indentation that all its lines share."""
    lines = text.rstrip().split("\n")
    least = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    yield from ("", f"```{language}", *(line[least:] for line in lines), "```", "")


def code(text: str) -> str:
    """Return text as code that may stand in a table."""
    return f"`{text}`".replace("|", "\\|")


def escaped(text: str) -> str:
    """Return text whose signs Markdown would read as its own, outside of code."""
    pieces = text.split("`")
    pieces[::2] = [
        piece.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")
        for piece in pieces[::2]
    ]
    pieces[1::2] = [piece.replace("|", "\\|") for piece in pieces[1::2]]
    return "`".join(pieces)
