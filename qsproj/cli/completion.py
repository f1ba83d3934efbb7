"""The parser of all commands, from which shtab generates a shell completion script.

    shtab --shell bash qsproj.cli.completion.parser > ~/.local/share/bash-completion/completions/qsproj

The script is generated once and never runs qsproj, so it does not slow down commands.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import shtab

from qsproj.cli.command_parser import FILES
from qsproj.cli.main import COMMANDS, build_parser

_FOLDERS = frozenset({"DIR", "FOLDER"})


def parser() -> argparse.ArgumentParser:
    whole = build_parser(*(name for name, _ in COMMANDS))
    for action in _actions(whole):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return whole


def _actions(parent: Any) -> Iterator[argparse.Action]:
    for action in parent._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)
