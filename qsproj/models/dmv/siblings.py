"""Decisions of a DMV given the most recent sibling: whether to stop, and the next dependent's tag.

*Source*: thesis 4.6.1, which conditions a dependent on its most recent sibling; unlike there, the decision to
stop also reads it. Sums over trees are exact, as in a second-order model with siblings.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Floats, Heads
from qsproj.trees.second_order import SecondOrderScores, second_order_scores, sequences

# Pseudo-count of the prior model's decisions with each sibling.
STRENGTH = 80.0
# Limit in words; time and memory of a chart with siblings grow with the cube of the length.
LONGEST = 120


@dataclass(frozen=True, slots=True, eq=False)
class SiblingParameters:
    """Probabilities of the decisions of a DMV over T tags, given the tag of the most recent sibling.

    ``sibling_stop`` float64[T, 2, T+1]: of stopping, [head tag, direction, sibling's tag]; the last is for
    none yet. ``sibling_child`` float64[T, 2, T+1, T]: of a dependent's tag.
    """

    sibling_stop: Floats
    sibling_child: Floats


def whatever_the_sibling(stop: Floats, child: Floats) -> SiblingParameters:
    """Return parameters independent of the sibling, from ``stop`` float64[T, 2, 2], ``child`` of a DMV."""
    tags = len(child)
    stops = np.repeat(stop[:, :, 1:], tags + 1, axis=2)
    stops[:, :, tags] = stop[:, :, 0]
    return SiblingParameters(stops, np.repeat(child[:, :, None], tags + 1, axis=2))


def learn_siblings(
    trees: Iterable[tuple[NDArray[np.int16], Heads]], start: SiblingParameters
) -> SiblingParameters:
    """Count the decisions of trees, tags int16[n] and heads int32[n+1] of each, with ``start`` as a prior."""
    tags = len(start.sibling_child)
    stops = STRENGTH * np.stack([start.sibling_stop, 1.0 - start.sibling_stop], axis=-1)
    children = STRENGTH * start.sibling_child
    for own, heads in trees:
        previous, outermost = sequences(heads)
        of_word = np.concatenate([[ROOT], own]).astype(np.int64)
        for word in range(1, len(heads)):
            head = heads[word]
            if head != ROOT:
                place = of_word[head], int(word > head), _tag(of_word, head, previous[word], tags)
                children[(*place, of_word[word])] += 1.0
                stops[(*place, 1)] += 1.0
            for side in (0, 1):
                last = _tag(of_word, word, outermost[word, side], tags)
                stops[of_word[word], side, last, 0] += 1.0
    children /= children.sum(axis=-1, keepdims=True)
    return SiblingParameters(stops[..., 0] / stops.sum(axis=-1), children)


def _tag(of_word: NDArray[np.int64], head: int, sibling: int, none: int) -> int:
    return none if sibling == head else int(of_word[sibling])


def sibling_scores(tags: NDArray[np.int16], parameters: SiblingParameters, root: Floats) -> SecondOrderScores:
    """Return the log probabilities of a sentence's decisions, tags int16[n]."""
    of_word = np.concatenate([[ROOT], tags]).astype(np.int64)
    size, none = len(of_word), len(root)
    stop, child = parameters.sibling_stop, parameters.sibling_child
    # Tag of the sibling, [head, previous].
    sibling = np.where(np.eye(size, dtype=bool), none, of_word)
    side = (np.arange(size) > np.arange(size)[:, None]).astype(np.int64)
    steps = np.log1p(-stop)[:, :, :, None] + np.log(child)
    siblings = steps[of_word[:, None, None], side[:, :, None], sibling[:, None, :], of_word[None, :, None]]
    siblings[ROOT] = 0.0
    arcs = np.zeros((size, size))
    arcs[ROOT] = np.log(root)[of_word]
    stops = np.log(stop)[of_word[:, None], side, of_word[None, :]]
    stops[ROOT] = 0.0
    return second_order_scores(arcs, siblings=siblings, stops=stops, childless=np.log(stop)[of_word, :, none])
