"""Stochastic training that can be interrupted: its state is kept after each epoch, and read to go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.errors import DataError, counted
from qsproj.models.archive import damage_told
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.schema import checked, number, optional, whole
from qsproj.progress import notice
from qsproj.training.loop import EpochRecord, ResumableTrainer, learn_on

Example = TypeVar("Example")
Model = TypeVar("Model")

STAGE = "epochs"
_MOST = 1e300
_RECORD = {
    "epoch": whole(1, 1 << 31),
    "loss": number(-_MOST, _MOST),
    "score": optional(number(-_MOST, _MOST)),
    "seconds": number(0.0, _MOST),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStages:
    """A checkpoint together with what all of its states have to agree in.

    ``fingerprint``: of the data, and of every option but the number of epochs.
    """

    checkpoint: Checkpoint
    fingerprint: str

    def write(
        self, stage: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]], rng: np.random.Generator
    ) -> None:
        """Keep a stage, and the state of the generator after it."""
        header = {**header, "generator": rng.bit_generator.state}
        self.checkpoint.write(stage, header, arrays, fingerprint=self.fingerprint)

    def read(
        self, stage: str, rng: np.random.Generator
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Return what was kept of a stage, None where nothing was; set the generator to its state after it.

        Raises DataError as :meth:`~qsproj.models.checkpoint.Checkpoint.read`.
        """
        found = self.checkpoint.read(stage, fingerprint=self.fingerprint)
        if found is not None:
            with damage_told(self.checkpoint.path(stage)):
                rng.bit_generator.state = found[0]["generator"]
        return found


def learn_kept(
    trainer: ResumableTrainer[Example, Model],
    examples: Sequence[Example],
    *,
    epochs: int,
    rng: np.random.Generator,
    description: str,
    stages: KeptStages | None,
    tell: Callable[[EpochRecord], None],
) -> tuple[Model, list[EpochRecord]]:
    """Do what :func:`qsproj.training.loop.learn_on` does, from the beginning or from what was kept.

    ``trainer``, ``examples``, ``epochs``, ``rng``, ``description`` as there. ``stages``: where the state
    after each epoch is kept; None: nowhere. ``tell``: called with the record of each epoch that was not done
    before. Raises DataError when what was kept is damaged, of something else, or of more epochs.
    """

    def keep(records: Sequence[EpochRecord]) -> None:
        if stages is not None:
            header = {"records": [asdict(record) for record in records]}
            stages.write(STAGE, header, trainer.state(), rng)
        tell(records[-1])

    return learn_on(
        trainer,
        examples,
        epochs=epochs,
        rng=rng,
        description=description,
        earlier=() if stages is None else _restored(stages, trainer, rng, epochs),
        after_epoch=keep,
    )


def _restored(
    stages: KeptStages, trainer: ResumableTrainer[Any, Any], rng: np.random.Generator, epochs: int
) -> tuple[EpochRecord, ...]:
    """Put what was kept into a trainer; return the epochs that it has behind it."""
    found = stages.read(STAGE, rng)
    if found is None:
        return ()
    header, arrays = found
    path = stages.checkpoint.path(STAGE)
    with damage_told(path):
        records = tuple(EpochRecord(**checked(record, _RECORD)) for record in header["records"])
        trainer.restore(arrays)
    if len(records) > epochs:
        raise DataError(
            str(path),
            None,
            found=f"a checkpoint after {counted(len(records), 'epoch')}",
            expected=f"{epochs} at most",
            remedy="ask for more epochs, or name another folder to start anew",
        )
    notice(f"{path}: going on after {counted(len(records), 'epoch')}")
    return records
