"""The methods of ``qsproj project``: for each its name, what it is, its options, and how it is called."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from qsproj.cli.options.common import add_files, add_order, add_whole_number
from qsproj.cli.options.fields import add_fields, values_of
from qsproj.cli.options.projection_em import (
    ARC_READS,
    EM_READS,
    Sources,
    add_em_options,
    hard_em,
    projected_arcs,
    qg,
    tags_only,
)
from qsproj.corpus.formats import read_all
from qsproj.pipelines.projection.method_options import (
    HARD_EPOCHS,
    HardProjectionOptions,
    SoftProjectionOptions,
)

if TYPE_CHECKING:
    from qsproj.pipelines.projection.projected import Projected


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
