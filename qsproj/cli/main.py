"""The ``qsproj`` command: finds the command's file, runs it, and turns errors into exit codes.

Exit codes: 0 done; 2 bad usage or bad data, told in one line on stderr; 1 a bug of ours;
130 or 143 stopped by Ctrl-C or SIGTERM.
"""

import argparse
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

from qsproj import __version__, interrupts
from qsproj.errors import QsprojError, bounded
from qsproj.progress import notices

# command, one-line help; its file is qsproj/cli/<command>.py with add_arguments(parser) and run(arguments)
COMMANDS: tuple[tuple[str, str], ...] = (
    ("bootstrap", "make a model that reads raw text, from a bitext and a treebank of one side"),
    ("train", "train a dependency parser on treebanks"),
    ("parse", "parse sentences with a trained model"),
    ("tag", "train a part-of-speech tagger, or tag text"),
    ("bundle", "make one model of a tagger and a parser, from text to trees"),
    ("eval", "score a parsed file against gold trees, or compare two systems"),
    ("align", "align the words of a bitext"),
    ("project", "carry a treebank to another language through a bitext"),
    ("adapt", "adapt a treebank or a parser to another annotation style, from a few trees"),
    ("biparse", "parse both sides of a bitext together"),
    ("styles", "convert treebanks between annotation styles, and tell which style one has"),
    ("suggest", "choose the sentences that are best annotated next"),
    ("search", "find words in trees by a pattern of tags, relations and features"),
    ("info", "tell what a model is, was made from, and can do"),
    ("serve", "serve models by the REST API of UDPipe, or a page to review trees in the browser"),
    ("draw", "draw trees or aligned sentence pairs, as a web page, an image or a document"),
    ("data", "fetch treebanks and bitexts by name"),
    ("demo", "run the main job on the sample in corpora/"),
)

EXIT_DONE, EXIT_BUG, EXIT_BAD_INPUT = 0, 1, 2


class _OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {bounded(message)}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help as results are written: argparse is silent where the disk is full."""
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        from qsproj.corpus.files import open_output

        with open_output(None) as out:
            out.write(message)


def build_parser(*wanted: str) -> argparse.ArgumentParser:
    """Build the parser; only the files of commands that are wanted are imported, for a fast ``--help``."""
    parser = _OneLineParser(
        prog="qsproj",
        description="Carry dependency syntax across languages and annotation styles.",
        epilog="Each command explains itself: qsproj COMMAND --help. Start with: qsproj demo",
    )
    parser.add_argument("--version", action="version", version=f"qsproj {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS:
        if name not in wanted:
            commands.add_parser(name, help=summary, add_help=False)
            continue
        module = import_module(f"qsproj.cli.{name}")
        subparser = commands.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    known = {name for name, _ in COMMANDS}
    command = next((word for word in words if not word.startswith("-")), None)
    name = f"qsproj {command}" if command else "qsproj"
    try:
        # As git does: who asks for nothing is shown what there is.
        options = build_parser(*known.intersection([command])).parse_args(words or ["--help"])
        with notices(_say):
            options.run(options)
    except QsprojError as error:
        print(f"{name}: {error}", file=sys.stderr)
        _drop_unwritten()
        return EXIT_BAD_INPUT
    except MemoryError:
        print(
            f"{name}: found too little memory for what it is given, expected room for it; give "
            "fewer sentences at a time, or fewer --jobs",
            file=sys.stderr,
        )
        _drop_unwritten()
        return EXIT_BAD_INPUT
    except BrokenPipeError:
        # The reader of our output went away (head, less): not an error.
        _drop_unwritten()
    except KeyboardInterrupt:
        word, code = interrupts.outcome()
        print(f"{name}: {word}", file=sys.stderr)
        return code
    return EXIT_DONE


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _drop_unwritten() -> None:
    """Let go of what the standard output does not take, which Python would try to write again at the exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
