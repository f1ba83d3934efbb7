"""The ``qsproj`` command: import and run one command, and map errors to exit codes.

Exit codes: 0 success; 2 bad usage or bad data, reported in one line on stderr; 1 a bug in qsproj;
130 or 143 stopped by Ctrl-C or SIGTERM.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile

from qsproj import __version__, interrupts
from qsproj.cli.command_parser import EXIT_BAD_INPUT, CommandParser, say
from qsproj.cli.options.declare import add_options, check_conditions
from qsproj.errors import FILE_LOST, NothingToLearnError, QsprojError, UsageError, truncate
from qsproj.progress import notices

# Command and one-line help. The module qsproj/cli/<command>.py (_ for -) defines OPTIONS, or ACTIONS with the
# description and options of each, EXAMPLES and run(options); perhaps add_conditions(parser), and LEARNS_FROM,
# the options of its training files.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("bootstrap", "train a tagger and parser for a language without a treebank, from a bitext"),
    ("train", "train a dependency parser on treebanks"),
    ("parse", "parse sentences with a trained model"),
    ("train-tagger", "train a part-of-speech tagger on treebanks"),
    ("tag", "tag text with a trained tagger"),
    ("tokenize", "tokenise text, for an external aligner"),
    ("bundle", "combine a tagger and a parser into one model that parses text"),
    ("eval", "score a parsed file against gold trees, or compare two systems"),
    ("align", "align the words of a bitext"),
    ("project", "project a treebank to another language through a bitext"),
    ("project-tags", "train a tagger by projecting tags through word links"),
    ("adapt", "train a converter to another annotation style, from a few trees"),
    ("convert", "convert trees to another annotation style"),
    ("styles", "list annotation styles, or detect that of a treebank"),
    ("train-biparser", "train a parser of both sides of a bitext"),
    ("join-biparser", "combine parsers of both sides of a bitext into a joint parser"),
    ("biparse", "parse both sides of a bitext together"),
    ("cotrain", "train a parser of one language on pairs without trees"),
    ("suggest", "rank sentences by how much a model would learn from their annotation"),
    ("annotate", "correct the most informative sentences and words, and retrain a bootstrap"),
    ("search", "find words in trees by a pattern of tags, relations and features"),
    ("info", "show the kind, origin and abilities of a model"),
    ("serve", "serve models by the REST API of UDPipe, or a page to review trees in the browser"),
    ("draw", "draw trees or aligned sentence pairs, as a web page, an image or a document"),
    ("data", "fetch treebanks and bitexts by name"),
    ("demo", "run the main job on the sample in corpora/"),
)

# Former modes of commands, by their second word or an option: now commands of their own.
FORMER = {
    **{("biparse", "train"): "train-biparser", ("biparse", "join"): "join-biparser"},
    **{("biparse", "parse"): "biparse", ("biparse", "cotrain"): "cotrain"},
    **{("tag", "--train"): "train-tagger", ("tag", "--project"): "project-tags"},
    **dict.fromkeys((("adapt", "-m"), ("adapt", "--model"), ("styles", "convert")), "convert"),
}

ALLOCATIONS_BEFORE_COLLECTION = 100_000


def module_of(command: str) -> str:
    return f"qsproj.cli.{command.replace('-', '_')}"


def build_parser(*wanted: str) -> argparse.ArgumentParser:
    """Build the parser, importing only the modules of the ``wanted`` commands for a fast ``--help``."""
    parser = CommandParser(
        prog="qsproj",
        description="Carry dependency syntax across languages and annotation styles.",
        epilog="Each command explains itself: qsproj help COMMAND. Start with: qsproj demo",
    )
    parser.add_argument("--version", action="version", version=f"qsproj {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS:
        if name not in wanted:
            commands.add_parser(name, help=summary, add_help=False)
            continue
        module = import_module(module_of(name))
        own = commands.add_parser(name, help=summary, description=module.__doc__, epilog=module.EXAMPLES)
        own.set_defaults(module=module, own_parser=own)
        add_options(own, getattr(module, "OPTIONS", ()))
        if hasattr(module, "ACTIONS"):
            actions = own.add_subparsers(dest="action", metavar="ACTION", required=True)
            for action, (about, options) in module.ACTIONS.items():
                line = about.partition("\n")[0].rstrip(".")
                child = actions.add_parser(action, help=line, description=about, epilog=module.EXAMPLES)
                add_options(child, options)
        if hasattr(module, "add_conditions"):
            module.add_conditions(own)
    return parser


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    known = [name for name, _ in COMMANDS]
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    command = next((word for word in words if not word.startswith("-")), None)
    name = f"qsproj {command}" if command else "qsproj"
    for (former, mode), present in FORMER.items():
        given = words[1:] if mode.startswith("-") else words[1:2]
        if words[:1] == [former] and any(word.partition("=")[0] == mode for word in given):
            spelling = f"`qsproj {former} {mode}` is now spelled `qsproj {present}`"
            say(f"{name}: {spelling}; see qsproj help {present}")
            return EXIT_BAD_INPUT
    if command is not None and command == words[0] and command not in known:
        near = " or ".join(f"`qsproj {name}`" for name in get_close_matches(command, known, n=2))
        meant = f"did you mean {near}? " if near else ""
        say(truncate(f"qsproj: unknown command {command!r}; {meant}`qsproj help` lists all"))
        return EXIT_BAD_INPUT
    # Few objects refer to each other; looking for them takes a twentieth of a bootstrap by default.
    gc.set_threshold(ALLOCATIONS_BEFORE_COLLECTION)
    try:
        # Without arguments, show the help, as git does.
        parser = build_parser(*(name for name in known if name == command))
        if command is not None and command == words[0]:
            _check_known(command, words)
        options, extra = parser.parse_known_args(words or ["--help"])
        if extra:
            raise UsageError(f"found {extra[0]}, expected no more arguments; see qsproj help {command}")
        with notices(say):
            from qsproj.cli.options.files import check_files_of

            check_conditions(options.own_parser, options)
            check_files_of(options)
            _check_languages(options)
            options.module.run(options)
    except QsprojError as error:
        learned_from = _training_files(options) if isinstance(error, NothingToLearnError) else ""
        say(f"{name}: {learned_from}{error}")
    except MemoryError:
        say(f"{name}: out of memory; give fewer sentences at a time, or fewer --jobs")
    except BrokenPipeError as error:
        # The reader of the output (head, less) has exited: an error only if a file was lost with it.
        _drop_unwritten()
        return EXIT_BAD_INPUT if FILE_LOST in getattr(error, "__notes__", ()) else 0
    except KeyboardInterrupt:
        word, code = interrupts.exit_status()
        say(f"{name}: {word}")
        return code
    else:
        return 0
    _drop_unwritten()
    return EXIT_BAD_INPUT


def _check_languages(options: argparse.Namespace) -> None:
    codes = [action for action in options.own_parser._actions if action.metavar == "CODE"]
    own = ((getattr(options, action.dest), action.default) for action in codes)
    if given := [value for value, default in own if value != default]:
        from qsproj.cli.options.files import paths_in
        from qsproj.corpus.language.recognition import check_known_language

        for code in paths_in(given):
            check_known_language(code)


def _training_files(options: argparse.Namespace) -> str:
    from qsproj.cli.options.files import paths_in
    from qsproj.corpus.files import name_of

    given = [getattr(options, name) for name in getattr(options.module, "LEARNS_FROM", ())]
    names = ", ".join(map(name_of, paths_in(given)))
    return f"{names}: " if names else ""


def _check_known(command: str, words: Sequence[str]) -> None:
    """Raise UsageError for an unknown long option, where argparse reports required arguments as missing."""
    known = _options_of(command)
    for word in takewhile("--".__ne__, words):
        option = word.partition("=")[0]
        if not word.startswith("--") or " " in option or any(one.startswith(option) for one in known):
            continue
        hint = ""
        if near := get_close_matches(option, known, n=1, cutoff=0.75):
            hint = f"did you mean {near[0]}? "
        elif others := [name for name, _ in COMMANDS if option in _options_of(name)]:
            hint = f"it is an option of {', '.join(others)}; "
        raise UsageError(f"found {option}, which it does not know; {hint}see qsproj help {command}")


def _options_of(command: str) -> set[str]:
    own = children(build_parser(command))[command]
    return {name for parser in (own, *children(own).values()) for name in parser._option_string_actions}


def children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {name: child for action in found for name, child in action.choices.items()}


def _drop_unwritten() -> None:
    """Discard unwritable output, which Python would try to write again at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
