"""Options of what scores are trained for, and which of them each objective reads."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from qsproj.cli.options.common import add_number, add_whole_number, number, whole_number
from qsproj.models.arc import arc_objectives
from qsproj.models.arc.arc_objectives import objective_named

if TYPE_CHECKING:
    from qsproj.models.arc.training_options import TrainingOptions

# Steps of optimisers that look at all sentences before each.
BATCH_STEPS = 60

# How much a sentence of --unlabelled counts unless told.
ENTROPY = 0.1


def objective_ways() -> dict[str, tuple[str, ...]]:
    """Return what each objective reads that not all do."""
    return {
        f"--objective {one.name}": one.reads if one.margin is None else (*one.reads, "labels")
        for one in arc_objectives.OBJECTIVES
    }


def _defaults(field: str) -> str:
    """Return what a number is unless given, by most objectives and by each of the others."""
    usual = getattr(arc_objectives.OBJECTIVES[0], field)
    others = sorted(
        (getattr(one, field), one.name) for one in arc_objectives.OBJECTIVES if getattr(one, field) != usual
    )
    return f"(default: {usual:g}; {', '.join(f'{name} {value:g}' for value, name in others)})"


def add_objective_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--objective`` and what objectives read."""
    parser.add_argument(
        "--objective",
        default="margin",
        metavar="NAME",
        help="what scores are trained for, explained below (default: margin)",
    )
    add_whole_number(
        parser,
        "--best",
        least=1,
        default=5,
        metavar="K",
        help="with mira-kbest, number of best trees used as rivals",
    )
    parser.add_argument(
        "--limit",
        type=number(least=1e-6),
        default=0.01,
        metavar="C",
        help="with the kinds of mira, how far one margin may move the weights (default: 0.01)",
    )
    add_whole_number(
        parser,
        "--clusters",
        least=1,
        default=2,
        help="with hidden, how many clusters an arc may be in, up to 64; training takes 80 MB for each",
    )
    add_number(
        parser, "--cost", least=1e-6, metavar="C", default=0.01, help="what eg pays for a missed margin"
    )
    parser.add_argument(
        "--optimizer",
        default="sgd",
        metavar="NAME",
        help="of objectives with a gradient: sgd steps after each sentence (default); lbfgs and cg look at "
        "all of them before each step, of which there are 60 unless --epochs says otherwise",
    )
    parser.add_argument(
        "--epochs",
        type=whole_number(least=1),
        metavar="N",
        help=f"passes over the data {_defaults('epochs')}",
    )
    add_whole_number(
        parser,
        "--cutoff",
        least=0,
        default=0,
        help="keep features that occur N times (see --support); 0: all; 1 or more makes small models",
    )
    parser.add_argument(
        "--support",
        default="trees",
        metavar="NAME",
        help="what --cutoff counts: trees, right arcs (default); links, all candidate arcs; short, those "
        "of up to 5 words; sentences, those that have such an arc",
    )
    add_number(parser, "--l2", least=0.0, most=1e6, help=f"strength of the L2 penalty {_defaults('l2')}")
    add_number(
        parser,
        "--l1",
        least=0.0,
        most=1e6,
        default=0.0,
        help="strength of the L1 penalty: makes small models",
    )
    parser.add_argument(
        "--unlabelled",
        metavar="FILE",
        help="unlabelled CoNLL-U; adds an entropy penalty, so that the parser is sure of these sentences",
    )
    add_number(
        parser,
        "--entropy",
        least=0.0,
        most=1e6,
        default=ENTROPY,
        help="how much a sentence of --unlabelled counts",
    )


def training_options(options: argparse.Namespace) -> TrainingOptions:
    """Bundle what was given."""
    from qsproj.models.arc.training_options import TrainingOptions

    objective = objective_named(options.objective)
    return TrainingOptions(
        template_set=options.features,
        objective=options.objective,
        best=options.best,
        limit=options.limit,
        cost=options.cost,
        clusters=options.clusters,
        optimizer=options.optimizer,
        entropy=options.entropy,
        l1=options.l1,
        epochs=options.epochs or (objective.epochs if options.optimizer == "sgd" else BATCH_STEPS),
        cutoff=options.cutoff,
        support=options.support,
        l2=objective.l2 if options.l2 is None else options.l2,
        projective=_choice(yes=options.projective, no=options.nonprojective),
        single_root=_choice(yes=options.single_root, no=options.multi_root),
    )


def _choice(*, yes: bool, no: bool) -> bool | None:
    """Turn a pair of opposite switches into True, False, or None where neither is given."""
    return True if yes else False if no else None
