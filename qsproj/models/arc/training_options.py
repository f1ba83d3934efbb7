"""How parsers are trained, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from qsproj.errors import UsageError, counted, unknown_name
from qsproj.models.arc.arc_learners import METHODS
from qsproj.models.arc.arc_objectives import names_of, objective_named
from qsproj.models.tree_inference import TreeInference
from qsproj.training.adagrad import AdaGrad
from qsproj.training.loop import EpochRecord
from qsproj.training.optimiser import Rule

OPTIMIZERS = ("sgd", *METHODS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How an arc parser is trained.

    Attributes
    ----------
    template_set : str or None
        What is read of a word: ``delexicalised`` UPOS only, for a parser that is to read another language;
        ``words`` forms too, for text that only a tagger has seen; ``morphology`` lemmas, XPOS and FEATS too.
        None: ``morphology`` where the training data has any of these, else ``words``.
    objective : str
        A name in :data:`qsproj.models.arc.arc_objectives.OBJECTIVES`. ``margin`` and ``risk`` learn partial
        trees by likelihood.
    best : int
        Number of best trees used as rivals by ``mira-kbest``.
    limit : float
        How far one margin may move the weights, for the kinds of MIRA.
    cost : float
        What a missed margin costs beside half the squared length of the weights, for ``eg``.
    clusters : int
        How many clusters an arc may be in, for ``hidden``.
    entropy : float
        How much the entropy of each sentence without a tree counts beside the loss of one with a tree.
    l1 : float
        Strength of the L1 penalty, which makes most weights zero.
    optimizer : str
        ``sgd`` steps after each sentence; ``lbfgs`` and ``cg`` look at all of them before each step, for
        objectives with a gradient.
    epochs : int
        Passes over the data, or steps of ``lbfgs`` and ``cg``; fewer when a dev set says so.
    rate : float
        Step size of AdaGrad.
    l2 : float
        Strength of the L2 penalty.
    cutoff : int
        How often a feature must occur to exist; 0: all features of all candidate arcs, which is more accurate
        (0.4 UAS on dev files) and makes larger model files.
    support : str
        Where it must occur: a key of :data:`~qsproj.models.arc.feature_selection.SUPPORTS`.
    projective, single_root : bool or None
        None: read off the training trees.
    """

    template_set: str | None = None
    objective: str = "margin"
    best: int = 5
    limit: float = 0.01
    cost: float = 0.01
    clusters: int = 2
    optimizer: str = "sgd"
    entropy: float = 0.1
    l1: float = 0.0
    epochs: int = 10
    rate: float = 0.1
    l2: float = 15.0
    cutoff: int = 0
    support: str = "trees"
    projective: bool | None = None
    single_root: bool | None = None

    def rule(self, *, share: float = 1.0, first_squares: float = 0.0) -> Rule:
        """Return the rule that weights step by: the objective's own, or AdaGrad at a share of the rate."""
        if own := objective_named(self.objective).rule:
            return own(self)
        return partial(AdaGrad, rate=share * self.rate, l2=self.l2, l1=self.l1, first_squares=first_squares)


def check_optimizer(options: TrainingOptions) -> None:
    """Raise UsageError when the optimizer is unknown, or does not go with the objective."""
    objective = objective_named(options.objective)
    if options.optimizer not in OPTIMIZERS:
        raise unknown_name("optimizer", options.optimizer, list(OPTIMIZERS))
    if options.optimizer == "sgd":
        return
    if options.l1:
        raise UsageError(f"--l1 belongs to --optimizer sgd; leave it out with {options.optimizer}")
    if not objective.batch:
        raise UsageError(
            f"--optimizer {options.optimizer} is for objectives with one gradient from the first step to the "
            f"last: {', '.join(names_of(lambda one: one.batch))}; found {objective.name}"
        )


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What happened in training: epochs, sentences left out by the reason, and other remarks."""

    epochs: tuple[EpochRecord, ...]
    skipped: dict[str, int]
    remarks: tuple[str, ...] = ()

    def summary(self, inference: TreeInference) -> str:
        """Say in a line what was trained."""
        best = max(self.epochs, key=lambda record: record.score or 0.0)
        dev = "" if best.score is None else f", dev UAS {best.score:.2f} after epoch {best.epoch}"
        left_out = "".join(
            f"; {counted(count, 'sentence')} left out: {reason}" for reason, count in self.skipped.items()
        )
        remarks = "".join(f"; {remark}" for remark in self.remarks)
        return (
            f"{inference.described('parser')}, {counted(len(self.epochs), 'epoch')}{dev}{left_out}{remarks}"
        )
