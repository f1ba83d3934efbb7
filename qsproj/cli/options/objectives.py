"""Options of what scores are trained for, and which of them each objective reads."""

from __future__ import annotations

import argparse

from qsproj.cli.options.fields import add_fields, values_of
from qsproj.models.arc import arc_objectives
from qsproj.models.arc.arc_objectives import objective_named
from qsproj.models.arc.training_options import TrainingOptions

# Steps of optimisers that look at all sentences before each.
BATCH_STEPS = 60

# Fields of TrainingOptions that have an option of their name, as help lists them.
FIELDS = (
    *("objective", "best", "limit", "clusters", "cost", "optimizer", "epochs", "cutoff", "support"),
    *("l2", "l1", "entropy"),
)


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
    usual = TrainingOptions()
    by_objective = {name: _defaults(name) for name in ("epochs", "l2")}
    add_fields(parser, usual, *FIELDS[:-1], by_way=by_objective)
    parser.add_argument(
        "--unlabelled",
        metavar="FILE",
        help="unlabelled CoNLL-U; adds an entropy penalty, so that the parser is sure of these sentences",
    )
    add_fields(parser, usual, FIELDS[-1])


def training_options(options: argparse.Namespace) -> TrainingOptions:
    """Bundle what was given."""
    objective = objective_named(options.objective)
    given = values_of(options, *FIELDS)
    given["epochs"] = options.epochs or (objective.epochs if options.optimizer == "sgd" else BATCH_STEPS)
    given["l2"] = objective.l2 if options.l2 is None else options.l2
    return TrainingOptions(
        **given,
        template_set=options.features,
        projective=_choice(yes=options.projective, no=options.nonprojective),
        single_root=_choice(yes=options.single_root, no=options.multi_root),
    )


def _choice(*, yes: bool, no: bool) -> bool | None:
    """Turn a pair of opposite switches into True, False, or None where neither is given."""
    return True if yes else False if no else None
