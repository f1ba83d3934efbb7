"""Options and objectives of training parsers; all that is particular to an objective is in its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from qsproj.errors import check_name, pluralise
from qsproj.models.spec import option_field

if TYPE_CHECKING:
    from qsproj.models.arc.arc_learners import ArcLoss, GoldTrees
    from qsproj.models.tree_decoder import TreeDecoder
    from qsproj.training.loop import EpochRecord
    from qsproj.training.optimiser import Rule

# Score added to every wrong arc by the objective ``margin``, natural log. On dev files of English, Greek,
# Hungarian and Turkish 1 gained 0.1 to 0.25 UAS over 0; 2 gained little more and gave worse probabilities.
MARGIN = 1.0

PENALTIES = ("entropy", "l1", "l2", "unlabelled")  # options of losses in nats


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcObjective:
    """An objective of training."""

    name: str  # for users
    purpose: str  # a line for users
    # Maps the gold trees of a sentence to a loss, None to skip it; default: their likelihood.
    loss_of: Callable[[GoldTrees, TrainingOptions], ArcLoss | None] | None = None
    # Of a likelihood, the score added to every wrong arc in training; such an objective can also train
    # relations in the tree, second-order factors and tags. None: not a likelihood.
    margin: float | None = None
    plain: bool = False  # whether weights move by plain steps, not by AdaGrad
    reads: tuple[str, ...] = ()  # the options that only some objectives read, as the command line stores them
    epochs: int = 10  # default, chosen on parts of the dev file of Danish, as ``l2``
    l2: float = 15.0
    scaled: bool = False  # whether scores have no scale of their own and are rescaled after training
    # Divisor of scores for the probabilities of new sentences. On development data of six languages the best
    # were 1.3 to 2 after ``margin``, 1.2 to 1.8 after ``risk`` and 1.1 to 1.6 after the others.
    temperature: float = 1.2
    batch: bool = False  # whether it is one differentiable function of the scores in all epochs
    whole: bool = False  # whether it cannot sum out missing heads
    clustered: bool = False  # whether arcs are in hidden clusters

    def loss_for(self, gold: GoldTrees, options: TrainingOptions) -> ArcLoss | None:
        return self.loss_of(gold, options) if self.loss_of else gold.likelihood(self.margin or 0.0)


OBJECTIVES = (
    ArcObjective(  # Gimpel and Smith 2010 (softmax-margin); trees summed over as in Smith and Smith 2007
        name="margin",
        purpose="log-likelihood, with a margin for each wrong head; the default",
        batch=True,
        margin=MARGIN,
        temperature=1.4,
        reads=PENALTIES,
    ),
    ArcObjective(  # Koo et al. 2007, McDonald and Satta 2007, Smith and Smith 2007 (log-linear models)
        name="likelihood",
        purpose="conditional log-likelihood: a little less accurate",
        batch=True,
        margin=0.0,
        reads=PENALTIES,
    ),
    ArcObjective(  # Smith and Eisner 2006 (minimum risk annealing); D. A. Smith 2010, 3.2.4 and A.8
        name="risk",
        purpose="minimum risk, annealed from likelihood",
        epochs=8,
        loss_of=lambda gold, options: gold.annealed_risk(options.epochs),
        temperature=1.3,
        reads=PENALTIES,
    ),
    ArcObjective(  # Collins 2002; Koo et al. 2007, 6.2
        name="perceptron",
        purpose="averaged perceptron; the baseline",
        epochs=3,
        scaled=True,
        loss_of=lambda gold, _: gold.mistakes(),
        plain=True,
    ),
    ArcObjective(  # Crammer and Singer 2003; McDonald et al. 2006 take --objective mira-kbest --best 1
        name="mira",
        purpose="MIRA on the tree that violates its margin most",
        scaled=True,
        loss_of=lambda gold, _: gold.margins(k=1, cost=1.0),
        reads=("limit",),
    ),
    ArcObjective(  # McDonald, Crammer and Pereira 2006, 3.1.1 (k-best MIRA, Hildreth's algorithm)
        name="mira-kbest",
        purpose="MIRA on the K best trees (--best)",
        scaled=True,
        loss_of=lambda gold, options: gold.margins(k=options.best),
        reads=("best", "limit"),
    ),
    ArcObjective(  # McDonald, Crammer and Pereira 2006, 3.1.2 (factored MIRA, Hildreth's algorithm)
        name="mira-factored",
        purpose="MIRA on each head alone",
        scaled=True,
        loss_of=lambda gold, _: gold.arc_margins(),
        reads=("limit",),
    ),
    ArcObjective(  # Bartlett et al. 2004; Koo et al. 2007, 4.2, figure 2
        name="eg",
        purpose="max-margin by exponentiated gradient; a missed margin costs --cost",
        epochs=20,
        scaled=True,
        loss_of=lambda gold, _: gold.distribution(),
        reads=("cost",),
        whole=True,
    ),
    ArcObjective(  # Smith and Smith 2007, 5 (hidden variables); D. A. Smith 2010, 3.2.5
        name="hidden",
        purpose="log-likelihood, each arc in one of --clusters hidden clusters",
        l2=60.0,
        temperature=1.0,
        reads=("clusters", *PENALTIES),
        clustered=True,
    ),
)


def names_of(which: Callable[[ArcObjective], bool] = lambda _: True) -> list[str]:
    return [objective.name for objective in OBJECTIVES if which(objective)]


def objective_named(name: str) -> ArcObjective:
    named = {objective.name: objective for objective in OBJECTIVES}
    check_name("objective", name, named)
    return named[name]


def margin_of(name: str, parser: str) -> float:
    """Return the margin of a likelihood; UsageError for other objectives, naming the kind of ``parser``."""
    summed = {objective.name: objective.margin for objective in OBJECTIVES if objective.margin is not None}
    check_name(f"objective of {parser}", name, summed)
    return summed[name]


def objectives_explained() -> str:
    width = max(map(len, names_of()))
    return "\n".join(f"  {objective.name:{width}}  {objective.purpose}" for objective in OBJECTIVES)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """Options of training an arc parser; see also the help of the fields.

    ``template_set``: the attributes that features read: ``delexicalised`` only UPOS, for parsers of other
    languages; ``words`` also forms; ``morphology`` also lemmas, XPOS and FEATS. None: ``morphology`` where
    the training data has any of these, else ``words``. ``objective``: a name in :data:`OBJECTIVES`;
    ``margin`` and ``risk`` learn partial trees by likelihood. ``epochs``: or steps of ``lbfgs`` and ``cg``;
    fewer with early stopping on a dev set. ``rate``: step size of AdaGrad. ``cutoff``: 0, all features of
    all candidate arcs, is more accurate (0.4 UAS on dev files), with larger files. ``support``: what it
    counts, of :data:`~qsproj.models.arc.arc_scorer.SUPPORTS`. ``projective``, ``single_root``: None: from
    the trees.
    """

    template_set: str | None = None
    objective: str = option_field("margin", help="training objective, see below (default: margin)")
    best: int = option_field(5, least=1, metavar="K", help="of mira-kbest: best trees used as rivals")
    limit: float = option_field(0.01, least=1e-6)  # of mira: limit of the change of weights by one margin
    cost: float = option_field(0.01, least=1e-6, metavar="C", help="of eg: cost of a missed margin")
    clusters: int = option_field(
        2, least=1, help="of hidden: number of clusters of arcs, up to 64, 80 MB of memory each"
    )
    optimizer: str = option_field(
        "sgd",
        help="sgd (default), or lbfgs, cg: batch optimisers, 60 steps unless --epochs is given",
        known=("optimizer", ("sgd", "lbfgs", "cg")),
    )
    entropy: float = option_field(0.1, least=0.0, most=1e6)  # weight of an unlabelled sentence
    l1: float = option_field(0.0, least=0.0, most=1e6)  # strength of the L1 penalty: makes small models
    epochs: int = option_field(10, least=1, help="passes over the data")
    rate: float = 0.1
    l2: float = option_field(15.0, least=0.0, most=1e6, help="strength of the L2 penalty")
    cutoff: int = option_field(
        0, least=0, help="keep features with N occurrences or more; 1 or more makes small models"
    )
    support: str = "trees"
    projective: bool | None = None
    single_root: bool | None = None

    def with_shape(self, template_set: str, inference: TreeDecoder) -> TrainingOptions:
        return replace(self, template_set=template_set, **asdict(inference))

    def rule(self, *, share: float = 1.0, first_squares: float = 0.0) -> Rule:
        """Return the update rule of the objective: plain steps, or AdaGrad with a share of the rate."""
        from qsproj.training.optimiser import AdaGrad, PlainSteps

        if objective_named(self.objective).plain:
            return PlainSteps
        return partial(AdaGrad, rate=share * self.rate, l2=self.l2, l1=self.l1, first_squares=first_squares)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """A report of training: epochs, counts of left-out sentences by reason, and other remarks."""

    epochs: tuple[EpochRecord, ...]
    skipped: dict[str, int]
    remarks: tuple[str, ...] = ()

    def summary(self, inference: TreeDecoder) -> str:
        best = max(self.epochs, key=lambda record: record.score or 0.0)
        dev = "" if best.score is None else f", dev UAS {best.score:.2f} after epoch {best.epoch}"
        skipped = self.skipped.items()
        left_out = [f"{pluralise(count, 'sentence')} left out: {reason}" for reason, count in skipped]
        learned = f"{inference.described('parser')}, {pluralise(len(self.epochs), 'epoch')}{dev}"
        return "; ".join([learned, *left_out, *self.remarks])
