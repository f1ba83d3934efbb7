"""Options of training a DMV; the defaults are for training from tags alone."""

from dataclasses import dataclass

from qsproj.models.spec import check, option_field

STARTS = ("harmonic", "uniform", "trees")
E_STEPS = ("sum", "viterbi")


@dataclass(frozen=True, slots=True, kw_only=True)
class DmvOptions:
    """Training of a DMV.

    ``start``: initial parameters of EM: ``harmonic`` (Klein and Manning 2004), ``uniform``, or ``trees``:
    relative frequencies in the training sentences with all heads known. ``e_step``: ``sum`` over all
    derivations, or ``viterbi``. ``keep_heads``: whether the E-step is constrained to the known heads of
    training sentences (thesis 4.6.3.3). ``iterations``: maximum number of EM iterations; 0 returns the
    initial parameters. ``tolerance``: relative gain, of held-out data or else of the objective, below which
    EM has converged. ``smoothing``: added to every count (a symmetric Dirichlet prior). ``max_words``: longer
    training sentences are left out; punctuation counts unless stripped. ``punctuation``: ``keep`` or
    ``strip``. ``sibling_pairs``: of projected arcs, as in
    :class:`qsproj.models.qg_dmv.qg_dmv_options.QgOptions`.
    """

    start: str = option_field("harmonic", known=("start", STARTS))
    e_step: str = option_field("sum", known=("E-step", E_STEPS))
    keep_heads: bool = False
    iterations: int = 50
    tolerance: float = 1e-5
    smoothing: float = 0.1
    max_words: int = 15
    punctuation: str = "strip"
    sibling_pairs: int = 0

    def __post_init__(self) -> None:
        check(self)
