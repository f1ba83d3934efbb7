"""Options of training a DMV, by default from tags alone, and a QG-DMV."""

from dataclasses import dataclass

from qsproj.models.spec import CheckedOptions, option_field

STARTS = ("harmonic", "uniform", "trees")
QG_STARTS = ("trees", "uniform")


@dataclass(frozen=True, slots=True, kw_only=True)
class DmvOptions(CheckedOptions):
    """Training of a DMV."""

    # ``harmonic`` (Klein and Manning 2004), ``uniform``, or ``trees``: relative frequencies in the training
    # sentences with all heads known.
    start: str = option_field("harmonic", known=("start", STARTS))
    keep_heads: bool = False  # whether the E-step is constrained to known heads (thesis 4.6.3.3)
    iterations: int = option_field(50, least=0)  # of EM, at most; 0 returns the initial parameters
    tolerance: float = 1e-5  # relative gain below which EM has converged
    smoothing: float = option_field(0.1, least=0.0)  # added to every count (a symmetric Dirichlet prior)
    max_words: int = option_field(15, least=1)  # punctuation counts unless stripped
    punctuation: str = "strip"  # ``keep`` or ``strip``
    sibling_pairs: int = option_field(0, least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QgOptions(CheckedOptions):
    """Training of a QG-DMV; ``iterations`` and ``tolerance`` as in DmvOptions."""

    iterations: int = option_field(1, least=0)
    tolerance: float = 1e-4
    smoothing: float = option_field(0.1, least=0.0)  # added to every count of the QG-DMV
    monolingual_smoothing: float = option_field(0.1, least=0.0)  # and of the DMV that parses new text
    # ``trees``, the relative frequencies in whole projected target trees, equal in every sense; or
    # ``uniform`` (thesis 4.6.3.4).
    start: str = option_field("trees", known=("start", QG_STARTS))
    parent_child: float = 0.9  # initial probability of this configuration
    max_words: int = option_field(40, least=1)
    min_linked: float = option_field(
        0.8,
        least=0.0,
        most=1.0,
        help="minimum share of linked target words of a training pair, links counted by weight; align with "
        "--threshold 0.15 --weights",
    )
    punctuation: str = "strip"  # of the target, ``keep`` or ``strip``
    sibling_pairs: int = option_field(
        2500,
        least=0,
        help="condition dependents on their most recent sibling in parsing new text, learned from the trees "
        "of the first N training pairs; 0: do not",
    )
