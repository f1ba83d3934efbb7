"""What first-order parsers can be trained for, by name: the purpose of each objective, and its paper."""

from __future__ import annotations

from dataclasses import dataclass

from qsproj.errors import unknown_name

# The one whose parsers are another kind of model.
HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ArcObjective:
    """An objective of training.

    Attributes
    ----------
    name : str
        As users write it.
    purpose, source : str
        A line each: what it is for, and the paper it is from.
    epochs : int
        How many passes over the data it takes, unless told; chosen on parts of the dev file of Danish.
    l2 : float
        Strength of the L2 penalty, unless told.
    scaled : bool
        Whether it gives scores no scale of their own, so that they get one when training is over.
    batch : bool
        Whether it is one function of the scores, with a gradient, from the first epoch to the last.
    """

    name: str
    purpose: str
    source: str
    epochs: int = 10
    l2: float = 15.0
    scaled: bool = False
    batch: bool = False


OBJECTIVES = (
    ArcObjective(
        "margin",
        "log-likelihood in which the right tree must win by a margin for each wrong head; the default",
        "Gimpel and Smith 2010 (softmax-margin); trees summed over as in Smith and Smith 2007",
        batch=True,
    ),
    ArcObjective(
        "likelihood",
        "conditional log-likelihood: slightly less accurate, probabilities that can be trusted",
        "Koo et al. 2007, McDonald and Satta 2007, Smith and Smith 2007 (log-linear models)",
        batch=True,
    ),
    ArcObjective(
        "risk",
        "the expected number of wrong heads, which is what is scored, from likelihood on, ever sharper",
        "Smith and Eisner 2006 (minimum risk annealing); D. A. Smith 2010, 3.2.4 and A.8",
        epochs=8,
    ),
    ArcObjective(
        "perceptron",
        "arcs of the best tree down, those of the right tree up, weights averaged; the baseline",
        "Collins 2002; Koo et al. 2007, 6.2",
        epochs=3,
        scaled=True,
    ),
    ArcObjective(
        "mira",
        "the least change of weights by which the right tree wins where it is furthest from winning",
        "Crammer and Singer 2003; McDonald, Crammer and Pereira 2006 take --objective mira-kbest --best 1",
        scaled=True,
    ),
    ArcObjective(
        "mira-kbest",
        "the least change by which the right tree wins against each of the K best trees (--best)",
        "McDonald, Crammer and Pereira 2006, 3.1.1 (k-best MIRA, Hildreth's algorithm)",
        scaled=True,
    ),
    ArcObjective(
        "mira-factored",
        "the same of each right arc against all other arcs into its word: no search for trees",
        "McDonald, Crammer and Pereira 2006, 3.1.2 (factored MIRA, Hildreth's algorithm)",
        scaled=True,
    ),
    ArcObjective(
        "eg",
        "max-margin by exponentiated gradient: every wrong tree is to lose by its wrong heads, at --cost",
        "Bartlett et al. 2004; Koo et al. 2007, 4.2, figure 2",
        epochs=20,
        scaled=True,
    ),
    ArcObjective(
        HIDDEN,
        "log-likelihood in which each arc is in one of --clusters hidden clusters, which are summed out",
        "Smith and Smith 2007, 5 (hidden variables); D. A. Smith 2010, 3.2.5",
        l2=60.0,
    ),
)

NAMES = tuple(objective.name for objective in OBJECTIVES)


def objective_named(name: str) -> ArcObjective:
    """Return an objective by its name.

    Raises
    ------
    UsageError
        Where there is none; it lists those there are.
    """
    for objective in OBJECTIVES:
        if objective.name == name:
            return objective
    raise unknown_name("objective", name, list(NAMES))


def objectives_explained() -> str:
    """Return a paragraph of help: each objective by name, in two lines."""
    width = max(map(len, NAMES))
    return "\n".join(
        f"  {objective.name:{width}}  {objective.purpose}\n  {'':{width}}  {objective.source}"
        for objective in OBJECTIVES
    )
