"""Exact second-order inference over projective trees.

Exact counterpart of :mod:`qsproj.bp` with PTREE, LINK, GRAND and CHILDSEQ, for measuring its search error
(thesis 2.9). With siblings alone O(n^3) time, with grandparents O(n^4); memory O(n^3).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Mask, Numbers, Scores, check_scores
from qsproj.kernels.trees.second_order import Parts, best_tree, inside, outside
from qsproj.kernels.trees.semirings import LOG, MAXIMUM, PROBABILITY
from qsproj.trees.family import NoTreeError


@dataclass(frozen=True, slots=True, eq=False)
class SecondOrderScores:
    """Scores of the parts of a tree, natural log, -inf forbids; make them with :func:`second_order_scores`.

    ``arcs`` float64[n+1, n+1], [head, dependent]: LINK. ``siblings`` float64[n+1, n+1, n+1], [head,
    dependent, previous]: CHILDSEQ; the previous one is the next dependent of the head from this one towards
    the head, or the head itself where there is none: the step from "#". ``stops`` float64[n+1, n+1], [head,
    outermost dependent]: the step to "#", once for each side that has a dependent. ``childless`` float64[n+1,
    2], [head, side]: the step from "#" to "#", for each side without one (0 left, 1 right); not read for the
    root. ``grandparents`` float64[n+1, n+1, n+1] or None, [grandparent, head, dependent]: GRAND; None: no
    such scores, and O(n^3) instead of O(n^4).
    """

    arcs: Scores
    siblings: Floats
    stops: Floats
    childless: Floats
    grandparents: Floats | None


def second_order_scores(
    arcs: ArrayLike,
    *,
    siblings: ArrayLike | None = None,
    stops: ArrayLike | None = None,
    childless: ArrayLike | None = None,
    grandparents: ArrayLike | None = None,
) -> SecondOrderScores:
    """Check and combine scores, None being 0; ValueError for a bad shape, NaN or +inf."""
    links = check_scores(arcs)
    size = links.shape[0]
    head, dependent = np.ogrid[:size, :size]
    is_arc = (dependent > 0) & (head != dependent)
    previous = np.arange(size)
    rightwards = (head[..., None] <= previous) & (previous < dependent[..., None])
    leftwards = (head[..., None] >= previous) & (previous > dependent[..., None])
    steps = is_arc[:, :, None] & (rightwards | leftwards)
    chains = is_arc[:, :, None] & is_arc[None, :, :] & (head[..., None] != previous)
    sides = np.ones((size, 2), dtype=bool)
    sides[ROOT] = False
    above = None if grandparents is None else _checked("grandparent", grandparents, chains)
    ends = _checked("stop", stops, is_arc), _checked("childless", childless, sides)
    return SecondOrderScores(np.where(is_arc, links, 0.0), _checked("sibling", siblings, steps), *ends, above)


def sequences(heads: Heads) -> tuple[Numbers, Numbers]:
    """Return the previous sibling int32[n+1] and outermost dependents int32[n+1, 2]; the head where none."""
    previous = np.full(heads.size, NO_HEAD, dtype=np.int32)
    outermost = np.repeat(np.arange(heads.size, dtype=np.int32)[:, None], 2, axis=1)
    for side, words in ((1, range(1, heads.size)), (0, range(heads.size - 1, 0, -1))):
        for word in words:
            head = heads[word]
            if (word > head) == side:
                previous[word] = outermost[head, side]
                outermost[head, side] = word
    return previous, outermost


def ends_of_sequences(stops: Floats, childless: Floats, outermost: Numbers) -> Floats:
    """Return float64[n+1, 2], the score of each sequence's end; 0 on the left of the root."""
    words = np.arange(outermost.shape[0])[:, None]
    ends = np.where(outermost == words, childless, stops[words, outermost])
    ends[ROOT, 0] = 0.0
    return ends


def _checked(name: str, scores: ArrayLike | None, is_read: Mask) -> Floats:
    if scores is None:
        return np.zeros(is_read.shape)
    array = np.asarray(scores, dtype=np.float64)
    if array.shape != is_read.shape:
        raise ValueError(f"{name} scores have shape {array.shape}, expected {is_read.shape}")
    wrong = is_read & ~(array < np.inf)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise ValueError(f"the {name} score {list(place)} is {array[place]}, expected finite or -inf")
    return np.where(is_read, array, 0.0)


# While no weight or chart entry exceeds this, losses by underflow are negligible: 1e-308 times a derivative.
LIMIT = 1e120


@dataclass(frozen=True, slots=True, eq=False)
class SecondOrderPosterior:
    """A distribution over projective trees, and the gradient of its log Z by the scores; arrays read-only.

    ``marginals`` float64[n+1, n+1]: probability of each arc [head, dependent]; columns 1..n sum to 1. The
    others: probability of each part, laid out as in :class:`SecondOrderScores`.
    """

    log_z: float
    marginals: Floats
    siblings: Floats
    stops: Floats
    childless: Floats
    grandparents: Floats | None

    def __post_init__(self) -> None:
        for array in (self.marginals, self.siblings, self.stops, self.childless, self.grandparents):
            if array is not None:
                array.flags.writeable = False


def best(scores: SecondOrderScores, *, single_root: bool = False) -> tuple[Heads, float]:
    """Find a best projective tree: int32[n+1], ``heads[0] == -1``, and its score; NoTreeError for none."""
    return _best(_log_parts(scores, single_root), single_root)


def posterior(scores: SecondOrderScores, *, single_root: bool = False) -> SecondOrderPosterior:
    """Sum over all projective trees; give log Z and the probability of each part.

    Columns of the marginals sum to 1 within 1e-9. Computed in probability space relative to the best tree, or
    in log space (about ten times slower) where that would not be exact. For minimum Bayes risk decoding, give
    the marginals to :func:`qsproj.trees.projective.best`. Raises NoTreeError when no tree has a finite score.

    *Source*: thesis 2.9.2; the recursions are those of :mod:`qsproj.kernels.trees.second_order`.
    """
    parts = _log_parts(scores, single_root)
    heads, score = _best(parts, single_root)
    weights = _relative_weights(parts, heads)
    charts = inside(weights, PROBABILITY)
    shares, outer = outside(weights, charts, PROBABILITY)
    # Not max(): a NaN, from numbers out of range, must not pass.
    if all(np.all(numbers < LIMIT) for numbers in (*weights, *charts, *outer)):
        return _posterior(score + float(np.log(charts.closed[ROOT, 0, -1])), shares, scores)
    charts = inside(parts, LOG)
    logs, _ = outside(parts, charts, LOG)
    probabilities = Parts(*(np.exp(array) for array in logs))
    return _posterior(float(charts.closed[ROOT, 0, -1]), probabilities, scores)


def _log_parts(scores: SecondOrderScores, single_root: bool) -> Parts:
    arcs = scores.arcs[:, None, :]
    if scores.grandparents is not None:
        arcs = arcs + scores.grandparents.transpose(1, 0, 2)
        arcs[ROOT] = scores.arcs[ROOT]
    siblings = scores.siblings
    if single_root:
        siblings = siblings.copy()
        siblings[ROOT, :, 1:] = -np.inf
    return Parts(np.ascontiguousarray(arcs), siblings, scores.stops, scores.childless)


def _best(parts: Parts, single_root: bool) -> tuple[Heads, float]:
    charts = inside(parts, MAXIMUM)
    score = float(charts.closed[ROOT, 0, -1])
    if score == -np.inf:
        # Unread entries may be NaN.
        raise NoTreeError(np.fmax.reduce(parts.arcs, axis=1), single_root=single_root)
    return best_tree(parts, charts), score


def _relative_weights(parts: Parts, heads: Heads) -> Parts:
    """Return exp(score - shift), with shifts that give every part of a tree weight 1."""
    words = np.arange(1, heads.size)
    above = heads[1:]
    contexts = np.minimum(np.maximum(heads[above], ROOT), parts.arcs.shape[1] - 1)
    previous, outermost = sequences(heads)
    arcs, siblings = np.zeros(heads.size), np.zeros(heads.size)
    arcs[1:] = parts.arcs[above, contexts, words]
    siblings[1:] = parts.siblings[above, words, previous[1:]]
    ends = ends_of_sequences(parts.stops, parts.childless, outermost)
    sides = (np.arange(heads.size) > np.arange(heads.size)[:, None]).astype(np.int64)
    with np.errstate(over="ignore"):
        return Parts(
            np.exp(parts.arcs - arcs),
            np.exp(parts.siblings - siblings[:, None]),
            np.exp(parts.stops - np.take_along_axis(ends, sides, axis=1)),
            np.exp(parts.childless - ends),
        )


def _posterior(log_z: float, shares: Parts, scores: SecondOrderScores) -> SecondOrderPosterior:
    grandparents = None
    if scores.grandparents is not None:
        grandparents = shares.arcs.transpose(1, 0, 2).copy()
        grandparents[:, ROOT] = 0.0
    parts = shares.siblings, shares.stops, shares.childless, grandparents
    return SecondOrderPosterior(log_z, shares.arcs.sum(axis=1), *parts)
