"""The parser of all commands, from which shtab generates a shell completion script.

    shtab --shell bash qsproj.cli.completion.parser > ~/.local/share/bash-completion/completions/qsproj

The script is generated once and never runs qsproj, so it does not slow down commands.
"""

import argparse

import shtab

from qsproj.cli.command_parser import FILES
from qsproj.cli.main import COMMANDS, build_parser, children


def parser() -> argparse.ArgumentParser:
    whole = build_parser(*(name for name, _ in COMMANDS))
    parsers = [whole]
    for one in parsers:
        parsers += children(one).values()
        for action in one._actions:
            if action.metavar in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif action.metavar in ("DIR", "FOLDER"):
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return whole
