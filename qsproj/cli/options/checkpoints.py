"""Options of trainings that can be interrupted: ``--checkpoint DIR`` and ``--resume``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.errors import UsageError
from qsproj.progress import notice

if TYPE_CHECKING:
    from qsproj.models.checkpoint import Checkpoint


def add_checkpoint(parser: argparse._ActionsContainer, *, kept: str) -> None:
    """Add both options; ``kept`` says what is written, and when."""
    parser.add_argument("--checkpoint", type=Path, metavar="DIR", help=f"keep {kept}")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the state in --checkpoint DIR, where there is one"
    )


def checkpoint_of(options: argparse.Namespace) -> Checkpoint | None:
    """Return where the state is kept; None: nowhere. Tell where there is none to go on from.

    Raises UsageError when no folder is named to go on from, or the state of another run would be replaced.
    """
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
