"""One function over many items: in this process, in several of this machine, or on a Dask cluster.

Results come in the order of the items, whoever computed them, so that what is summed over them is summed in
the same order, and gives the same bytes, with any number of workers.
"""

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from threading import Thread
from typing import Any, TypeVar

from qsproj.errors import UsageError, check_name
from qsproj.interrupts import held, was_interrupted

BACKENDS = ("processes", "dask")
# Items that are sent out for each worker before the first result is taken: one to work at, and more, so that
# there is work left while the result that is due takes longer.
AHEAD = 4
# How long processes without work live on, and how long the first worker of a cluster is waited for.
IDLE_SECONDS = 300
WORKER_SECONDS = 60
# How often a process looks whether the one that started it is there.
WATCH_SECONDS = 1.0

# The executor whose processes live on, for :func:`stop_processes`.
_STARTED: list[Any] = []

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Who computes.

    ``jobs``: processes on this machine; 1: this process itself, -1: as many as there are cores. On a cluster
    it is not looked at: all of its workers are used. ``backend``: ``processes`` or ``dask``. ``scheduler``:
    address of the Dask scheduler, ``tcp://host:8786``. Raises UsageError when the backend is unknown, there
    is no job, or a scheduler is missing or of no use.
    """

    jobs: int = 1
    backend: str = "processes"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        check_name("backend", self.backend, BACKENDS)
        if self.jobs < 1 and self.jobs != -1:
            raise UsageError(f"the number of jobs is {self.jobs}, expected 1 or more, or -1 for all cores")
        if (self.backend == "dask") != (self.scheduler is not None):
            raise UsageError("--backend dask and --scheduler ADDRESS go together; give both or neither")

    @property
    def several_processes(self) -> bool:
        """Whether there are several on this machine, which see its files."""
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

    ``function``: pure, and possible to send to another process: a function of a module, or a partial of one.
    ``items``: may be larger than memory: at most ``AHEAD`` blocks for each worker are on their way or wait to
    be taken, however slowly results are taken. ``workers``: work that is lost with a worker of a cluster is
    done again by another one. ``block``: how many items are sent to a worker at once: more than one where an
    item takes no longer than the way there. Raises UsageError when the cluster cannot be reached, ``dask`` is
    not installed, or a process of this machine dies.
    """
    if workers.backend == "processes" and workers.jobs == 1:
        yield from map(function, items)
    else:
        on_block = partial(_on_block, function)
        by_whom = _on_cluster if workers.backend == "dask" else _on_processes
        for results in by_whom(on_block, blocks_of(items, block), workers):
            yield from results


def blocks_of(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield so many items at a time, in the end what is left."""
    remaining = iter(items)
    while block := list(islice(remaining, size)):
        yield block


def _on_block(function: Callable[[Item], Result], block: list[Item]) -> list[Result]:
    return [function(item) for item in block]


def start_task(function: Callable[[Item], Result], item: Item) -> Callable[[], Result]:
    """Begin ``function(item)`` in another process of this machine, and return what waits for its result.

    With a single core it is computed here, when it is asked for.

    Raises UsageError from what waits: when the process dies.
    """
    from joblib import cpu_count

    if cpu_count() == 1:
        return partial(function, item)
    started = _started(1).submit(function, item)

    def result() -> Result:
        with _deaths_told():
            return started.result()

    return result


def _on_processes(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Workers
) -> Iterator[Result]:
    from joblib import cpu_count

    processes = cpu_count() if workers.jobs == -1 else workers.jobs
    executor = _started(processes)
    with _deaths_told():
        yield from _results(executor, function, items, ahead=AHEAD * processes)


def _started(processes: int) -> Executor:
    """Return the executor below joblib.Parallel, which itself takes new items as results are computed.

    Ours are sent out as results are taken. The processes wait some minutes for the next call, such as an
    iteration of EM.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.backend.resource_tracker import ensure_running

    # What keeps track of shared memory, loky's and Python's own, lets interrupts through once it has started.
    # Of processes that are stopped it finds names left, or gone already: no news to whoever stopped them.
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        ensure_running()
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()
    # This process gets the signals that end a command, and stops the others.
    with held():
        executor: Executor = get_reusable_executor(
            max_workers=processes, timeout=IDLE_SECONDS, initializer=_end_with, initargs=(os.getpid(),)
        )
        _STARTED[:] = [executor]
        executor.submit(int)  # no work, for processes to be started
    return executor


@contextmanager
def _deaths_told() -> Iterator[None]:
    """Tell the death of a process as an error of the user, who may have asked for too much memory."""
    try:
        yield
    except BrokenExecutor as error:
        raise UsageError("a process was killed, or ran out of memory; try fewer --jobs") from error


def stop_processes(*, at_once: bool = True) -> None:
    """Stop the processes of this machine that were started, whatever they are at, or once they are done."""
    while _STARTED:
        _STARTED.pop().shutdown(kill_workers=at_once)


def _end_with(parent: int) -> None:
    """Have this process end soon after the one that started it, also when that is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _on_cluster(
    function: Callable[[Item], Result], items: Iterable[Item], workers: Workers
) -> Iterator[Result]:
    try:
        distributed = import_module("dask.distributed")
    except ImportError as error:
        raise UsageError("--backend dask needs Dask; install it: pip install 'qsproj[dask]'") from error
    scheduler = str(workers.scheduler)
    try:
        client = distributed.Client(scheduler, timeout="30s")
    except (OSError, ValueError) as error:
        raise UsageError(f"found no Dask scheduler at {scheduler}; start one: dask scheduler") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler at {scheduler} has no worker; start one: dask worker {scheduler}"
            ) from error
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
        if (
            not was_interrupted()
        ):  # Then all processes are stopped, and older versions of loky fail over what is cancelled.
            for future in waiting:
                future.cancel()


def _submitted(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Future[Result]]:
    """Yield what will be the results; an error of the items takes its place after those before it."""
    try:
        for item in items:
            yield executor.submit(function, item)
    except Exception as error:
        failed: Future[Result] = Future()
        failed.set_exception(error)
        yield failed
