"""Options of several commands, with the same meaning and help in each."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.cli.options.numbers import whole_number
from qsproj.errors import UsageError
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.models.checkpoint import Checkpoint
    from qsproj.parallel import Workers


def add_seed(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(least=0),
        default=1,
        help="random seed; the same seed gives the same bytes (default: 1)",
    )


def add_pairing(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--pair",
        metavar="HOW",
        default="id",
        help="pair CoNLL-U by id: parallel_id, else sent_id, else order (default), or by order",
    )


def add_order(options: argparse._ActionsContainer, help: str) -> argparse.Action:
    return options.add_argument("--order", type=whole_number(least=1), choices=(1, 2), default=1, help=help)


def add_jobs(options: argparse._ActionsContainer, what: str = "processes") -> argparse.Action:
    return options.add_argument(
        "--jobs",
        metavar="N",
        type=whole_number(least=-1),
        default=1,
        help=f"{what}; -1: one per core (default: 1)",
    )


def add_workers(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add ``--jobs``, ``--backend`` and ``--scheduler``; read them with :func:`workers_of`."""
    group = parser.add_argument_group("parallelism; does not change results")
    add_jobs(group)
    group.add_argument(
        "--backend",
        metavar="NAME",
        default="processes",
        help="processes on this machine (default), or dask: a cluster",
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="address of the Dask cluster: tcp://host:8786")
    return group


def workers_of(options: argparse.Namespace) -> Workers:
    """Return the workers given by the options; raise UsageError for conflicting options."""
    from qsproj.parallel import Workers

    return Workers(jobs=options.jobs, backend=options.backend, scheduler=options.scheduler)


def add_checkpoint(parser: argparse._ActionsContainer, *, kept: str) -> None:
    """Add ``--checkpoint`` and ``--resume``; ``kept`` describes the checkpoint in the help."""
    parser.add_argument("--checkpoint", type=Path, metavar="DIR", help=f"keep {kept}")
    parser.add_argument(
        "--resume", action="store_true", help="resume from the state in --checkpoint DIR, if there is one"
    )


def checkpoint_of(options: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint, None without ``--checkpoint``; report if there is no state to resume from."""
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
        notice(f"{options.checkpoint}: found no state to resume from; starting from the beginning")
    return checkpoint
