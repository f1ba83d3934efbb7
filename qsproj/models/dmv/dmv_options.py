"""Options of training a DMV, by default from tags alone, and a QG-DMV."""

from dataclasses import dataclass

from qsproj.models.spec import CheckedOptions, option_field

STARTS = ("harmonic", "uniform", "trees")
QG_STARTS = ("trees", "uniform")


@dataclass(frozen=True, slots=True, kw_only=True)
class DmvOptions(CheckedOptions):
    """Training of a DMV.

    ``start``: ``harmonic`` (Klein and Manning 2004), ``uniform``, or ``trees``: relative frequencies in the
    training sentences with all heads known. ``keep_heads``: whether the E-step is constrained to known heads
    (thesis 4.6.3.3). ``iterations``: of EM, at most; 0 returns the initial parameters. ``tolerance``:
    relative gain below which EM has converged. ``smoothing``: added to every count (a symmetric Dirichlet
    prior). ``max_words``: punctuation counts unless stripped. ``punctuation``: ``keep`` or ``strip``.
    """

    start: str = option_field("harmonic", known=("start", STARTS))
    keep_heads: bool = False
    iterations: int = option_field(50, least=0)
    tolerance: float = 1e-5
    smoothing: float = option_field(0.1, least=0.0)
    max_words: int = option_field(15, least=1)
    punctuation: str = "strip"
    sibling_pairs: int = option_field(0, least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QgOptions(CheckedOptions):
    """Training of a QG-DMV.

    ``iterations``, ``tolerance``: as in DmvOptions. ``smoothing``, ``monolingual_smoothing``: added to every
    count of the QG-DMV, and of the DMV that parses new text. ``start``: ``trees``, the relative frequencies
    in whole projected target trees, equal in every sense; or ``uniform`` (thesis 4.6.3.4). ``parent_child``:
    initial probability of this configuration. ``punctuation``: of the target, ``keep`` or ``strip``.
    """

    iterations: int = option_field(1, least=0)
    tolerance: float = 1e-4
    smoothing: float = option_field(0.1, least=0.0)
    monolingual_smoothing: float = option_field(0.1, least=0.0)
    start: str = option_field("trees", known=("start", QG_STARTS))
    parent_child: float = 0.9
    max_words: int = option_field(40, least=1)
    min_linked: float = option_field(
        0.8,
        least=0.0,
        most=1.0,
        help="minimum share of linked target words of a training pair, links counted by weight; align with "
        "--threshold 0.15 --weights",
    )
    punctuation: str = "strip"
    sibling_pairs: int = option_field(
        2500,
        least=0,
        help="condition dependents on their most recent sibling in parsing new text, learned from the trees "
        "of the first N training pairs; 0: do not",
    )
