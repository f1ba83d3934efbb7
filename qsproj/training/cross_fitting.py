"""Predictions for each item by a model trained on others, and how much of a training they recommend."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from qsproj.conventions import Floats, Rng, Scores
from qsproj.training.objectives import Objective

Model = TypeVar("Model")
Result = TypeVar("Result")
# Fewest items that models of others can judge. Learning from one costs .6 to 1.3 LAS (six languages).
FEWEST = 2
FEW, PARTS = 30, 5  # the most held-out items that are few, and their parts that are left out in turn


def cross_fit(
    items: int,
    fit: Callable[[list[int]], Model],
    predict: Callable[[Model, int], Result],
    *,
    folds: int,
    rng: Rng | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield each item's number with the prediction of a model fitted to the other folds.

    ``fit`` takes the numbers of the items to fit. Items are assigned to folds of nearly equal size
    at random, without ``rng`` in turn. One model is in memory at a time.
    """
    order = np.arange(items) if rng is None else rng.permutation(items)
    fold_of = order % max(min(folds, items), 1)
    for fold in range(fold_of.max(initial=-1) + 1):
        model = fit(np.flatnonzero(fold_of != fold).tolist())
        for item in np.flatnonzero(fold_of == fold).tolist():
            yield item, predict(model, item)


def in_order(predicted: Iterable[tuple[int, Result]]) -> list[Result]:
    return [result for _, result in sorted(predicted, key=lambda one: one[0])]


def best_scale(loss: Callable[[float], float], least: float, most: float, *, tolerance: float) -> float:
    """Return the factor of scores with the least loss, found on the log scale to ``tolerance``."""
    from scipy.optimize import minimize_scalar

    bounds, options = (math.log(least), math.log(most)), {"xatol": tolerance}
    found = minimize_scalar(lambda log: loss(math.exp(log)), bounds=bounds, method="bounded", options=options)
    return math.exp(found.x)


def exceeds_chance(gain: float, changed: int) -> bool:
    """Return whether a sign test finds a gain among the changed items, one-sided p = .05."""
    return gain > 1.64 * math.sqrt(changed)


class HeldOut(NamedTuple):
    """A held-out item: its loss, and its scores before and after training on other items."""

    objective: Objective
    before: Scores
    after: Scores


def helpful_share(items: Sequence[HeldOut]) -> float:
    """Return the share of a change of weights, from 0 to 1, that is likely to help other items, too.

    With at most FEW held-out items, it is the lowest of the most likely shares without each of PARTS of them,
    so that no item decides. Scores are linear in the weights, so that the loss is convex in the share and in
    a temperature fitted with it, without which a change would be welcome only because it makes a model more
    or less confident. *Source*: Wolpert (1992), "Stacked generalization"; Breiman (1996), "Stacked
    regressions".
    """
    if not items:
        return 1.0
    parts = min(PARTS, len(items)) if 1 < len(items) <= FEW else 0
    rest = [[one for at, one in enumerate(items) if at % parts != part] for part in range(parts)]
    shares = [1.0]
    for some in rest or [list(items)]:
        changes = [(one.objective, [one.before, one.after - one.before]) for one in some]
        before, change = _likeliest_sizes(changes)
        shares.append(float(change / before))
    return min(shares)


def likeliest_temperature(items: Sequence[HeldOut], share: float) -> float:
    """Return the divisor of the scores after a share of a change that is likeliest for held-out items."""
    after = [(one.objective, [one.before + share * (one.after - one.before)]) for one in items]
    return float(1.0 / _likeliest_sizes(after)[0])


def _likeliest_sizes(items: Sequence[tuple[Objective, Sequence[Scores]]]) -> Floats:
    """Return the factors, none negative, of the parts of the scores that make them likeliest."""
    from scipy.optimize import minimize

    def loss(sizes: Floats) -> tuple[float, Floats]:
        total, slopes = 0.0, np.zeros(len(sizes))
        for objective, of_item in items:
            parts = np.stack(of_item)
            value, slope = objective.value_and_gradient(np.tensordot(sizes, parts, 1))
            total += value
            slopes += (parts * slope).sum(axis=(1, 2))
        return total, slopes

    start = [1.0, 0.5][: len(items[0][1])]
    bounds = [(np.finfo(np.float64).eps, None), (0.0, None)][: len(start)]
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found
