"""Options of trainings that can be interrupted: ``--checkpoint DIR`` and ``--resume``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from qsproj.errors import UsageError

if TYPE_CHECKING:
    from qsproj.models.checkpoint import Checkpoint


def add_checkpoint(parser: argparse._ActionsContainer, *, kept: str) -> None:
    """Add both options; ``kept`` says what is written, and when."""
    parser.add_argument("--checkpoint", type=Path, metavar="DIR", help=f"write {kept}")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the state in --checkpoint DIR, where there is one"
    )


def checkpoint_of(options: argparse.Namespace) -> Checkpoint | None:
    """Return where the state is kept; None: nowhere.

    Raises
    ------
    UsageError
        When it is to be gone on with from no folder.
    """
    from qsproj.models.checkpoint import Checkpoint

    if options.checkpoint is not None:
        return Checkpoint(folder=options.checkpoint, resume=options.resume)
    if options.resume:
        raise UsageError("--resume needs the folder of the run to go on from; add --checkpoint DIR")
    return None
