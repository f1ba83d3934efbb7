"""Options of several commands, and what they stand for."""

import argparse
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qsproj import __version__
from qsproj.cli.options.declare import Heading, Option
from qsproj.conventions import Rng
from qsproj.corpus.files import PACKED
from qsproj.corpus.language.recognition import recognise
from qsproj.corpus.pairs.pairing import PAIRINGS
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.parallel import BACKENDS, Workers
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.models.checkpoint import Checkpoint

SEED = Option("--seed N", "random seed; the same seed gives the same bytes", default=1, least=0)
PAIRING = Option(
    "--pair HOW",
    "pair CoNLL-U by id: parallel_id, else sent_id, else order (default), or by order",
    choices=PAIRINGS,
    default=PAIRINGS[0],
)
TEXT_READING = (
    Option("--language CODE", "language of plain text, two or three letters (default: the model's language)"),
    Option("--paragraphs", "split running text into sentences, by the tagger if trained to, else by rules"),
    Option(
        "--segmentations K",
        "write the K most probable word segmentations of each line of plain text, numbered N.1, N.2 ..., "
        "with their probabilities in a comment; needs a model with a trained tokenizer",
    ),
)
ADDRESS = (
    Option("--host ADDRESS", "address of the server (default: 127.0.0.1)", default="127.0.0.1"),
    Option("--port N", "port of the server; 0: any free port", default=8001, least=0),
    Option("--seconds S", "time limit of a request", default=60, least=0.01),
)
REVIEWING = (
    Option("--train-after N", "number of reviewed sentences needed for training", default=10),
    Option("--reviewer NAME", 'add the comment "# reviewed_by = NAME" to confirmed sentences', former="--by"),
)


def language(of: str) -> Option:
    rules = "two or three letters; languages without sacremoses rules are tokenised like English"
    return Option("--language CODE", f"{of}, {rules}")


def lemmatizer(others: str) -> Option:
    lemmas = "simplemma (pip install 'qsproj[lemmas]'): lemmas of some fifty languages"
    return Option("--lemmatizer NAME", f"{lemmas}, for words missing from {others}")


def columns(use: str, names: str, usual: str) -> Option:
    usual = f"(default: all columns of the {usual})"
    return Option("--columns NAME,...", f"columns to {use}: {names}, with commas between them {usual}")


def jobs(what: str, needs: str = "") -> Option:
    return Option("--jobs N", f"{what}; -1: one per core", default=1, least=-1, needs=needs)


def checkpoint(kept: str) -> tuple[Option, Option]:
    resume = "resume from the state in --checkpoint DIR, if there is one"
    return Option("--checkpoint DIR", f"keep {kept}"), Option("--resume", resume)


WORKERS = (
    Heading("parallelism; does not change results"),
    jobs("processes"),
    Option("--backend NAME", "processes (default); dask: a cluster", choices=BACKENDS, default=BACKENDS[0]),
    Option("--scheduler ADDRESS", "address of the Dask cluster: tcp://host:8786"),
)

# Options without effect on the model in any command, beside outputs; and what a command adds to them.
_WITHOUT_EFFECT = {"jobs", "backend", "scheduler", "checkpoint", "resume", "work", "clean", "verbose"}
_WITHOUT_EFFECT |= {"suggest_sentences", "weights", "module", "own_parser", "unread", "command"}
_LOOKED_AT = 1000  # sentences that identify the language


def values_of(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def rng_of(options: argparse.Namespace) -> Rng:
    return np.random.default_rng(options.seed)


def workers_of(options: argparse.Namespace) -> Workers:
    return Workers(**values_of(options, "jobs", "backend", "scheduler"))


def warn_trained_on_dev(options: argparse.Namespace) -> None:
    if options.dev in options.treebanks:
        notice(f"{options.dev} is trained on; --dev needs other sentences, else training stops too late")


def check_no_text_options(options: argparse.Namespace, *names: str) -> None:
    for name, value in values_of(options, *names).items():
        if value not in (None, False):
            raise UsageError(f"--{name.replace('_', '-')} is for plain text, found CoNLL-U; leave it out")


def checkpoint_of(options: argparse.Namespace) -> "Checkpoint | None":
    from qsproj.models.checkpoint import Checkpoint

    if options.checkpoint is None:
        if options.resume:
            raise UsageError("--resume needs the folder of the run to go on from; add --checkpoint DIR")
        return None
    checkpoint = Checkpoint(folder=Path(options.checkpoint), resume=options.resume)
    found = checkpoint.stages()
    if found and not options.resume:
        state = f"the state of an earlier run ({', '.join(found)}), which would be replaced"
        remedy = "go on from it with --resume, or name another folder"
        raise UsageError(f"{checkpoint.folder}: found {state}; {remedy}")
    if options.resume and not found:
        notice(f"{checkpoint.folder}: found no state to resume from; starting from the beginning")
    return checkpoint


def provenance_of(options: argparse.Namespace, **facts: Any) -> dict[str, Any]:
    """Return the reproducible provenance of a model: command, version, options with an effect, ``facts``."""
    outputs = {action.dest for action in options.own_parser._actions if hasattr(action, "writes")}
    without_effect = _WITHOUT_EFFECT.union(getattr(options, "unread", ()), outputs)
    own = ((name, value) for name, value in sorted(vars(options).items()) if name not in without_effect)
    usual = options.own_parser.get_default
    kept = {
        name: _plain(value)
        for name, value in own
        if value not in (None, False, []) or value != usual(name)  # a default of 0 has no effect
    }
    return {"command": options.command, "version": __version__, "options": kept, **facts}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str) and ("/" in value or "\\" in value or value.endswith(PACKED)):
        path = Path(value)
        return path.stem if path.suffix in PACKED else path.name
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def languages_of(sentences: Iterable[Sentence]) -> dict[str, float]:
    return recognise(" ".join(sentence.forms) for sentence in islice(sentences, _LOOKED_AT)).likely()
