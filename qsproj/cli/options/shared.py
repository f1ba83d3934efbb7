"""Options of several commands, with the same meaning and help in each."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.cli.options.declare import OptionGroup, Options, column_names, whole_number
from qsproj.corpus.pairs.pairing import PAIRINGS
from qsproj.errors import UsageError
from qsproj.parallel import BACKENDS, Workers
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.models.checkpoint import Checkpoint


def add_seed(parser: Options) -> None:
    parser.option("--seed N", "random seed; the same seed gives the same bytes", default=1, least=0)


def add_pairing(parser: Options) -> None:
    parser.option(
        "--pair HOW",
        "pair CoNLL-U by id: parallel_id, else sent_id, else order (default), or by order",
        choices=PAIRINGS,
        default=PAIRINGS[0],
    )


def add_language(parser: Options, of: str) -> None:
    parser.option(
        "--language CODE",
        f"{of}, two or three letters; languages without sacremoses rules are tokenised like English",
    )


def add_lemmatizer(parser: Options, *, others: str) -> None:
    parser.option(
        "--lemmatizer NAME",
        "simplemma (pip install 'qsproj[lemmas]'): lemmas of some fifty languages, for words missing "
        f"from {others}",
    )


def warn_trained_on_dev(options: argparse.Namespace) -> None:
    if options.dev in options.treebanks:
        notice(f"{options.dev} is trained on; --dev needs other sentences, else training stops too late")


def add_columns(parser: Options, use: str, names: str, *, usual: str) -> None:
    help = f"columns to {use}: {names}, with commas between them (default: all columns of the {usual})"
    parser.option("--columns NAME,...", help, type=column_names)


def add_text_reading(parser: Options) -> None:
    parser.option(
        "--language CODE", "language of plain text, two or three letters (default: the model's language)"
    )
    parser.option(
        "--paragraphs", "split running text into sentences, by the tagger if it was trained to, else by rules"
    )
    parser.option(
        "--segmentations K",
        "write the K most probable word segmentations of each line of plain text, numbered 7.1, 7.2 ... "
        "for line 7, with their probabilities in a comment; needs a model with a trained tokenizer",
    )


def check_no_text_options(options: argparse.Namespace, *names: str) -> None:
    for name in names:
        if getattr(options, name) not in (None, False):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} is for plain text, found CoNLL-U; leave it out")


def add_order(options: Options, help: str) -> argparse.Action:
    return options.option("--order", help, choices=(1, 2), default=1, type=whole_number(least=1))


def add_jobs(options: Options, what: str = "processes") -> argparse.Action:
    return options.option("--jobs N", f"{what}; -1: one per core", default=1, least=-1)


def add_workers(parser: Options) -> OptionGroup:
    group = parser.add_argument_group("parallelism; does not change results")
    add_jobs(group)
    group.option(
        "--backend NAME",
        "processes on this machine (default), or dask: a cluster",
        choices=BACKENDS,
        default=BACKENDS[0],
    )
    group.option("--scheduler ADDRESS", "address of the Dask cluster: tcp://host:8786")
    return group


def workers_of(options: argparse.Namespace) -> Workers:
    return Workers(jobs=options.jobs, backend=options.backend, scheduler=options.scheduler)


def add_checkpoint(parser: Options, *, kept: str) -> None:
    parser.option("--checkpoint DIR", f"keep {kept}", type=Path)
    parser.option("--resume", "resume from the state in --checkpoint DIR, if there is one")


def checkpoint_of(options: argparse.Namespace) -> Checkpoint | None:
    from qsproj.models.checkpoint import Checkpoint

    if options.checkpoint is None:
        if options.resume:
            raise UsageError("--resume needs the folder of the run to go on from; add --checkpoint DIR")
        return None
    checkpoint = Checkpoint(folder=options.checkpoint, resume=options.resume)
    found = checkpoint.stages()
    if found and not options.resume:
        state = f"the state of an earlier run ({', '.join(found)}), which would be replaced"
        remedy = "go on from it with --resume, or name another folder"
        raise UsageError(f"{options.checkpoint}: found {state}; {remedy}")
    if options.resume and not found:
        notice(f"{options.checkpoint}: found no state to resume from; starting from the beginning")
    return checkpoint


def add_address(parser: Options) -> None:
    parser.option("--host ADDRESS", "address of the server (default: 127.0.0.1)", default="127.0.0.1")
    parser.option("--port N", "port of the server; 0: any free port", default=8001, least=0)
    parser.option("--seconds S", "time limit of a request", default=60, least=0.01)


def add_reviewing(group: Options) -> None:
    group.option("--train-after N", "number of reviewed sentences needed for training", default=10)
    group.option(
        "--reviewer NAME", 'add the comment "# reviewed_by = NAME" to confirmed sentences', former="--by"
    )
