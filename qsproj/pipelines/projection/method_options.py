"""What the methods of projection are given: their options, with what they are by default."""

from __future__ import annotations

from dataclasses import dataclass

from qsproj.models.dmv.dmv_options import DmvOptions

# Links of this weight are trusted as if there were no others.
MIN_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedArcs:
    """Which arcs are carried over, and which sentences are learned from.

    Attributes
    ----------
    completion : str
        A name in :data:`qsproj.pipelines.projection.hard_projection.COMPLETIONS`.
    min_weight : float
        Lighter links are not followed.
    min_attached : float
        Share of the words of a sentence that must have a head; 1 trains on whole trees only (thesis
        4.6.3.3), less on partial trees, the rest of which is summed out, or imputed.
    """

    completion: str = "none"
    min_weight: float = MIN_WEIGHT
    min_attached: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class HardProjectionOptions(ProjectedArcs):
    """What the method ``hard`` is given.

    Attributes
    ----------
    max_sentences : int
        Train on this many at most;
        see :func:`~qsproj.pipelines.projection.tree_selection.densest_of_each_length`.
    """

    max_sentences: int = 20000


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftProjectionOptions:
    """How far evidence moves the prior.

    Attributes
    ----------
    strength : float
        Log of the likelihood ratio of an arc whose evidence is 1.
    sentences : int
        How many pairs are learned from in each round. On five dev files of German, Spanish and Swedish twice
        the 8,000 of before gained half a point of UAS with given tags and more than one with a tagger's.
    rounds : int
        From the second on, the pairs are those on which evidence and the parser of the round before agree.
    epochs : int
        Passes over the pairs of a round.
    l2 : float
        Strength of the pull towards the prior.
    share : float
        Scores are the prior's plus this share of what was learned above it. On dev files all of it is best in
        German from an English prior; half in Swedish, and in German with priors of several languages.
    projective : bool
        Whether the parser's trees may not cross arcs.
    order : int
        2: a second order is learned above the parser from the evidence of SECOND_ORDER_SENTENCES pairs.
    """

    strength: float = 1.5
    sentences: int = 16000
    rounds: int = 2
    epochs: int = 3
    l2: float = 100.0
    share: float = 0.75
    projective: bool = True
    order: int = 1


# Of the parser that the method ``hard`` trains: passes over the projected trees.
HARD_EPOCHS = 5
# How the DMV of the methods ``em`` and ``hard-em`` is trained.
EM_FROM_TAGS = DmvOptions()
EM_FROM_ARCS = DmvOptions(start="trees", keep_heads=True, iterations=1, max_words=40)
