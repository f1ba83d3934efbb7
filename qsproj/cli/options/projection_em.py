"""The methods of ``qsproj project`` that learn by EM: their options, and how they are called."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from qsproj.cli.options.checkpoints import add_checkpoint, checkpoint_of
from qsproj.cli.options.common import add_number, add_whole_number, workers_of
from qsproj.errors import UsageError
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.pipelines.projection.method_options import EM_FROM_ARCS, EM_FROM_TAGS, ProjectedArcs

if TYPE_CHECKING:
    import numpy as np

    from qsproj.corpus.pairs.aligned import AlignedFiles, TargetAlone
    from qsproj.models.checkpoint import Checkpoint, EMRun
    from qsproj.pipelines.projection.projected import Projected

# The sentence pairs of each source with its target; all methods but one take the pairs of a single source.
Sources: TypeAlias = "tuple[AlignedFiles | TargetAlone, ...]"
Options = TypeVar("Options", DmvOptions, QgOptions)

DEFAULTS: dict[str, DmvOptions | QgOptions] = {
    "em": EM_FROM_TAGS,
    "hard-em": EM_FROM_ARCS,
    "qg": QgOptions(),
}
# Options that are called as the fields of DmvOptions and QgOptions that they set.
FIELDS = ("iterations", "start", "max_words", "punctuation")
ARC_READS = ("completion", "min_weight", "min_attached")
EM_READS = (*FIELDS, "checkpoint", "resume", "jobs", "backend", "scheduler")


def add_em_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``em``, ``hard-em`` and ``qg`` read."""
    group = parser.add_argument_group("--method em, hard-em, qg")
    add_whole_number(
        group,
        "--iterations",
        least=0,
        help=f"of EM, at most ({_defaults('iterations')}); with 0 what it starts from: hard-em and qg then "
        "count whole projected trees",
    )
    group.add_argument(
        "--start",
        metavar="NAME",
        help="what EM starts from: trees, counts of whole projected trees (hard-em, qg); harmonic, nearby "
        "tags attract each other (em, hard-em); uniform, no preference, but in qg for the heads of the "
        f"source, as in the thesis ({_defaults('start')})",
    )
    add_whole_number(
        group,
        "--longest",
        dest="max_words",
        least=1,
        help=f"leave out target sentences of more words ({_defaults('max_words')})",
    )
    group.add_argument(
        "--punctuation",
        metavar="NAME",
        help="strip: leave it out, attach it by rule when parsing; keep: learn it as any word "
        f"({_defaults('punctuation')})",
    )
    add_checkpoint(group, kept="the state of EM there after each iteration")
    add_number(
        parser.add_argument_group("--method qg"),
        "--min-linked",
        least=0.0,
        most=1.0,
        default=QgOptions().min_linked,
        help="learn from pairs in which this share of the target words is linked, a link counting as much as "
        "it weighs; align with --threshold 0.15 --weights",
    )


def _defaults(field: str) -> str:
    """Say what is the default of each method."""
    by_method = {method: getattr(options, field) for method, options in DEFAULTS.items()}
    if len(set(by_method.values())) == 1:
        return f"default: {by_method['em']}"
    return f"default: {', '.join(f'{method} {value}' for method, value in by_method.items())}"


def projected_arcs(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of the arcs that are carried over, by the fields of ProjectedArcs."""
    return {name: getattr(options, name) for name in ARC_READS}


def tags_only(sources: Sources, options: argparse.Namespace) -> Projected:
    """Learn from the target's tags alone."""
    from qsproj.pipelines.projection.em_projection import project_tags_only

    (pairs,) = sources
    training = _changed(EM_FROM_TAGS, options)
    return project_tags_only(pairs, training=training, rng=_rng(options), run=_run(options))


def hard_em(sources: Sources, options: argparse.Namespace) -> Projected:
    """Hold projected arcs fixed, impute the rest."""
    from qsproj.pipelines.projection.em_projection import project_hard_em

    (pairs,) = sources
    return project_hard_em(
        pairs,
        projection=ProjectedArcs(**projected_arcs(options)),
        training=_changed(EM_FROM_ARCS, options),
        rng=_rng(options),
        run=_run(options),
    )


def qg(sources: Sources, options: argparse.Namespace) -> Projected:
    """Learn how the target's trees correspond to the source's."""
    from qsproj.pipelines.projection.qg_projection import project_qg

    (pairs,) = sources
    training = _changed(QgOptions(min_linked=options.min_linked), options)
    return project_qg(pairs, training=training, rng=_rng(options), run=_run(options))


def _rng(options: argparse.Namespace) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(options.seed)


def _changed(defaults: Options, options: argparse.Namespace) -> Options:
    """Return a method's defaults with what was given in their place."""
    given = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    return replace(defaults, **given)


def _run(options: argparse.Namespace) -> EMRun:
    """Return who computes and where the state is kept: the same for all methods."""
    from qsproj.models.checkpoint import EMRun

    return EMRun(workers=workers_of(options), checkpoint=_checkpoint(options))


def _checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    checkpoint = checkpoint_of(options)
    if checkpoint is not None and options.iterations == 0:
        raise UsageError("--checkpoint keeps iterations of EM, found --iterations 0; leave one of them out")
    return checkpoint
