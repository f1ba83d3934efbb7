"""What first-order parsers can be trained for: all that is known of an objective is in its row of OBJECTIVES.

The command line, the Python functions and training ask the rows, none of them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qsproj.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from qsproj.models.arc.arc_examples import Lesson, RightTrees
    from qsproj.models.arc.training_options import TrainingOptions
    from qsproj.training.optimiser import Rule

# How much more a wrong arc scores in training with the objective ``margin``, natural log. On the dev files of
# English, Greek, Hungarian and Turkish 1 gave 0.1 to 0.25 UAS over none, 2 hardly more, and worse
# probabilities.
MARGIN = 1.0

# Options that go with losses in nats.
PENALTIES = ("entropy", "l1", "l2", "unlabelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcObjective:
    """An objective of training.

    Attributes
    ----------
    name : str
        As users write it.
    purpose, source : str
        A line each: what it is for, and the paper it is from.
    lesson : callable or None
        What the right trees of a sentence teach, as a function of them and of the options; None from the
        function: nothing. Unless given, their likelihood, as ``margin`` says.
    margin : float or None
        Of a likelihood, how much more each wrong arc scores in training. Relations in the tree, second-order
        factors and tags can be trained for it too. None: it is something else.
    rule : callable or None
        Makes of the options the rule that weights step by; unless given, AdaGrad.
    reads : tuple of str
        The options that not every objective reads, as the command line stores them.
    epochs : int
        How many passes over the data it takes, unless told; chosen on parts of the dev file of Danish.
    l2 : float
        Strength of the L2 penalty, unless told.
    scaled : bool
        Whether it gives scores no scale of their own, so that they get one when training is over.
    batch : bool
        Whether it is one function of the scores, with a gradient, from the first epoch to the last.
    whole : bool
        Whether it cannot sum out what a partial tree leaves open.
    clustered : bool
        Whether arcs are in hidden clusters: its parsers are another kind of model.
    """

    name: str
    purpose: str
    source: str
    lesson: Callable[[RightTrees, TrainingOptions], Lesson | None] | None = None
    margin: float | None = None
    rule: Callable[[TrainingOptions], Rule] | None = None
    reads: tuple[str, ...] = ()
    epochs: int = 10
    l2: float = 15.0
    scaled: bool = False
    batch: bool = False
    whole: bool = False
    clustered: bool = False

    def taught_by(self, right: RightTrees, options: TrainingOptions) -> Lesson | None:
        """Return what the right trees of a sentence teach; None: nothing."""
        return self.lesson(right, options) if self.lesson else right.likelihood(self.margin or 0.0)


def _plain_steps(_: TrainingOptions) -> Rule:
    from qsproj.training.optimiser import PlainSteps

    return PlainSteps


OBJECTIVES = (
    ArcObjective(
        name="margin",
        purpose="log-likelihood in which the right tree must win by a margin for each wrong "
        "head; the default",
        source="Gimpel and Smith 2010 (softmax-margin); trees summed over as in Smith and Smith 2007",
        batch=True,
        margin=MARGIN,
        reads=PENALTIES,
    ),
    ArcObjective(
        name="likelihood",
        purpose="conditional log-likelihood: slightly less accurate, probabilities that can be trusted",
        source="Koo et al. 2007, McDonald and Satta 2007, Smith and Smith 2007 (log-linear models)",
        batch=True,
        margin=0.0,
        reads=PENALTIES,
    ),
    ArcObjective(
        name="risk",
        purpose="the expected number of wrong heads, which is what is scored, from likelihood "
        "on, ever sharper",
        source="Smith and Eisner 2006 (minimum risk annealing); D. A. Smith 2010, 3.2.4 and A.8",
        epochs=8,
        lesson=lambda right, options: right.annealed_risk(options.epochs),
        reads=PENALTIES,
    ),
    ArcObjective(
        name="perceptron",
        purpose="arcs of the best tree down, those of the right tree up, weights averaged; the baseline",
        source="Collins 2002; Koo et al. 2007, 6.2",
        epochs=3,
        scaled=True,
        lesson=lambda right, _: right.mistakes(),
        rule=_plain_steps,
    ),
    ArcObjective(
        name="mira",
        purpose="the least change of weights by which the right tree wins where it is furthest from winning",
        source="Crammer and Singer 2003; McDonald, Crammer and Pereira 2006 take --objective "
        "mira-kbest --best 1",
        scaled=True,
        lesson=lambda right, _: right.margins(k=1, cost=1.0),
        reads=("limit",),
    ),
    ArcObjective(
        name="mira-kbest",
        purpose="the least change by which the right tree wins against each of the K best trees (--best)",
        source="McDonald, Crammer and Pereira 2006, 3.1.1 (k-best MIRA, Hildreth's algorithm)",
        scaled=True,
        lesson=lambda right, options: right.margins(k=options.best),
        reads=("best", "limit"),
    ),
    ArcObjective(
        name="mira-factored",
        purpose="the same of each right arc against all other arcs into its word: no search for trees",
        source="McDonald, Crammer and Pereira 2006, 3.1.2 (factored MIRA, Hildreth's algorithm)",
        scaled=True,
        lesson=lambda right, _: right.arc_margins(),
        reads=("limit",),
    ),
    ArcObjective(
        name="eg",
        purpose="max-margin by exponentiated gradient: every wrong tree is to lose by its wrong "
        "heads, at --cost",
        source="Bartlett et al. 2004; Koo et al. 2007, 4.2, figure 2",
        epochs=20,
        scaled=True,
        lesson=lambda right, _: right.distribution(),
        reads=("cost",),
        whole=True,
    ),
    ArcObjective(
        name="hidden",
        purpose="log-likelihood in which each arc is in one of --clusters hidden clusters, which "
        "are summed out",
        source="Smith and Smith 2007, 5 (hidden variables); D. A. Smith 2010, 3.2.5",
        l2=60.0,
        reads=("clusters", *PENALTIES),
        clustered=True,
    ),
)


def names_of(which: Callable[[ArcObjective], bool] = lambda _: True) -> list[str]:
    """Return the names of those objectives of which something is true."""
    return [objective.name for objective in OBJECTIVES if which(objective)]


def objective_named(name: str) -> ArcObjective:
    """Return an objective by its name; UsageError where there is none."""
    for objective in OBJECTIVES:
        if objective.name == name:
            return objective
    raise unknown_name("objective", name, names_of())


def margin_of(name: str, parser: str) -> float:
    """Return the margin of a likelihood; UsageError where the objective is none, as ``parser`` needs."""
    summed = {objective.name: objective.margin for objective in OBJECTIVES if objective.margin is not None}
    if name not in summed:
        raise unknown_name(f"objective of {parser}", name, list(summed))
    return summed[name]


def check_unclustered(objective: ArcObjective) -> None:
    """Raise UsageError when an objective makes parsers with hidden clusters."""
    if objective.clustered:
        raise UsageError(
            f"the objective {objective.name} makes a first-order parser of its own kind; choose another one "
            f"here: {', '.join(names_of(lambda one: not one.clustered))}"
        )


def objectives_explained() -> str:
    """Return a paragraph of help: each objective by name, in two lines."""
    width = max(map(len, names_of()))
    return "\n".join(
        f"  {objective.name:{width}}  {objective.purpose}\n  {'':{width}}  {objective.source}"
        for objective in OBJECTIVES
    )
