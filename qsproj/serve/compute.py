"""Processes that work for a server: forked, so that they share what it loaded before; one job at a time each.

The server itself only reads and writes, and so answers at once whatever its processes are at. A job that is
given up, because its client has gone or its time is over, is stopped by ending the process; another one is
forked, which takes milliseconds.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from qsproj.errors import QsprojError
from qsproj.serve.outermost import where_from

# More file descriptors than a server of ours has open.
_MOST_FILES = 65536


class WorkerError(Exception):
    """A process failed at a job, by a bug or a kill; the text says where."""


class ComputePool:
    """A few processes, and the jobs that wait for one. Mutable; final.

    Parameters
    ----------
    work : callable
        Takes a job and returns what comes of it; both can be pickled. What it closes over was loaded before
        and is shared.
    processes : int
    """

    def __init__(self, work: Callable[[Any], Any], *, processes: int) -> None:
        self._work = work
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._all = {_Worker(work) for _ in range(processes)}
        for worker in self._all:
            self._idle.put_nowait(worker)
        self.waiting = 0

    @property
    def busy(self) -> int:
        """How many processes are at work."""
        return len(self._all) - self._idle.qsize()

    async def run(self, job: Any) -> Any:
        """Return what comes of a job, once a process is free.

        Raises
        ------
        QsprojError
            That the work raised.
        WorkerError
            When it raised anything else, or its process died.
        """
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        try:
            outcome = await worker.outcome(job)
        except BaseException:
            # Given up, or dead: either way it cannot be given another job.
            worker.stop()
            self._all.discard(worker)
            worker = _Worker(self._work)
            self._all.add(worker)
            raise
        finally:
            self._idle.put_nowait(worker)
        if isinstance(outcome, QsprojError | WorkerError):
            raise outcome
        return outcome

    def stop(self) -> None:
        """End all processes."""
        for worker in self._all:
            worker.stop()


class _Worker:
    """One process and the pipe to it. Mutable; final."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work_on, args=(work, theirs), daemon=True)
        self._process.start()
        theirs.close()

    async def outcome(self, job: Any) -> Any:
        """Return what comes of a job, errors included; raise WorkerError when the process dies."""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[None] = loop.create_future()
        descriptor = self._pipe.fileno()
        try:
            self._pipe.send(job)
            loop.add_reader(descriptor, _settle, answered)
            await answered
            return self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerError("a process was killed, or ran out of memory") from error
        finally:
            loop.remove_reader(descriptor)

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _work_on(work: Callable[[Any], Any], pipe: Connection) -> None:
    """Do jobs until the other end of the pipe closes."""
    # An interrupt is the server's to hear, whose handlers and open connections were copied along.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.closerange(3, pipe.fileno())
    os.closerange(pipe.fileno() + 1, _MOST_FILES)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            outcome = work(job)
        except QsprojError as error:
            outcome = error
        except Exception as error:
            outcome = WorkerError(where_from(error))
        pipe.send(outcome)
