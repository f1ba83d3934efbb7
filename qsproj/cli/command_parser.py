"""Argument parser with one-line errors and help that fits on a screen."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from qsproj.errors import truncate, unknown_name

EXIT_BAD_INPUT = 2
MODEL = "MODEL"
# Names of values that are files.
FILES = frozenset(("FILE", MODEL, "[NAME=]MODEL", "TREEBANK", "INPUT", "TAGGED", "TEXT"))
FILES |= {"GOLD", "SYSTEM", "OTHER", "SOURCE", "TARGET", "TAGGER", "PARSER"}
_WIDTH = 110  # of the help, as of the descriptions of commands


def print_lines(lines: Iterable[str]) -> None:
    """Print lines through ``open_output``, which reports errors such as a full disk."""
    from qsproj.corpus.files import open_output

    with open_output(None) as out:
        out.writelines(f"{line}\n" for line in lines)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class CommandHelp(argparse.RawDescriptionHelpFormatter):
    """Compact help: the usage line lists required arguments only, each option shows its value once."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=_WIDTH)

    def _format_usage(
        self, usage: str | None, actions: Iterable[argparse.Action], groups: Any, prefix: str | None
    ) -> str:
        actions = list(actions)
        shown = [one for one in actions if one.option_strings and one.required]
        shown += [one for one in actions if not one.option_strings]
        line = super()._format_usage(usage, shown, [], prefix)
        return f"{line.rstrip()}{' [options]' if len(actions) > len(shown) else ''}\n\n"

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


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and exit code 2."""

    def __init__(self, *, formatter_class: Any = CommandHelp, **more: Any) -> None:
        super().__init__(formatter_class=formatter_class, **more)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {truncate(message)}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(value, str) and action.choices and value not in action.choices:
            raise unknown_name("/".join(action.option_strings) or str(action.metavar), value, action.choices)
        super()._check_value(action, value)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help through ``open_output``: argparse ignores write errors such as a full disk."""
        if file is sys.stdout:
            print_lines(message.splitlines())
        else:
            super()._print_message(message, file)
