"""The methods of ``qsproj project`` that learn by EM: their options, and how they are called."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from qsproj.cli.options.common import number, whole_number

if TYPE_CHECKING:
    from qsproj.corpus.pairing import AlignedFiles
    from qsproj.models.dmv.em_checkpoint import Checkpoint
    from qsproj.pipelines.projection.projected import Projected

# The sentence pairs of each source with its target; all methods but one take the pairs of a single source.
Sources: TypeAlias = "tuple[AlignedFiles, ...]"

EM_READS = (
    *("iterations", "longest", "punctuation", "checkpoint", "resume"),
    *("jobs", "backend", "scheduler"),
)


def add_em_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``em``, ``hard-em`` and ``qg`` read."""
    group = parser.add_argument_group("--method em, hard-em, qg")
    group.add_argument(
        "--iterations",
        type=whole_number(least=0),
        metavar="N",
        help="of EM, at most (default: em 50, hard-em 1, qg 1); hard-em with 0: count whole projected trees",
    )
    group.add_argument(
        "--longest",
        type=whole_number(least=1),
        metavar="N",
        help="leave out target sentences of more words (default: em 15, hard-em and qg 40)",
    )
    group.add_argument(
        "--punctuation",
        default="strip",
        metavar="NAME",
        help="strip: leave it out, attach it by rule when parsing (default); keep: learn it as any word",
    )
    group.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="write the state of EM there after each iteration"
    )
    group.add_argument(
        "--resume", action="store_true", help="go on from the state in --checkpoint DIR, where there is one"
    )
    qg = parser.add_argument_group("--method qg")
    qg.add_argument(
        "--min-linked",
        type=number(least=0.0, most=1.0),
        default=0.8,
        metavar="X",
        help="learn from pairs in which this share of the target words is linked, a link counting as much as "
        "it weighs (default: 0.8); align with --threshold 0.15 --weights",
    )


def tags_only(sources: Sources, options: argparse.Namespace) -> Projected:
    """Learn from the target's tags alone."""
    from qsproj.cli.options.common import workers_of
    from qsproj.models.dmv.dmv_training import DmvOptions
    from qsproj.pipelines.projection.em_projection import project_tags_only

    (pairs,) = sources
    training = DmvOptions(
        iterations=_or_default(options.iterations, 50),
        max_words=_or_default(options.longest, 15),
        punctuation=options.punctuation,
    )
    return project_tags_only(
        pairs,
        training=training,
        workers=workers_of(options),
        checkpoint=_checkpoint(options),
        trees=options.trees,
    )


def hard_em(sources: Sources, options: argparse.Namespace) -> Projected:
    """Hold projected arcs fixed, impute the rest."""
    from qsproj.cli.options.common import workers_of
    from qsproj.models.dmv.dmv_training import DmvOptions
    from qsproj.pipelines.projection.em_projection import HardEmOptions, project_hard_em

    (pairs,) = sources
    training = DmvOptions(
        initialiser="trees",
        keep_heads=True,
        iterations=_or_default(options.iterations, 1),
        max_words=_or_default(options.longest, 40),
        punctuation=options.punctuation,
    )
    return project_hard_em(
        pairs,
        projection=HardEmOptions(
            completion=options.completion,
            min_weight=options.min_weight,
            min_attached=options.min_attached,
        ),
        training=training,
        workers=workers_of(options),
        checkpoint=_checkpoint(options),
        trees=options.trees,
    )


def qg(sources: Sources, options: argparse.Namespace) -> Projected:
    """Learn how the target's trees correspond to the source's."""
    from qsproj.cli.options.common import workers_of
    from qsproj.models.qg_dmv.qg_dmv_training import QgOptions
    from qsproj.pipelines.projection.qg_projection import project_qg

    (pairs,) = sources
    training = QgOptions(
        iterations=_or_default(options.iterations, 1),
        max_words=_or_default(options.longest, 40),
        min_linked=options.min_linked,
        punctuation=options.punctuation,
    )
    return project_qg(
        pairs,
        training=training,
        workers=workers_of(options),
        checkpoint=_checkpoint(options),
        trees=options.trees,
    )


def _or_default(value: int | None, default: int) -> int:
    return default if value is None else value


def _checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    from qsproj.errors import UsageError
    from qsproj.models.dmv.em_checkpoint import Checkpoint

    if options.checkpoint is None:
        if options.resume:
            raise UsageError("--resume needs the folder of the run to go on from; add --checkpoint DIR")
        return None
    if options.iterations == 0:
        raise UsageError("--checkpoint keeps iterations of EM, found --iterations 0; leave one of them out")
    return Checkpoint(folder=options.checkpoint, resume=options.resume)
