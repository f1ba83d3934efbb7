"""How parsers are trained, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from qsproj.errors import UsageError, counted, unknown_name
from qsproj.models.arc.arc_objectives import names_of, objective_named
from qsproj.models.spec import told

# Commands ask for options before they know whether anything is to be computed.
if TYPE_CHECKING:
    from qsproj.models.tree_inference import TreeInference
    from qsproj.training.loop import EpochRecord
    from qsproj.training.optimiser import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How an arc parser is trained; the fields with help are explained by it.

    Attributes
    ----------
    template_set : str or None
        What is read of a word: ``delexicalised`` UPOS only, for a parser that is to read another language;
        ``words`` forms too, for text that only a tagger has seen; ``morphology`` lemmas, XPOS and FEATS too.
        None: ``morphology`` where the training data has any of these, else ``words``.
    objective : str
        A name in :data:`qsproj.models.arc.arc_objectives.OBJECTIVES`. ``margin`` and ``risk`` learn partial
        trees by likelihood.
    epochs : int
        Or steps of ``lbfgs`` and ``cg``; fewer when a dev set says so.
    rate : float
        Step size of AdaGrad.
    cutoff : int
        0, all features of all candidate arcs, is more accurate (0.4 UAS on dev files), with larger files.
    support : str
        A key of :data:`~qsproj.models.arc.feature_selection.SUPPORTS`.
    projective, single_root : bool or None
        None: read off the training trees.
    """

    template_set: str | None = None
    objective: str = told("margin", help="what scores are trained for, explained below (default: margin)")
    best: int = told(5, least=1, metavar="K", help="with mira-kbest, number of best trees used as rivals")
    limit: float = told(
        0.01,
        least=1e-6,
        metavar="C",
        help="with the kinds of mira, how far one margin may move the weights",
    )
    cost: float = told(0.01, least=1e-6, metavar="C", help="what eg pays for a missed margin")
    clusters: int = told(
        2,
        least=1,
        help="with hidden, how many clusters an arc may be in, up to 64; training takes 80 MB for each",
    )
    optimizer: str = told(
        "sgd",
        help="of objectives with a gradient: sgd steps after each sentence (default); lbfgs and cg look at "
        "all of them before each step, of which there are 60 unless --epochs says otherwise",
    )
    entropy: float = told(0.1, least=0.0, most=1e6, help="how much a sentence of --unlabelled counts")
    l1: float = told(0.0, least=0.0, most=1e6, help="strength of the L1 penalty: makes small models")
    epochs: int = told(10, least=1, help="passes over the data")
    rate: float = 0.1
    l2: float = told(15.0, least=0.0, most=1e6, help="strength of the L2 penalty")
    cutoff: int = told(
        0,
        least=0,
        help="keep features that occur N times (see --support); 0: all; 1 or more makes small models",
    )
    support: str = told(
        "trees",
        help="what --cutoff counts: trees, right arcs (default); links, all candidate arcs; short, those "
        "of up to 5 words; sentences, those that have such an arc",
    )
    projective: bool | None = None
    single_root: bool | None = None

    def rule(self, *, share: float = 1.0, first_squares: float = 0.0) -> Rule:
        """Return the rule that weights step by: the objective's own, or AdaGrad at a share of the rate."""
        if own := objective_named(self.objective).rule:
            return own(self)
        from qsproj.training.adagrad import AdaGrad

        return partial(AdaGrad, rate=share * self.rate, l2=self.l2, l1=self.l1, first_squares=first_squares)


def check_optimizer(options: TrainingOptions) -> None:
    """Raise UsageError when the optimizer is unknown, or does not go with the objective."""
    from qsproj.models.arc.arc_learners import METHODS

    objective = objective_named(options.objective)
    if options.optimizer not in ("sgd", *METHODS):
        raise unknown_name("optimizer", options.optimizer, ["sgd", *METHODS])
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
