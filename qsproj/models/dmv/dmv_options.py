"""Options of training a DMV; the defaults are for training from tags alone."""

from dataclasses import dataclass

from qsproj.models.spec import check, option_field

STARTS = ("harmonic", "uniform", "trees")
E_STEPS = ("sum", "viterbi")


@dataclass(frozen=True, slots=True, kw_only=True)
class DmvOptions:
    """Training of a DMV.

    ``start``: ``harmonic`` (Klein and Manning 2004), ``uniform``, or ``trees``: relative frequencies in the
    training sentences with all heads known. ``keep_heads``: whether the E-step is constrained to known heads
    (thesis 4.6.3.3). ``iterations``: of EM, at most; 0 returns the initial parameters. ``tolerance``:
    relative gain below which EM has converged. ``smoothing``: added to every count (a symmetric Dirichlet
    prior). ``max_words``: punctuation counts unless stripped. ``punctuation``: ``keep`` or ``strip``.
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
