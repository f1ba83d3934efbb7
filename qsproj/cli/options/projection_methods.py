"""The methods of ``qsproj project``: for each its name, what it is, its options, and how it is called."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from qsproj.cli.options.common import (
    add_checkpoint,
    add_fields,
    add_files,
    add_order,
    add_whole_number,
    checkpoint_of,
    values_of,
    workers_of,
)
from qsproj.corpus.formats import read_all
from qsproj.errors import UsageError
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.pipelines.projection.method_options import (
    EM_FROM_ARCS,
    EM_FROM_TAGS,
    HARD_EPOCHS,
    HardProjectionOptions,
    ProjectedArcs,
    SoftProjectionOptions,
)

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
# Fields of HardProjectionOptions and SoftProjectionOptions that have an option of their name.
ARCS = ("min_weight", "min_attached")
HARD = ("max_sentences",)
SOFT = ("strength", "sentences", "rounds", "share")


class Method(NamedTuple):
    """A row of METHODS.

    ``reads`` names the options that not all methods read. ``project`` gets the sentence pairs of each source,
    which can be iterated again, and all options of the command.
    """

    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    reads: tuple[str, ...]
    project: Callable[[Sources, argparse.Namespace], Projected]


def add_hard_options(parser: argparse.ArgumentParser) -> None:
    """Declare what ``hard`` reads, and ``hard-em`` in part."""
    defaults = HardProjectionOptions()
    arcs = parser.add_argument_group("--method hard, hard-em")
    arcs.add_argument(
        "--completion",
        default=defaults.completion,
        metavar="NAME",
        help="none: one-to-one links only (default); hwa: Hwa et al.'s Direct Projection Algorithm",
    )
    add_fields(arcs, defaults, *ARCS)
    group = parser.add_argument_group("--method hard")
    add_fields(group, defaults, *HARD)
    group.add_argument(
        "--nonprojective",
        action="store_true",
        help="the parser may cross arcs (default: no, since most crossings in projected trees are wrong)",
    )
    add_whole_number(group, "--epochs", least=1, default=HARD_EPOCHS, help="passes over them")


def no_more_options(_: argparse.ArgumentParser) -> None:
    """Declare nothing: another row has declared what this one reads."""


def hard(sources: Sources, options: argparse.Namespace) -> Projected:
    """Project arcs through links, train a discriminative parser on them."""
    import numpy as np

    from qsproj.models.arc.training_options import TrainingOptions
    from qsproj.pipelines.projection.project import project_hard

    (pairs,) = sources
    return project_hard(
        pairs,
        rng=np.random.default_rng(options.seed),
        projection=HardProjectionOptions(**projected_arcs(options), **values_of(options, *HARD)),
        training=TrainingOptions(epochs=options.epochs, projective=not options.nonprojective),
    )


def add_soft_options(parser: argparse.ArgumentParser) -> None:
    """Declare what only ``soft`` reads."""
    group = parser.add_argument_group("--method soft", "--nonprojective counts here, too")
    group.add_argument(
        "--prior",
        action="append",
        default=[],
        metavar="MODEL",
        help="a parser of another language, trained with --features delexicalised; several vote, each with "
        "its own --prior (default: two trained on the trees of each source, with its words translated)",
    )
    add_fields(group, SoftProjectionOptions(), *SOFT)
    add_files(
        group,
        "--annotated",
        "the few target trees that there are, in the style of the source: they fine-tune the parser",
    )
    add_order(
        group,
        "2: factors over several arcs are learned from the links as well; parsing then takes several times "
        "as long (default: 1)",
    )


def soft(sources: Sources, options: argparse.Namespace) -> Projected:
    """Move a prior of other languages by what links carry over."""
    import numpy as np

    from qsproj.pipelines.projection.soft_prior import load_prior
    from qsproj.pipelines.projection.soft_projection import project_soft
    from qsproj.pipelines.projection.soft_sources import soft_sources

    targets = dict.fromkeys(files.target for files in sources)
    rng = np.random.default_rng(options.seed)
    return project_soft(
        soft_sources(
            [[files for files in sources if files.target == target] for target in targets],
            rng=rng,
            priors=[load_prior(path) for path in options.prior],
        ),
        rng=rng,
        options=SoftProjectionOptions(
            **values_of(options, *SOFT), projective=not options.nonprojective, order=options.order
        ),
        annotated=list(read_all(options.annotated)),
    )


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
    add_fields(parser.add_argument_group("--method qg"), QgOptions(), "min_linked")


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


# The one that is chosen unless another is named, first.
METHODS: dict[str, Method] = {
    "soft": Method(
        "starts from other languages' parsers, adjusted by projected arcs",
        add_soft_options,
        ("prior", *SOFT, "annotated", "order", "nonprojective"),
        soft,
    ),
    "hard": Method(
        "arcs through links, and a parser trained on them",
        add_hard_options,
        (*ARC_READS, *HARD, "nonprojective", "epochs"),
        hard,
    ),
    "hard-em": Method(
        "a DMV, projected arcs given, the rest imputed by EM",
        no_more_options,
        (*ARC_READS, *EM_READS),
        hard_em,
    ),
    "qg": Method(
        "a DMV, learned through source trees and links by EM", add_em_options, (*EM_READS, "min_linked"), qg
    ),
    "em": Method("a DMV, learned from tags alone", no_more_options, EM_READS, tags_only),
}


DEFAULT_METHOD = next(iter(METHODS))
# The one that needs no source.
TARGET_ALONE = "em"
# What each method reads that not all do.
WAYS = {f"--method {name}": method.reads for name, method in METHODS.items()}
