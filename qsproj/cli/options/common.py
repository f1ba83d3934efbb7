"""Options that several commands share, so that they mean and say the same everywhere.

Options that set fields of a dataclass are called as these, ``--max-sentences`` for ``max_sentences``, and
say what the dataclass tells of them (``models.spec``). Files are checked before any work.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from qsproj import __version__
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import lines_before, lines_in
from qsproj.corpus.files import PACKED, check_can_be_written, name_of, resolved
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.language.recognition import recognise
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, NothingToLearnError, SentenceError, UsageError, counted
from qsproj.models.morphology.analyses import feature_cell, feature_pairs, features_of
from qsproj.models.spec import told_of
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.models.checkpoint import Checkpoint
    from qsproj.parallel import Workers

# Python makes no number of thousands of digits, and numpy none of more than these.
_MOST_DIGITS = 18


def whole_number(*, least: int) -> Callable[[str], int]:
    """Return a type of option for ``add_argument``: whole numbers from ``least`` on."""

    def read(text: str) -> int:
        if len(text) <= _MOST_DIGITS and text.removeprefix("-").isdecimal() and int(text) >= least:
            return int(text)
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, {least} or more")

    return read


def number(*, least: float, most: float = math.inf) -> Callable[[str], float]:
    """Return a type of option for ``add_argument``: finite numbers from ``least`` to ``most``."""
    bounds = f"{least:g} or more" if math.isinf(most) else f"from {least:g} to {most:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and least <= value <= most:
            return value
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number, {bounds}")

    return read


def _add_number(
    options: argparse._ActionsContainer,
    *names: str,
    least: float,
    most: float,
    default: Any,
    help: str,
    **more: Any,
) -> None:
    """Add an option that is a number in a range, a whole one where ``least`` is; help tells the default."""
    read = whole_number(least=least) if isinstance(least, int) else number(least=least, most=most)
    told = help if default is None else f"{help} (default: {default:g})"
    options.add_argument(*names, type=read, default=default, help=told, **more)


_VALUE = re.compile(
    r"(?P<name>.+?)(?:\[(?P<least>[\d.-]+?)\.\.(?P<most>[\d.]*)\])?(?P<count>[?+*]?)(?P<again>(?:\.\.\.)?)"
    r"(?P<required>!?)(?:=(?P<default>.*))?"
)


def add_options(options: argparse._ActionsContainer) -> Callable[[str], None]:
    """Return what declares options by text: ``-m --model MODEL: help``, which may go on in indented lines.

    Without MODEL it is a switch. Behind it may follow, in this order, a range, ``[1..]`` of whole numbers or
    ``[0.0..1.0]`` of others; ``?``, ``+`` or ``*``, the number of values as ``argparse`` has it; ``...``: it
    may be given several times; ``!``: it must be given; ``=usual``: its default, which help tells of numbers.
    """

    def add(text: str) -> None:
        for line in re.split(r"\n(?=\S)", textwrap.dedent(text).strip()):
            head, _, help = " ".join(line.split()).partition(": ")
            words = head.split()
            names = [word for word in words if word.startswith("-")] or words[:1]
            _add_told(options, names, words[len(names) :], help)

    return add


def _add_told(options: argparse._ActionsContainer, names: list[str], values: list[str], help: str) -> None:
    if not values:
        options.add_argument(*names, action="store_true", help=help)
        return
    value = _VALUE.fullmatch(values[-1])
    assert value is not None
    name, default = value["name"], value["default"]
    told: dict[str, Any] = {"metavar": name, "help": help, "default": default}
    if name.startswith("{"):
        told |= {"metavar": None, "choices": tuple(name.strip("{}").split(","))}
    if value["count"]:
        told["nargs"] = value["count"]
    if len(values) > 1:
        told |= {"nargs": len(values), "metavar": (*values[:-1], name)}
    if value["again"]:
        told["action"] = "append"
    if value["again"] or value["count"] in ("+", "*"):
        told["default"] = []
    if value["required"]:
        told["required"] = True
    if value["least"] is None:
        options.add_argument(*names, **told)
    else:
        kind = float if "." in value["least"] else int
        told["default"] = None if default is None else kind(default)
        most = float(value["most"] or math.inf)
        _add_number(options, *names, least=kind(value["least"]), most=most, **told)


def add_seed(parser: argparse._ActionsContainer) -> None:
    add_options(parser)("--seed N[0..]=1: random seed; the same seed gives the same bytes")


def add_pairing(parser: argparse._ActionsContainer) -> None:
    add_options(parser)("""
        --pair HOW=id: how sentences of two CoNLL-U files are paired: id (parallel_id, else sent_id, else
            order; default) or order (the first with the first, whatever their ids)
    """)


def add_order(options: argparse._ActionsContainer, help: str) -> None:
    options.add_argument("--order", type=whole_number(least=1), choices=(1, 2), default=1, help=help)


OF_MISC = "it in MISC, the last column"


def read_tagged(paths: Sequence[str]) -> Iterator[Sentence]:
    """Read CoNLL-U files one after the other; a word without UPOS is an error that names its line.

    Features that UD would not write so are told, at the end of each file.
    """
    for path in paths:
        line = 1
        told: dict[str, list[tuple[int, str]]] = {}
        for sentence in read_sentences(path):
            if UNSPECIFIED in sentence.upos:
                word = sentence.upos.index(UNSPECIFIED)
                raise DataError(
                    name_of(path),
                    line + lines_before(sentence, word + 1),
                    found=f"word {word + 1} ({sentence.forms[word]!r}) without UPOS",
                    expected="one on every word",
                    remedy="tag it, or leave the sentence out",
                )
            for word, cell in enumerate(sentence.feats):
                fault = _fault_of_features(cell)
                if fault == OF_MISC:
                    raise DataError(
                        name_of(path),
                        line + lines_before(sentence, word + 1),
                        found=f"{cell!r} in FEATS",
                        expected=fault,
                        remedy="put the two columns where they belong: they seem to be swapped",
                    )
                if fault is not None:
                    told.setdefault(fault, []).append((line + lines_before(sentence, word + 1), cell))
            yield sentence
            line += lines_in(sentence)
        for fault, found in told.items():
            first, cell = found[0]
            words = counted(len(found), "word")
            notice(f"{name_of(path)}: line {first}: found {cell!r} in FEATS, {fault} ({words})")


@lru_cache(maxsize=1 << 14)
def _fault_of_features(cell: str) -> str | None:
    """Return what is done with features that are not as UD writes them, if they are not."""
    if "SpaceAfter=No" in cell.split("|"):
        return OF_MISC
    kept = features_of(cell)
    if feature_cell(kept) == cell:
        return None
    if {name for name, _ in feature_pairs(cell)} - set(kept) or not kept:
        return "expected Name=Value, the value with a capital or a digit; what is not so is not learned"
    return "expected them sorted, each once; they are learned so, of two values the last"


@contextmanager
def located(path: str) -> Iterator[Iterator[Sentence]]:
    """Give the sentences of a file; an error in the block names the line of the last one that was taken."""
    line = 1

    def sentences() -> Iterator[Sentence]:
        nonlocal line
        for sentence in read_sentences(path):
            yield sentence
            line += lines_in(sentence)

    try:
        yield sentences()
    except SentenceError as error:
        raise error.at(name_of(path), line) from error


@contextmanager
def naming(*paths: str | None) -> Iterator[None]:
    """Have an error in the block that these files teach nothing say their names."""
    try:
        yield
    except NothingToLearnError as error:
        names = ", ".join(name_of(path) for path in paths if path is not None)
        raise UsageError(f"{names}: {error}") from error


def add_jobs(options: argparse._ActionsContainer, what: str = "processes") -> None:
    add_options(options)(f"--jobs N[-1..]=1: {what}; -1: one for each core")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add ``--jobs``, ``--backend`` and ``--scheduler``; read them with :func:`workers_of`."""
    group = parser.add_argument_group("workers", "who computes; the result is the same, byte for byte")
    add_jobs(group)
    add_options(group)("""
        --backend NAME=processes: processes of this machine (default), or dask: a cluster (pip install
            'qsproj[dask]')
        --scheduler ADDRESS: of the Dask cluster: tcp://host:8786
    """)


def workers_of(options: argparse.Namespace) -> Workers:
    """Return the workers that were asked for; UsageError where the options do not go together."""
    from qsproj.parallel import Workers

    return Workers(jobs=options.jobs, backend=options.backend, scheduler=options.scheduler)


# What a line begins with that goes on with the example before.
CONTINUED = " " * 6

Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_action(actions: Actions, name: str, description: str, examples: str) -> argparse.ArgumentParser:
    return actions.add_parser(
        name,
        help=description.partition("\n")[0].rstrip("."),
        description=description,
        epilog=examples_of(examples, name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def examples_of(examples: str, action: str) -> str:
    """Return the examples ``qsproj COMMAND ACTION ...`` of one action, with indented lines that go on."""
    heading, *lines = examples.splitlines()
    kept, asked = [heading], False
    for line in lines:
        asked = asked if line.startswith(CONTINUED) else line.split()[2] == action
        kept += [line] if asked else []
    return "\n".join(kept)


def add_checkpoint(parser: argparse._ActionsContainer, *, kept: str) -> None:
    """Add both options; ``kept`` says what is written, and when."""
    parser.add_argument("--checkpoint", type=Path, metavar="DIR", help=f"keep {kept}")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the state in --checkpoint DIR, where there is one"
    )


def checkpoint_of(options: argparse.Namespace) -> Checkpoint | None:
    """Return where the state is kept; None: nowhere. Tell where there is none to go on from."""
    from qsproj.models.checkpoint import Checkpoint

    if options.checkpoint is None:
        if options.resume:
            raise UsageError("--resume needs the folder of the run to go on from; add --checkpoint DIR")
        return None
    checkpoint = Checkpoint(folder=options.checkpoint, resume=options.resume)
    found = checkpoint.stages()
    if found and not options.resume:
        raise UsageError(
            f"{options.checkpoint}: found the state of an earlier run ({', '.join(found)}), which would be "
            "replaced; go on from it with --resume, or name another folder"
        )
    if options.resume and not found:
        notice(f"{options.checkpoint}: found no state to go on from; starting from the beginning")
    return checkpoint


def add_fields(
    group: argparse._ActionsContainer,
    usual: object,
    *names: str,
    by_way: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add an option for each named field of a dataclass; ``usual`` is what it is where nothing is given.

    ``by_way``: fields that are None where not given, and what help says of their default.
    """
    known = told_of(type(usual))
    for field in names:
        told, default = known[field], getattr(usual, field)
        name, shown = f"--{field.replace('_', '-')}", None if field in by_way else default
        help = f"{told.help} {by_way.get(field, '')}".strip()
        if isinstance(default, str):
            group.add_argument(name, default=shown, metavar=told.metavar or "NAME", help=help)
            continue
        whole = isinstance(default, int) or isinstance(told.least, int)
        bounds = {"least": int(told.least) if whole else told.least, "most": told.most}
        metavar = told.metavar or ("N" if whole else "X")
        _add_number(group, name, **bounds, default=shown, metavar=metavar, help=help)


def values_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return what was given for each field, by its name: keyword arguments of the dataclass."""
    return {name: getattr(options, name) for name in names}


STANDARD = "-"


def check_files(
    *,
    reads: Iterable[str | None],
    model: str | None = None,
    model_option: str = "-o",
    writes: Iterable[tuple[str | None, str | None]] = (),
) -> None:
    """Check where a command reads from and writes to; None is no file.

    ``writes``: files beside the model, each with the one among ``reads`` whose place it may take. Raises
    UsageError when two files are the standard input or two outputs the same, when a model is written to the
    standard output or an output over what is read, or when an output cannot be written.
    """
    inputs = [path for path in reads if path is not None]
    outputs = [(path, kept) for path, kept in ((model, None), *writes) if path is not None]
    if inputs.count(STANDARD) > 1:
        raise UsageError("only one file can be - (standard input); name files for the rest")
    _check_differ([path for path, _ in outputs])
    if model == STANDARD:
        raise UsageError(f"a model is not written to standard output; give {model_option} MODEL")
    for path, replaced in outputs:
        _check_keeps(path, [other for other in inputs if other != replaced])
        check_can_be_written(path, text=path is not model)


def _check_differ(outputs: Sequence[str]) -> None:
    seen: set[Path | str] = set()
    for path in outputs:
        place = path if path == STANDARD else resolved(path)
        if place in seen:
            raise UsageError(f"found {path} for two outputs, expected a name of its own for each")
        seen.add(place)


def _check_keeps(output: str, inputs: Sequence[str]) -> None:
    # Only of regular files: a terminal may be both.
    if output == STANDARD or not os.path.isfile(output):  # noqa: PTH113 - no error for a name that is too long
        return
    for path in inputs:
        # As above: a path of `Path` would raise an error for a name that is too long.
        if path != STANDARD and os.path.exists(path) and os.path.samefile(path, output):  # noqa: PTH110, PTH121
            raise UsageError(f"found {output} as a file to read and as one to write; name another")


# Ways to use a command: what users write to ask for one (``--method qg``), and what it reads that not all do.
Ways = Mapping[str, Collection[str]]


def declare_ways(parser: argparse.ArgumentParser, *tables: Ways) -> None:
    """Note how each option in the tables is written, and its default; the parser has all its options."""
    named = sorted({name for ways in tables for reads in ways.values() for name in reads})
    # As users write it, or the name that help gives an argument.
    written = {
        action.dest: action.option_strings[-1] if action.option_strings else str(action.metavar)
        for action in parser._actions
        if action.dest in named
    }
    parser.set_defaults(read_by_some={name: (written[name], parser.get_default(name)) for name in named})


def refuse_unread(options: argparse.Namespace, ways: Ways, chosen: str | None) -> None:
    """Raise UsageError for the first option that the chosen way does not read; it names the ways that do.

    Who gives an option its default changes nothing, and may. What is not read is added to ``options.unread``.
    ``chosen``: a key of ``ways``; None: none of these ways was asked for.
    """
    read = ways[chosen] if chosen is not None else ()
    unread = sorted({name for reads in ways.values() for name in reads}.difference(read))
    options.unread = [*getattr(options, "unread", ()), *unread]
    for name in unread:
        written, default = options.read_by_some[name]
        if getattr(options, name) != default:
            readers = _listed([way for way, reads in ways.items() if name in reads])
            here = "" if chosen is None else f" with {chosen}"
            raise UsageError(f"{written} belongs to {readers}; leave it out{here}")


def _listed(ways: Sequence[str]) -> str:
    """List ways; values of one option, ``--method hard, qg``, by its name and theirs."""
    options = {way.partition(" ")[0] for way in ways}
    if len(options) > 1:
        return ", ".join(ways)
    return f"{options.pop()} {', '.join(way.partition(' ')[2] for way in ways)}".rstrip()


# Options that do not change a model, whatever the command: who computes, and what else is written.
_WITHOUT_EFFECT = frozenset(
    {
        *("run", "read_by_some", "unread", "command", "output", "jobs", "backend", "scheduler"),
        *(
            "checkpoint",
            "resume",
            "work",
            "clean",
            "report",
            "suggest",
            "suggest_sentences",
            "suggest_words",
            "save_model",
            "linked",
            "weights",
        ),
    }
)
# Commands that write trees beside a model; to others trees are given.
_WRITE_TREES = frozenset({"project", "bootstrap"})
# Sentences that tell a language.
_LOOKED_AT = 1000


def made_by(options: argparse.Namespace, **facts: Any) -> dict[str, Any]:
    """Return the record in a model file of how a command with these options made it, and of facts: counts.

    The same command on files of the same names and content gives the same record, wherever it runs: of a path
    only the name is kept, without the ending of an archive; there is no date. Options that are unset, do not
    change the model, or are not read (:func:`qsproj.cli.options.common.refuse_unread`) are left out.
    """
    without_effect = _WITHOUT_EFFECT.union(getattr(options, "unread", ()))
    if options.command in _WRITE_TREES:
        without_effect |= {"trees"}
    kept = {
        name: _plain(value)
        for name, value in sorted(vars(options).items())
        if name not in without_effect and value not in (None, False, [])
    }
    return {"command": options.command, "version": __version__, "options": kept, **facts}


def languages_of(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return the languages that the first sentences may be in, each with the share of its commonest words."""
    return recognise(" ".join(sentence.forms) for sentence in islice(sentences, _LOOKED_AT)).likely()


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str) and ("/" in value or "\\" in value or value.endswith(PACKED)):
        path = Path(value)
        return path.stem if path.suffix in PACKED else path.name
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
