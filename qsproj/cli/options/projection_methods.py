"""The methods of ``qsproj project``: for each its name, what it is, its options, and how it is called."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from qsproj.cli.options.common import number, whole_number
from qsproj.cli.options.projection_em import EM_READS, Sources, add_em_options, hard_em, qg, tags_only
from qsproj.errors import UsageError

if TYPE_CHECKING:
    from qsproj.pipelines.projection.projected import Projected

ARC_READS = ("completion", "min_weight", "min_attached")


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
    arcs = parser.add_argument_group("--method hard, hard-em")
    arcs.add_argument(
        "--completion",
        default="none",
        metavar="NAME",
        help="none: one-to-one links only (default); hwa: Hwa et al.'s Direct Projection Algorithm",
    )
    arcs.add_argument(
        "--min-weight",
        type=number(least=0.0, most=1.0),
        default=0.5,
        metavar="P",
        help="follow links of this weight, where links have weights (default: 0.5)",
    )
    arcs.add_argument(
        "--min-attached",
        type=number(least=0.0, most=1.0),
        default=0.8,
        metavar="X",
        help="train on sentences with heads for this share of their words; 1: whole trees (default: 0.8)",
    )
    group = parser.add_argument_group("--method hard")
    group.add_argument(
        "--max-sentences",
        type=whole_number(least=1),
        default=20000,
        metavar="N",
        help="train on the N densest at most (default: 20000)",
    )
    group.add_argument(
        "--nonprojective",
        action="store_true",
        help="the parser may cross arcs (default: no, since most crossings in projected trees are wrong)",
    )
    group.add_argument(
        "--epochs", type=whole_number(least=1), default=5, metavar="N", help="passes over them (default: 5)"
    )


def no_more_options(_: argparse.ArgumentParser) -> None:
    """Declare nothing: another row has declared what this one reads."""


def hard(sources: Sources, options: argparse.Namespace) -> Projected:
    """Project arcs through links, train a discriminative parser on them."""
    import numpy as np

    from qsproj.models.arc.arc_training import TrainingOptions
    from qsproj.pipelines.projection.project import HardProjectionOptions, project_hard

    (pairs,) = sources
    return project_hard(
        pairs,
        rng=np.random.default_rng(options.seed),
        completion=options.completion,
        min_weight=options.min_weight,
        selection=HardProjectionOptions(
            min_attached=options.min_attached, max_sentences=options.max_sentences
        ),
        training=TrainingOptions(epochs=options.epochs, projective=not options.nonprojective),
        trees=options.trees,
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
        "its own --prior (default: one trained on the trees of each source)",
    )
    group.add_argument(
        "--strength",
        type=number(least=0.0),
        default=1.5,
        metavar="X",
        help="natural log of how much likelier an arc becomes by certain evidence (default: 1.5)",
    )
    group.add_argument(
        "--sentences",
        type=whole_number(least=1),
        default=8000,
        metavar="N",
        help="learn from the N pairs on which evidence and parser agree most (default: 8000)",
    )
    group.add_argument(
        "--rounds",
        type=whole_number(least=1),
        default=2,
        metavar="N",
        help="choose and learn N times, from the second on by the parser of the last (default: 2)",
    )
    group.add_argument(
        "--qg",
        action="store_true",
        help="weigh what links carry over by the posteriors of a grammar as of --method qg, learned from the "
        "same pairs (default: no; it gains up to half a point or loses a quarter)",
    )


def soft(sources: Sources, options: argparse.Namespace) -> Projected:
    """Move a prior of other languages by what links carry over."""
    import numpy as np

    from qsproj.pipelines.projection.soft_grammar import train_grammar
    from qsproj.pipelines.projection.soft_prior import join_priors, load_prior, train_prior
    from qsproj.pipelines.projection.soft_projection import SoftProjectionOptions, project_soft
    from qsproj.pipelines.projection.soft_sources import JoinedSources

    rng = np.random.default_rng(options.seed)
    members = [load_prior(path) for path in options.prior]
    targets = dict.fromkeys(files.target for files in sources)
    if options.qg and len(targets) > 1:
        raise UsageError("--qg weighs the translations of one --target; leave it out, or join the files")
    return project_soft(
        JoinedSources(
            tuple(tuple(files for files in sources if files.target == target) for target in targets)
        ),
        prior=join_priors(
            members or [train_prior(pairs, rng=rng) for pairs in sources],
            projective=not options.nonprojective,
        ),
        grammars=tuple(map(train_grammar, sources)) if options.qg else (),
        rng=rng,
        options=SoftProjectionOptions(
            strength=options.strength, sentences=options.sentences, rounds=options.rounds
        ),
        trees=options.trees,
    )


METHODS: dict[str, Method] = {
    "hard": Method(
        "arcs through links, and a parser trained on them",
        add_hard_options,
        (*ARC_READS, "max_sentences", "nonprojective", "epochs"),
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
    "soft": Method(
        "a parser of other languages, moved by arcs of uncertain links",
        add_soft_options,
        ("prior", "strength", "sentences", "rounds", "qg", "nonprojective"),
        soft,
    ),
}


def refuse_unread_options(options: argparse.Namespace) -> None:
    """Raise UsageError when an option was given that the chosen method does not read.

    ``options.unless_given`` holds the defaults: who gives one of these changes nothing.
    """
    for name, default in options.unless_given.items():
        if name in METHODS[options.method].reads or getattr(options, name) == default:
            continue
        readers = ", ".join(method for method, row in METHODS.items() if name in row.reads)
        raise UsageError(
            f"--{name.replace('_', '-')} belongs to --method {readers}; leave it out with {options.method}"
        )
