"""Map a function over items: in this process, in several on this machine, or on a Dask cluster.

Results come in the order of the items, so that sums over them give the same bytes with any number of workers.
"""

import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from threading import Thread
from typing import Any, TypeVar

from qsproj.errors import UsageError, check_name, optional_package
from qsproj.interrupts import held, was_interrupted

BACKENDS = ("processes", "dask")
# Items submitted for each worker ahead of the first result, to keep workers busy while that takes longer.
AHEAD = 4
MOST_FOR_A_CORE = 8  # of processes; more would only take memory
IDLE_SECONDS = 300  # lifetime of idle processes
WORKER_SECONDS = 60  # wait for the first worker of a cluster
WATCH_SECONDS = 1.0  # between checks of a process that its parent is alive

_STARTED: list[Any] = []  # the executor with live processes, for :func:`stop_processes`

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Parallelism; does not change results.

    ``jobs``: processes on this machine; 1: this process itself, -1: one for each core. Ignored on a cluster,
    where all workers are used. ``backend``: ``processes`` or ``dask``, which alone needs the address of a
    ``scheduler``, ``tcp://host:8786``. Raises UsageError if these do not fit, or ``jobs`` is invalid.
    """

    jobs: int = 1
    backend: str = "processes"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        check_name("backend", self.backend, BACKENDS)
        if not isinstance(self.jobs, int) or (self.jobs < 1 and self.jobs != -1):
            raise UsageError(f"the number of jobs is {self.jobs!r}, expected 1 or more, or -1 for all cores")
        if (self.backend == "dask") != (self.scheduler is not None):
            raise UsageError("--backend dask and --scheduler ADDRESS go together; give both or neither")

    @property
    def several_processes(self) -> bool:
        """Whether there are several processes on this machine, which share its files."""
        return self.backend == "processes" and self.jobs != 1


THIS_PROCESS = Workers()


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: Workers = THIS_PROCESS,
    block: int = 1,
) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in the order of the items.

    ``function``: pure and picklable: a function of a module, or a partial of one. ``items``: may be larger
    than memory: at most ``AHEAD`` blocks for each worker are pending, however slowly results are consumed.
    ``workers``: work lost with a worker of a cluster is repeated by another. ``block``: number of items sent
    to a worker at once; more than one where sending an item takes as long as computing it. Raises UsageError
    when the cluster cannot be reached, ``dask`` is not installed, or a process of this machine dies.
    """
    if workers.backend == "processes" and workers.jobs == 1:
        yield from map(function, items)
    else:
        by_whom = _on_cluster if workers.backend == "dask" else _on_processes
        blocks = by_whom(partial(_on_block, function), blocks_of(items, block), workers)
        yield from chain.from_iterable(blocks)


def blocks_of(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items; the last one may be shorter."""
    remaining = iter(items)
    while block := list(islice(remaining, size)):
        yield block


def _on_block(function: Callable[[Item], Result], block: list[Item]) -> list[Result]:
    return [function(item) for item in block]


def start_task(function: Callable[[Item], Result], item: Item) -> Callable[[], Result]:
    """Start ``function(item)`` in another process of this machine; return a function that waits for it.

    With a single core, that function computes the result itself. It raises UsageError if the process dies.
    """
    from joblib import cpu_count

    if cpu_count() == 1:
        return partial(function, item)
    return _reporting_deaths()(_started(1).submit(function, item).result)


def _on_processes(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Workers
) -> Iterator[Result]:
    from joblib import cpu_count

    processes = cpu_count() if workers.jobs == -1 else min(workers.jobs, MOST_FOR_A_CORE * cpu_count())
    with _reporting_deaths():
        yield from _results(_started(processes), function, items, ahead=AHEAD * processes)


def _started(processes: int) -> Executor:
    """Return the executor that joblib.Parallel uses.

    joblib.Parallel itself takes new items as results are computed; ours are submitted as results are
    consumed. The processes wait some minutes for the next call, such as an iteration of EM.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.backend.resource_tracker import ensure_running

    # The resource trackers of loky and Python let interrupts through once they have started. Their warnings
    # about shared memory that killed processes left behind are silenced.
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        ensure_running()
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()
    # loky replaces a process whose memory grew; nothing is lost.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    # Only this process receives the signals that end a command; it stops the others.
    with held():
        executor: Executor = get_reusable_executor(
            max_workers=processes, timeout=IDLE_SECONDS, initializer=_end_with, initargs=(os.getpid(),)
        )
        _STARTED[:] = [executor]
        executor.submit(int)  # an empty task, to start the processes
    return executor


@contextmanager
def _reporting_deaths() -> Iterator[None]:
    """Convert the death of a process, often for lack of memory, to a UsageError."""
    try:
        yield
    except BrokenExecutor as error:
        raise UsageError("a process was killed, or ran out of memory; try fewer --jobs") from error


def stop_processes(*, at_once: bool = True) -> None:
    """Stop the started processes of this machine, at once or when their work is done."""
    while _STARTED:
        _STARTED.pop().shutdown(kill_workers=at_once)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, also when the parent is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _on_cluster(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Workers
) -> Iterator[Result]:
    remedy = "install it: pip install 'qsproj[dask]'"
    distributed = optional_package("dask.distributed", f"--backend dask needs Dask; {remedy}")
    scheduler = str(workers.scheduler)
    try:
        client = distributed.Client(scheduler, timeout="30s")
    except (OSError, ValueError) as error:
        raise UsageError(f"found no Dask scheduler at {scheduler}; start one: dask scheduler") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError as error:
            remedy = f"start one: dask worker {scheduler}"
            raise UsageError(f"the Dask scheduler at {scheduler} has no worker; {remedy}") from error
        threads = sum(client.ncores().values())
        yield from _results(client.get_executor(pure=False), function, items, ahead=AHEAD * threads)


def _results(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    try:
        for future in _submitted(executor, function, items):
            waiting.append(future)
            if len(waiting) == ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After an interrupt all processes are stopped, and older versions of loky fail on cancelled work.
        if not was_interrupted():
            for future in waiting:
                future.cancel()


def _submitted(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Future[Result]]:
    """Yield futures of the results; an error while iterating over the items becomes the last future."""
    try:
        for item in items:
            yield executor.submit(function, item)
    except Exception as error:
        failed: Future[Result] = Future()
        failed.set_exception(error)
        yield failed
