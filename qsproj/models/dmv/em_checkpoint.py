"""EM that can be interrupted: its state is written after each iteration, and read to go on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.errors import DataError, UsageError
from qsproj.models.archive import damage_told
from qsproj.models.schema import Arrays, checked, number, optional, shaped, whole
from qsproj.models.storage import load_archive, nested, save_model, unnested
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.training.em import EMLimits, EMProblem, EMRecord, EMResult, EMState, run_em

KIND = "em-checkpoint"
FILE_NAME = "em.checkpoint"

# What stands in the file of each iteration.
MOST = 1e300
_LIKELIHOOD = number(-MOST, MOST)
_RECORD = {
    "iteration": whole(1, 1 << 31),
    "log_likelihood": _LIKELIHOOD,
    "objective": _LIKELIHOOD,
    "held_out": optional(_LIKELIHOOD),
}

Parameters = TypeVar("Parameters")
Counts = TypeVar("Counts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where the state of EM is kept.

    Attributes
    ----------
    folder : Path
        Made where it is not there. It holds one file, replaced after each iteration.
    resume : bool
        Whether to go on from what is there; a folder without a state is started from the beginning.
    """

    folder: Path
    resume: bool = False

    @property
    def path(self) -> Path:
        """The file that the state is in."""
        return self.folder / FILE_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class EMRun:
    """How a run of EM is carried out; what comes out does not depend on it.

    Attributes
    ----------
    workers : Workers
        Who does the E-steps.
    checkpoint : Checkpoint or None
        Where to keep the state of EM; None: nowhere.
    """

    workers: Workers = THIS_PROCESS
    checkpoint: Checkpoint | None = None


HERE_AT_ONCE = EMRun()


def run_resumable_em(
    start: Callable[[], Parameters],
    problem: EMProblem[Parameters, Counts],
    *,
    limits: EMLimits,
    checkpoint: Checkpoint | None,
    fingerprint: str,
) -> EMResult[Parameters]:
    """Run EM, from the beginning or from a checkpoint; the result is the same.

    Parameters
    ----------
    start : callable
        Gives the parameters to begin with, a dataclass of arrays.
    problem, limits
        As :func:`qsproj.training.em.run_em` takes them.
    checkpoint : Checkpoint or None
        None: nothing is written.
    fingerprint : str
        What the state depends on: the data and every option but the number of iterations.

    Raises
    ------
    UsageError
        When the folder cannot be made or written to.
    DataError
        When the checkpoint is damaged, or was made from other data or with other options.
    """
    if checkpoint is None:
        return run_em(start(), problem, limits=limits)
    folder, state, beginning = checkpoint.folder, None, start()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made a folder: {error.strerror}") from error
    if checkpoint.resume and checkpoint.path.exists():
        state = read_state(checkpoint.path, beginning, fingerprint=fingerprint)
    return run_em(
        state.parameters if state else beginning,
        problem,
        limits=limits,
        resume=state,
        after_iteration=lambda state: write_state(checkpoint.path, state, fingerprint=fingerprint),
    )


def write_state(path: Path, state: EMState[Any], *, fingerprint: str) -> None:
    """Write a state of EM whose parameters are a dataclass of arrays; the file appears when it is whole."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, parameters in (("parameters", state.parameters), ("best", state.best)):
        own = {field.name: getattr(parameters, field.name) for field in fields(parameters)}
        arrays |= nested(f"{name}-", own)
    records = [asdict(record) for record in state.records]
    save_model(path, KIND, {"fingerprint": fingerprint, "records": records}, arrays)


def read_state(path: Path, like: Parameters, *, fingerprint: str) -> EMState[Parameters]:
    """Read what :func:`write_state` wrote.

    Parameters
    ----------
    like : Parameters
        Those of the same shapes that EM starts from.

    Raises
    ------
    DataError
        When the file is damaged, or was made from other data or with other options.
    """
    kind, header, arrays = load_archive(path)
    if kind != KIND or header.get("fingerprint") != fingerprint:
        raise _not_of_this(path)
    shapes = {field.name: getattr(like, field.name).shape for field in fields(like)}  # type: ignore[arg-type]
    with damage_told(path):
        parameters, best = (
            type(like)(**_of_shapes(unnested(f"{part}-", arrays), shapes)) for part in ("parameters", "best")
        )
        records = tuple(EMRecord(**checked(record, _RECORD)) for record in header["records"])
    return EMState(parameters, best, records)


def _of_shapes(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    return {name: shaped(arrays, name, shape, least=-MOST, most=MOST) for name, shape in shapes.items()}


def _not_of_this(path: Path) -> DataError:
    return DataError(
        str(path),
        None,
        found="a checkpoint of other data or options, or of another version of qsproj",
        expected="one of these",
        remedy="name another folder, or leave out --resume to start anew",
    )


def checksum(arrays: Iterable[NDArray[Any]], start: int = 0) -> int:
    """Return the CRC-32 of the bytes of the arrays, going on from ``start``, that of others before."""
    for array in arrays:
        start = zlib.crc32(np.ascontiguousarray(array).data, start)
    return start
