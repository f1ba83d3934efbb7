"""Worker processes of a server: forked, so that they share loaded models; one job at a time each.

The server itself only does I/O, and so responds while its workers are busy. A job is cancelled, because its
client has disconnected or timed out, by killing the process; forking another one takes milliseconds.
"""

import asyncio
import ctypes
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any

from qsproj.errors import QsprojError

_MOST_FILES = 65536  # an upper bound on the file descriptors of a server
_ON_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_SIZE = struct.Struct("!Q")  # prefix of messages to and from a process


def where_from(error: BaseException) -> str:
    """Return the type and location of an error, without its message, which may quote a sentence."""
    last = reversed(traceback.extract_tb(error.__traceback__)[-4:])
    return f"{type(error).__name__} at {' < '.join(f'{frame.filename}:{frame.lineno}' for frame in last)}"


class WorkerError(Exception):
    """A process failed in a job, by a bug or a kill; the message names the location."""


class ComputePool:
    """A pool of processes with a queue of jobs; ``work`` and its closure are shared. Mutable.

    ``fresh``: each job gets a process of its own, forked at its start, which has the present state.
    """

    def __init__(self, work: Callable[[Any], Any], *, processes: int, fresh: bool = False) -> None:
        self._work, self._processes, self._fresh = work, processes, fresh
        self._all = set["_Worker"]()
        self._idle: asyncio.Queue[_Worker | None] = asyncio.Queue()
        for _ in range(processes):
            self._idle.put_nowait(None if fresh else self._forked())
        self.waiting = 0

    @property
    def busy(self) -> int:
        return self._processes - self._idle.qsize()

    async def run(self, job: Any, *, most_waiting: float = inf) -> Any:
        if self.waiting >= most_waiting and not self._idle.qsize():
            raise asyncio.QueueFull
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        following: _Worker | None = None
        try:
            if worker is None or not worker.process.is_alive():
                # There is none, or it was killed from outside while idle.
                self._stop(worker)
                worker = self._forked()
            outcome = await worker.outcome(job)
            following = None if self._fresh else worker
        finally:
            if following is None:
                # For one job only; or cancelled or dead, so that it cannot take another job: the next forks.
                self._stop(worker)
            self._idle.put_nowait(following)
        if isinstance(outcome, QsprojError | WorkerError):
            raise outcome
        return outcome

    def _forked(self) -> "_Worker":
        worker = _Worker(self._work)
        self._all.add(worker)
        return worker

    def _stop(self, worker: "_Worker | None") -> None:
        if worker is not None:
            worker.stop()
            self._all.discard(worker)

    def stop(self) -> None:
        for worker in self._all:
            worker.stop()


class _Worker:
    """A process and its socket; a stopped process (SIGSTOP) blocks only its own job. Mutable; final."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("fork")
        self._socket, theirs = socket.socketpair()
        self.process = context.Process(target=_work_on, args=(work, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self._socket.setblocking(False)

    async def outcome(self, job: Any) -> Any:
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(self._socket, _message(job))
            (size,) = _SIZE.unpack(await self._received(_SIZE.size))
            return pickle.loads(await self._received(size))
        except (EOFError, OSError) as error:
            raise WorkerError("a process was killed, or ran out of memory") from error

    async def _received(self, size: int) -> bytes:
        loop, received = asyncio.get_running_loop(), bytearray(size)
        at = 0
        while at < size:
            count = await loop.sock_recv_into(self._socket, memoryview(received)[at:])
            if count == 0:
                raise EOFError
            at += count
        return bytes(received)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self._socket.close()


def _message(content: Any) -> bytes:
    pickled = pickle.dumps(content)
    return _SIZE.pack(len(pickled)) + pickled


def _work_on(work: Callable[[Any], Any], ours: socket.socket) -> None:
    # Interrupts belong to the server; the fork has copied its handlers and open connections.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # A server that is killed takes its processes along: a new one repeats their jobs.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ON_DEATH_OF_PARENT, signal.SIGKILL)
    os.closerange(3, ours.fileno())
    os.closerange(ours.fileno() + 1, _MOST_FILES)
    with ours.makefile("rb") as jobs:
        while size := jobs.read(_SIZE.size):
            job = pickle.loads(jobs.read(*_SIZE.unpack(size)))
            try:
                outcome = work(job)
            except QsprojError as error:
                # With Dask (tblib) pickle includes chained errors, and lxml's errors cannot be pickled.
                error.__context__ = error.__cause__ = None
                outcome = error.with_traceback(None)
            except Exception as error:
                outcome = WorkerError(where_from(error))
            with suppress(BrokenPipeError):  # the server has ended
                ours.sendall(_message(outcome))
