"""Training that can be resumed: one state file per stage, after each iteration of EM or each epoch."""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Rng
from qsproj.corpus.files import reporting_failure
from qsproj.errors import DataError, pluralise
from qsproj.models.schema import Archive, Arrays, checked, number, optional, shaped, whole
from qsproj.models.storage import load_archive, reporting_damage, save_model
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.progress import notice
from qsproj.training.em import EMProblem, EMRecord, EMState, run_em
from qsproj.training.loop import EpochRecord, ResumableTrainer, learn

Example = TypeVar("Example")
Model = TypeVar("Model")
Parameters = TypeVar("Parameters")
Counts = TypeVar("Counts")

EM, EPOCHS = "em", "epochs"
KIND = "{}-checkpoint"
# Checks of the records of iterations and epochs in a state file.
MOST = 1e300
_NUMBER = number(-MOST, MOST)
_COUNT = whole(1, 1 << 31)
_ITERATION = {"iteration": _COUNT, "log_likelihood": _NUMBER, "objective": _NUMBER}
_EPOCH = {"epoch": _COUNT, "loss": _NUMBER, "score": optional(_NUMBER), "seconds": number(0.0, MOST)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A folder for training states: one file per stage, replaced when a newer state is saved."""

    folder: Path
    resume: bool = False  # whether to continue from a saved state; without one, training starts anew
    fingerprint: str = ""  # of the data and of all options but the length of training; see :meth:`of`

    def path(self, stage: str) -> Path:
        return self.folder / f"{stage}.checkpoint"

    def stages(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.checkpoint"))

    def of(self, fingerprint: str) -> Self:
        """Return the checkpoint for states of this fingerprint; create its folder."""
        with reporting_failure(self.folder, "made a folder"):
            self.folder.mkdir(parents=True, exist_ok=True)
        return replace(self, fingerprint=fingerprint)

    def write(self, stage: str, header: Mapping[str, Any], arrays: Arrays, rng: Rng | None = None) -> None:
        """Save JSON, finite numbers and the generator's state; the file is replaced atomically."""
        header = {"fingerprint": self.fingerprint, **header}
        if rng is not None:
            header["generator"] = rng.bit_generator.state
        save_model(self.path(stage), KIND.format(stage), header, arrays)

    def read(self, stage: str, rng: Rng | None = None) -> Archive | None:
        """Return header and arrays, and set the generator; None without a state, DataError for a bad one."""
        path = self.path(stage)
        if not (self.resume and path.exists()):
            return None
        kind, header, arrays = load_archive(path)
        if kind != KIND.format(stage) or header.get("fingerprint") != self.fingerprint:
            found = "a checkpoint of other data or options, or of another version of qsproj"
            raise DataError(str(path), None, found, "one of these", "name another folder to start anew")
        if rng is not None:
            with reporting_damage(path):
                rng.bit_generator.state = header["generator"]
        return header, arrays


def checksum(arrays: Iterable[NDArray[Any]], start: int = 0) -> int:
    for array in arrays:
        start = zlib.crc32(np.ascontiguousarray(array).data, start)
    return start


def learn_kept(
    trainer: ResumableTrainer[Example, Model],
    examples: Sequence[Example],
    *,
    epochs: int,
    rng: Rng,
    stages: Checkpoint | None,
    notify: Callable[[EpochRecord], None],
) -> tuple[Model, list[EpochRecord]]:
    """Run :func:`qsproj.training.loop.learn`, from the beginning or from a saved state.

    ``stages``: where the state after each epoch is saved; None: nowhere. ``notify``: called with the record
    of each new epoch. Raises DataError when more epochs than ``epochs`` were saved.
    """

    def keep(records: Sequence[EpochRecord]) -> None:
        if stages is not None:
            stages.write(EPOCHS, {"records": list(map(asdict, records))}, trainer.state(), rng)
        notify(records[-1])

    earlier: tuple[EpochRecord, ...] = ()
    if stages is not None and (found := stages.read(EPOCHS, rng)):
        header, arrays = found
        path = stages.path(EPOCHS)
        with reporting_damage(path):
            earlier = tuple(EpochRecord(**checked(record, _EPOCH)) for record in header["records"])
            trainer.restore(arrays)
        _note_earlier(path, len(earlier), epochs, "epoch")
    return learn(
        trainer, examples, epochs=epochs, rng=rng, description="training", earlier=earlier, after_epoch=keep
    )


def _note_earlier(path: Path, done: int, most: int, unit: str) -> None:
    """Note the passes of an earlier run; DataError if there are more than ``most``."""
    if done > most:
        found, remedy = pluralise(done, unit), f"ask for more {unit}s, or name another folder to start anew"
        raise DataError(str(path), None, f"a checkpoint after {found}", f"{most} at most", remedy)
    notice(f"{path}: continuing after {pluralise(done, unit)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EMRun:
    """Settings of EM that do not change results: parallel E-steps, and where the state is saved."""

    workers: Workers = THIS_PROCESS
    checkpoint: Checkpoint | None = None


LOCAL_RUN = EMRun()


def run_em_kept(
    start: Callable[[], Parameters],
    problem: EMProblem[Parameters, Counts],
    *,
    checkpoint: Checkpoint | None,
    fingerprint: str,
) -> EMState[Parameters]:
    """Run EM from the beginning or a saved state; ``start`` makes the parameters, a dataclass of arrays."""
    beginning: Any = start()
    if checkpoint is None:
        return run_em(beginning, problem)
    stages, resume = checkpoint.of(fingerprint), None
    names = [field.name for field in fields(beginning)]

    def keep(state: EMState[Any]) -> None:
        arrays = {name: getattr(state.parameters, name) for name in names}
        stages.write(EM, {"records": list(map(asdict, state.records))}, arrays)

    if found := stages.read(EM):
        header, arrays = found
        path = stages.path(EM)
        with reporting_damage(path):
            shapes = (getattr(beginning, name).shape for name in names)
            own = [shaped(arrays, *one, least=-MOST, most=MOST) for one in zip(names, shapes, strict=True)]
            records = tuple(EMRecord(**checked(record, _ITERATION)) for record in header["records"])
        _note_earlier(path, len(records), problem.iterations, "iteration")
        resume = EMState(type(beginning)(*own), records)
    return run_em(beginning, problem, resume=resume, after_iteration=keep)
