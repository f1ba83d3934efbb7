"""The loop of stochastic training: shuffled epochs, early stopping, one record for each epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import TypeVar

import numpy as np

from qsproj.progress import track

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What one pass over the data gave.

    Attributes
    ----------
    epoch : int
        Counted from 1.
    loss : float
        Mean loss per example during the epoch (each measured before its own step).
    score : float or None
        What ``evaluate`` returned after it (higher is better), where there is one.
    seconds : float
        Processor time of the pass itself.
    """

    epoch: int
    loss: float
    score: float | None
    seconds: float


def run_epochs(
    examples: int,
    step: Callable[[int], float],
    *,
    epochs: int,
    rng: np.random.Generator,
    finish_epoch: Callable[[], None] = lambda: None,
    evaluate: Callable[[], float] | None = None,
    keep_best: Callable[[], None] = lambda: None,
    patience: int = 3,
    description: str = "training",
) -> list[EpochRecord]:
    """Call ``step(i)`` for every example in a new order each epoch, until ``epochs`` or no more progress.

    Parameters
    ----------
    examples : int
        Number of examples.
    step : callable
        Learns from one example and returns its loss before the step.
    finish_epoch : callable
        Runs after each pass, before the evaluation (regularisation, say).
    evaluate : callable, optional
        Scores the model on held-out data; with it, training stops after ``patience`` epochs without a new
        best, and ``keep_best`` is called at each new best.

    Returns
    -------
    list of EpochRecord
    """
    records: list[EpochRecord] = []
    best, since_best = -np.inf, 0
    for epoch in range(1, epochs + 1):
        order = rng.permutation(examples)
        start = process_time()
        loss = sum(step(int(i)) for i in track(order, f"{description}, epoch {epoch}", total=examples))
        finish_epoch()
        seconds = process_time() - start
        score = evaluate() if evaluate else None
        records.append(EpochRecord(epoch, loss / max(examples, 1), score, seconds))
        if score is None:
            continue
        if score > best:
            best, since_best = score, 0
            keep_best()
        else:
            since_best += 1
            if since_best >= patience:
                break
    return records


def learn(
    examples: int,
    step: Callable[[int], float],
    averaged: Callable[[], Model],
    *,
    epochs: int,
    rng: np.random.Generator,
    finish_epoch: Callable[[], None] = lambda: None,
    score: Callable[[Model], float] | None = None,
    description: str = "training",
) -> tuple[Model, list[EpochRecord]]:
    """Run epochs; return the averaged model, the best of all epochs where a score says which that is.

    Parameters that are not named below are those of :func:`run_epochs`.

    Parameters
    ----------
    averaged : callable
        Returns the model with the mean of the weights so far.
    score : callable, optional
        Scores a model on held-out data, higher is better.
    """
    best: list[Model] = []
    evaluate = None if score is None else lambda: score(averaged())

    def keep_best() -> None:
        best[:] = [averaged()]

    records = run_epochs(
        examples,
        step,
        epochs=epochs,
        rng=rng,
        finish_epoch=finish_epoch,
        evaluate=evaluate,
        keep_best=keep_best,
        description=description,
    )
    return (best[0] if best else averaged()), records
