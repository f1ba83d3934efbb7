"""Predictions for each item by a model trained on others."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

Model = TypeVar("Model")
Result = TypeVar("Result")


def cross_fit(
    items: int,
    fit: Callable[[list[int]], Model],
    predict: Callable[[Model, int], Result],
    *,
    folds: int,
    rng: np.random.Generator | None = None,
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
