"""The loop of stochastic training: shuffled epochs, early stopping, one record for each epoch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from qsproj.conventions import Rng
from qsproj.progress import track
from qsproj.training.optimiser import SparseOptimiser

Example = TypeVar("Example")
Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One pass over the data, counted from 1.

    ``loss``: mean per example, each before its own step. ``score``: on held-out data, higher is better.
    """

    epoch: int
    loss: float
    score: float | None
    seconds: float


class Trainer(ABC, Generic[Example, Model]):
    """Weights that the loop trains on one example after the other. Mutable; abstract."""

    @abstractmethod
    def step(self, example: Example) -> float:
        """Learn from one example; return its loss before the step."""

    def regularise(self) -> None:
        """Shrink the weights once after each epoch; by default, do nothing."""
        return

    @abstractmethod
    def averaged(self) -> Model:
        """Return the model with the mean of the weights after every step so far."""


@dataclass(frozen=True, slots=True)
class Steps(Trainer[Example, Model]):
    """A trainer of two functions; ``penalised``: what shrinks its weights after each epoch."""

    take: Callable[[Example], float]
    mean: Callable[[], Model]
    penalised: Sequence[Trainer[Any, Any] | SparseOptimiser] = ()

    def step(self, example: Example) -> float:
        return self.take(example)

    def regularise(self) -> None:
        for one in self.penalised:
            one.regularise()

    def averaged(self) -> Model:
        return self.mean()


class ResumableTrainer(Trainer[Example, Model]):
    """A trainer whose state between two epochs can be saved and restored. Abstract."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """Return the complete state between two epochs, as finite numbers."""

    @abstractmethod
    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore a :meth:`state`; KeyError or ValueError when parts are missing or do not fit."""


def learn(
    trainer: Trainer[Example, Model],
    examples: Sequence[Example],
    *,
    epochs: int,
    rng: Rng,
    score: Callable[[Model], float] | None = None,
    patience: int | None = 3,
    earlier: Sequence[EpochRecord] = (),
    after_epoch: Callable[[Sequence[EpochRecord]], None] = lambda _: None,
    description: str = "training",
) -> tuple[Model, list[EpochRecord]]:
    """Train on the examples in a new order each epoch; return the averaged model and records.

    ``score`` scores a model on held-out data after each epoch, higher is better: the model is then the best
    of all epochs, the first of equals, and ``patience`` epochs in a row without improvement end training
    (None: never). ``earlier``: unscored epochs so far, among ``epochs``. ``after_epoch`` takes all records.
    """
    records = list(earlier)
    best: tuple[float, int, Model] | None = None
    for epoch in range(len(records) + 1, epochs + 1):
        order = rng.permutation(len(examples))
        following = track(order, f"{description}, epoch {epoch} of {epochs}", total=len(examples))
        start = process_time()
        loss = sum(trainer.step(examples[int(i)]) for i in following)
        trainer.regularise()
        record = EpochRecord(epoch, loss / max(len(examples), 1), None, process_time() - start)
        if score is not None:
            model = trainer.averaged()
            scored = score(model)
            record = replace(record, score=scored)
            if best is None or scored > best[0]:
                best = scored, epoch, model
        records.append(record)
        after_epoch(records)
        if best and patience is not None and epoch - best[1] >= patience:
            break
    return (best[2] if best else trainer.averaged()), records
