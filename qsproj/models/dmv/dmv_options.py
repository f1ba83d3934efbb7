"""Options of training a DMV, by default from tags alone, and a QG-DMV."""

from dataclasses import dataclass

from qsproj.models.spec import CheckedOptions, option_field

STARTS = ("harmonic", "uniform", "trees")
QG_STARTS = ("trees", "uniform")
PUNCTUATION = ("treatment of punctuation", ("keep", "strip"))


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
    punctuation: str = option_field("strip", known=PUNCTUATION)
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
    # initial probability of this configuration
    parent_child: float = option_field(0.9, least=0.0, most=1.0, within=True)
    max_words: int = option_field(40, least=1)
    # minimum share of linked target words of a training pair, links counted by weight
    min_linked: float = option_field(0.8, least=0.0, most=1.0)
    punctuation: str = option_field("strip", known=PUNCTUATION)  # of the target
    # training pairs whose trees teach the parser of new text how dependents follow their siblings; 0: none
    sibling_pairs: int = option_field(2500, least=0)
