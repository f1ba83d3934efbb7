"""Argument parser with one-line errors and help that fits on a screen."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from qsproj.cli.options.declare import Options
from qsproj.errors import truncate, unknown_name

EXIT_BAD_INPUT = 2
# Names of values that are files, and that of a model.
_KINDS = ("FILE", "MODEL", "[NAME=]MODEL", "TREEBANK", "INPUT", "TAGGED", "TEXT")
_ROLES = ("GOLD", "SYSTEM", "OTHER", "SOURCE", "TARGET", "TAGGER", "PARSER")
FILES = frozenset((*_KINDS, *_ROLES))
MODEL = "MODEL"
# Width of the help, that of the command descriptions.
_WIDTH = 110


def print_lines(lines: Iterable[str]) -> None:
    """Print lines through ``open_output``, which reports errors such as a full disk."""
    from qsproj.corpus.files import open_output

    with open_output(None) as out:
        out.writelines(f"{line}\n" for line in lines)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class CommandParser(Options, argparse.ArgumentParser):
    """An argument parser whose errors are one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {truncate(message)}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(value, str) and action.choices and value not in action.choices:
            raise unknown_name("/".join(action.option_strings) or str(action.metavar), value, action.choices)
        super()._check_value(action, value)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help through ``open_output``: argparse ignores write errors such as a full disk."""
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        print_lines(message.splitlines())


class CommandHelp(argparse.RawDescriptionHelpFormatter):
    """Compact help: the usage line lists required arguments only, each option shows its value once."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=_WIDTH)

    def _format_usage(
        self, usage: str | None, actions: Iterable[argparse.Action], groups: Any, prefix: str | None
    ) -> str:
        actions = list(actions)
        must = [one for one in actions if one.option_strings and one.required]
        given = [one for one in actions if not one.option_strings]
        options = " [options]" if len(actions) > len(must) + len(given) else ""
        line = super()._format_usage(usage, [*must, *given], [], prefix)
        return f"{line.rstrip()}{options}\n\n"

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if action.nargs in ("+", "*"):
            value = f"{self._metavar_formatter(action, default_metavar)(1)[0]} ..."
            return f"[{value}]" if action.nargs == "*" and not action.option_strings else value
        return super()._format_args(action, default_metavar)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


def add_action(
    actions: "argparse._SubParsersAction[CommandParser]", name: str, description: str, examples: str
) -> CommandParser:
    first = description.partition("\n")[0].rstrip(".")
    return actions.add_parser(
        name, help=first, description=description, epilog=examples, formatter_class=CommandHelp
    )
