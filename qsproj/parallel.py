"""One function over many items: in this process, in several of this machine, or on a Dask cluster.

Results come in the order of the items, whoever computed them, so that what is summed over them is summed in
the same order, and gives the same bytes, with any number of workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from qsproj.errors import UsageError, unknown_name

BACKENDS = ("processes", "dask")

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Who computes.

    Attributes
    ----------
    jobs : int
        Processes on this machine; 1: this process itself, -1: as many as there are cores. On a cluster it
        is not looked at: all of its workers are used.
    backend : str
        ``processes`` or ``dask``.
    scheduler : str or None
        Address of the Dask scheduler, ``tcp://host:8786``.

    Raises
    ------
    UsageError
        When the backend is unknown, there is no job, or a scheduler is missing or of no use.
    """

    jobs: int = 1
    backend: str = "processes"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise unknown_name("backend", self.backend, list(BACKENDS))
        if self.jobs < 1 and self.jobs != -1:
            raise UsageError(f"the number of jobs is {self.jobs}, expected 1 or more, or -1 for all cores")
        if (self.backend == "dask") != (self.scheduler is not None):
            raise UsageError("--backend dask and --scheduler ADDRESS go together; give both or neither")


THIS_PROCESS = Workers()


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], *, workers: Workers = THIS_PROCESS
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        Pure, and possible to send to another process: a function of a module, or a partial of one.
    items : iterable
        Consumed a few ahead of what is computed, so that it may be larger than memory.
    workers : Workers
        Work that is lost with a worker of a cluster is done again by another one.

    Raises
    ------
    UsageError
        When the cluster cannot be reached, or ``dask`` is not installed.
    """
    if workers.backend == "dask":
        yield from _on_cluster(function, items, str(workers.scheduler))
    elif workers.jobs == 1:
        yield from map(function, items)
    else:
        from joblib import Parallel

        # Without limit on what is pickled: a memory-mapped argument would be read-only, for which kernels
        # would be compiled again.
        yield from _results(
            Parallel(n_jobs=workers.jobs, return_as="generator", max_nbytes=None), function, items
        )


def _on_cluster(
    function: Callable[[Item], Result], items: Iterable[Item], scheduler: str
) -> Iterator[Result]:
    try:
        distributed = import_module("dask.distributed")
    except ImportError as error:
        raise UsageError("--backend dask needs Dask; install it: pip install 'qsproj[dask]'") from error
    from joblib import Parallel, parallel_config

    try:
        client = distributed.Client(scheduler, timeout="30s")
    except (OSError, ValueError) as error:
        raise UsageError(f"found no Dask scheduler at {scheduler}; start one: dask scheduler") from error
    with client:
        with parallel_config(backend="dask", client=client, wait_for_workers_timeout=60):
            parallel = Parallel(n_jobs=-1, return_as="generator")
        yield from _results(parallel, function, items)


def _results(parallel: Any, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    from joblib import delayed

    stopped = False

    def until_stopped() -> Iterator[Item]:
        for item in items:
            if stopped:
                return
            yield item

    results = parallel(delayed(function)(item) for item in until_stopped())
    try:
        # Not ``yield from``, which would close the results first.
        for result in results:  # noqa: UP028
            yield result
    finally:
        # Whoever wants no more results gets none, nor their errors, but what was sent out is finished:
        # joblib's cancelling of it warns, and at times fails.
        stopped = True
        with suppress(Exception):
            deque(results, maxlen=0)
