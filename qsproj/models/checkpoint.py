"""Training that can be interrupted and resumed: one state file per stage.

EM saves its state after each iteration, gradient training after each epoch.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.files import reporting_failure
from qsproj.errors import DataError, pluralise
from qsproj.models.archive import reporting_damage
from qsproj.models.schema import Arrays, checked, number, optional, shaped, whole
from qsproj.models.storage import load_archive, save_model
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.progress import notice
from qsproj.training.em import EMProblem, EMRecord, EMState, run_em
from qsproj.training.loop import EpochRecord, ResumableTrainer, learn

Example = TypeVar("Example")
Model = TypeVar("Model")
Parameters = TypeVar("Parameters")
Counts = TypeVar("Counts")

EM, EPOCHS = "em", "epochs"

# Checks of the records of iterations and epochs in a state file.
MOST = 1e300
_NUMBER = number(-MOST, MOST)
_COUNT = whole(1, 1 << 31)
_ITERATION = {"iteration": _COUNT, "log_likelihood": _NUMBER, "objective": _NUMBER}
_EPOCH = {"epoch": _COUNT, "loss": _NUMBER, "score": optional(_NUMBER), "seconds": number(0.0, MOST)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A folder for training states: one file per stage, replaced when a newer state is saved.

    ``resume``: whether to continue from a saved state; without one, training starts from the beginning.
    ``fingerprint``: of the data and of all options but those for the length of training; see :meth:`of`.
    """

    folder: Path
    resume: bool = False
    fingerprint: str = ""

    def path(self, stage: str) -> Path:
        return self.folder / f"{stage}.checkpoint"

    def stages(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.checkpoint"))

    def make_folder(self) -> None:
        with reporting_failure(self.folder, "made a folder"):
            self.folder.mkdir(parents=True, exist_ok=True)

    def of(self, fingerprint: str) -> Self:
        """Return the checkpoint for states of this fingerprint; create its folder."""
        self.make_folder()
        return replace(self, fingerprint=fingerprint)

    def write(
        self, stage: str, header: Mapping[str, Any], arrays: Arrays, rng: np.random.Generator | None = None
    ) -> None:
        """Save JSON, finite numbers and the generator's state; the file is replaced atomically."""
        header = {"fingerprint": self.fingerprint, **header}
        if rng is not None:
            header["generator"] = rng.bit_generator.state
        save_model(self.path(stage), _kind(stage), header, arrays)

    def read(
        self, stage: str, rng: np.random.Generator | None = None
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Return header and arrays of a stage, and set the generator; None without a state or ``resume``.

        Raises DataError when the file is damaged, or of other data or options.
        """
        path = self.path(stage)
        if not (self.resume and path.exists()):
            return None
        kind, header, arrays = load_archive(path)
        if kind != _kind(stage) or header.get("fingerprint") != self.fingerprint:
            found = "a checkpoint of other data or options, or of another version of qsproj"
            raise DataError(str(path), None, found, "one of these", "name another folder to start anew")
        if rng is not None:
            with reporting_damage(path):
                rng.bit_generator.state = header["generator"]
        return header, arrays


def _kind(stage: str) -> str:
    return f"{stage}-checkpoint"


def checksum(arrays: Iterable[NDArray[Any]], start: int = 0) -> int:
    for array in arrays:
        start = zlib.crc32(np.ascontiguousarray(array).data, start)
    return start


def learn_kept(
    trainer: ResumableTrainer[Example, Model],
    examples: Sequence[Example],
    *,
    epochs: int,
    rng: np.random.Generator,
    description: str,
    stages: Checkpoint | None,
    notify: Callable[[EpochRecord], None],
) -> tuple[Model, list[EpochRecord]]:
    """Run :func:`qsproj.training.loop.learn`, from the beginning or from a saved state.

    ``stages``: where the state after each epoch is saved; None: nowhere. ``notify``: called with the record
    of each new epoch. Raises DataError when more epochs than ``epochs`` were saved.
    """

    def keep(records: Sequence[EpochRecord]) -> None:
        if stages is not None:
            stages.write(EPOCHS, _header(records), trainer.state(), rng)
        notify(records[-1])

    earlier = () if stages is None else _restored(stages, trainer, rng, epochs)
    return learn(
        trainer, examples, epochs=epochs, rng=rng, description=description, earlier=earlier, after_epoch=keep
    )


def _restored(
    stages: Checkpoint, trainer: ResumableTrainer[Any, Any], rng: np.random.Generator, epochs: int
) -> tuple[EpochRecord, ...]:
    found = stages.read(EPOCHS, rng)
    if found is None:
        return ()
    header, arrays = found
    path = stages.path(EPOCHS)
    with reporting_damage(path):
        records = tuple(EpochRecord(**checked(record, _EPOCH)) for record in header["records"])
        trainer.restore(arrays)
    if len(records) > epochs:
        what = f"a checkpoint after {pluralise(len(records), 'epoch')}"
        remedy = "ask for more epochs, or name another folder to start anew"
        raise DataError(str(path), None, what, f"{epochs} at most", remedy)
    notice(f"{path}: continuing after {pluralise(len(records), 'epoch')}")
    return records


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
    beginning = start()
    if checkpoint is None:
        return run_em(beginning, problem)
    stages = checkpoint.of(fingerprint)

    def keep(state: EMState[Any]) -> None:
        arrays = {one.name: getattr(state.parameters, one.name) for one in fields(state.parameters)}
        stages.write(EM, _header(state.records), arrays)

    return run_em(beginning, problem, resume=_read_em(stages, beginning), after_iteration=keep)


def _read_em(stages: Checkpoint, like: Parameters) -> EMState[Parameters] | None:
    found = stages.read(EM)
    if found is None:
        return None
    header, arrays = found
    shapes = {field.name: getattr(like, field.name).shape for field in fields(like)}  # type: ignore[arg-type]
    with reporting_damage(stages.path(EM)):
        own = [shaped(arrays, name, shape, least=-MOST, most=MOST) for name, shape in shapes.items()]
        records = tuple(EMRecord(**checked(record, _ITERATION)) for record in header["records"])
    notice(f"{stages.path(EM)}: continuing after {pluralise(len(records), 'iteration')} of EM")
    return EMState(type(like)(*own), records)


def _header(records: Sequence[Any]) -> dict[str, Any]:
    return {"records": [asdict(record) for record in records]}
