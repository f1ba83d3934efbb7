"""EM that can be interrupted: its state is written after each iteration, and read to go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from numpy.typing import NDArray

from qsproj.errors import counted
from qsproj.models.archive import damage_told
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.packing import nested, unnested
from qsproj.models.schema import Arrays, checked, number, optional, shaped, whole
from qsproj.parallel import THIS_PROCESS, Workers
from qsproj.progress import notice
from qsproj.training.em import EMLimits, EMProblem, EMRecord, EMResult, EMState, run_em

STAGE = "em"

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
class EMRun:
    """How a run of EM is carried out; what comes out does not depend on it.

    ``workers``: who does the E-steps. ``checkpoint``: where to keep the state of EM; None: nowhere.
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

    ``start``: gives the parameters to begin with, a dataclass of arrays. ``problem``, ``limits`` as
    :func:`qsproj.training.em.run_em` takes them. ``checkpoint``: None: nothing is written. ``fingerprint``:
    what the state depends on: the data and every option but the number of iterations. Raises UsageError when
    the folder cannot be made or written to. Raises DataError when the checkpoint is damaged, or was made from
    other data or with other options.
    """
    if checkpoint is None:
        return run_em(start(), problem, limits=limits)
    beginning = start()
    checkpoint.make_folder()
    state = read_state(checkpoint, beginning, fingerprint=fingerprint)
    return run_em(
        state.parameters if state else beginning,
        problem,
        limits=limits,
        resume=state,
        after_iteration=lambda state: write_state(checkpoint, state, fingerprint=fingerprint),
    )


def write_state(checkpoint: Checkpoint, state: EMState[Any], *, fingerprint: str) -> None:
    """Write a state of EM whose parameters are a dataclass of arrays."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, parameters in (("parameters", state.parameters), ("best", state.best)):
        own = {field.name: getattr(parameters, field.name) for field in fields(parameters)}
        arrays |= nested(f"{name}-", own)
    records = [asdict(record) for record in state.records]
    checkpoint.write(STAGE, {"records": records}, arrays, fingerprint=fingerprint)


def read_state(checkpoint: Checkpoint, like: Parameters, *, fingerprint: str) -> EMState[Parameters] | None:
    """Read what :func:`write_state` wrote; None where there is none, or none is wanted.

    ``like``: those of the same shapes that EM starts from. Raises DataError when the file is damaged, or was
    made from other data or with other options.
    """
    found = checkpoint.read(STAGE, fingerprint=fingerprint)
    if found is None:
        return None
    header, arrays = found
    shapes = {field.name: getattr(like, field.name).shape for field in fields(like)}  # type: ignore[arg-type]
    with damage_told(checkpoint.path(STAGE)):
        parameters, best = (
            type(like)(**_of_shapes(unnested(f"{part}-", arrays), shapes)) for part in ("parameters", "best")
        )
        records = tuple(EMRecord(**checked(record, _RECORD)) for record in header["records"])
    notice(f"{checkpoint.path(STAGE)}: going on after {counted(len(records), 'iteration')} of EM")
    return EMState(parameters, best, records)


def _of_shapes(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    return {name: shaped(arrays, name, shape, least=-MOST, most=MOST) for name, shape in shapes.items()}
