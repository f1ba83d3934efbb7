"""Processes that work for a server: what comes back of a job."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from functools import partial

import pytest

from qsproj.errors import UsageError
from qsproj.serve import compute
from qsproj.serve.compute import ComputePool, WorkerError
from tests.serve.client import is_alive, until


def refuse(_, *, pickle_context):
    """Refuse input because of an error that cannot be pickled; have pickle try, as Dask does."""
    if pickle_context:
        pytest.importorskip("tblib.pickling_support").install()
    error = ValueError()
    error.cause = lambda: None
    try:
        raise error
    except ValueError:
        raise UsageError("found no XML") from None


@pytest.mark.parametrize("pickle_context", [False, True])
def test_a_refusal_comes_back_whatever_was_behind_it(pickle_context):
    pytest.importorskip("tblib.pickling_support")
    pool = ComputePool(partial(refuse, pickle_context=pickle_context), processes=1)
    try:
        with pytest.raises(UsageError, match=r"^found no XML$"):
            asyncio.run(pool.run(1))
    finally:
        pool.stop()


def doubled(job):
    """Return twice a number; without one, the process ends."""
    return os._exit(1) if job is None else 2 * job


@pytest.mark.skipif(sys.platform != "linux", reason="Linux ends processes with their parent")
def test_processes_end_with_a_server_that_is_killed():
    code = """
import asyncio, os, time
from qsproj.serve.compute import ComputePool
def work(seconds):
    print(os.getpid(), flush=True)
    time.sleep(seconds)
asyncio.run(ComputePool(work, processes=1).run(60))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as server:
        worker = int(server.stdout.readline())
        assert is_alive(worker)
        server.kill()
    until(lambda: not is_alive(worker), seconds=10)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_process_that_cannot_be_forked_leaves_its_place(monkeypatch, fresh):
    def refuse_to_fork(_):
        raise BlockingIOError("Resource temporarily unavailable")

    async def jobs():
        with monkeypatch.context() as patched:
            if not fresh:
                patched.setattr(compute, "_Worker", refuse_to_fork)
            with pytest.raises(WorkerError):
                await pool.run(None)
            patched.setattr(compute, "_Worker", refuse_to_fork)
            with pytest.raises(BlockingIOError):
                await pool.run(1)
        assert pool.busy == 0
        return [await asyncio.wait_for(pool.run(number), 30.0) for number in (1, 2)]

    pool = ComputePool(doubled, processes=1, fresh=fresh)
    try:
        assert asyncio.run(jobs()) == [2, 4]
    finally:
        pool.stop()


def slowly_doubled(job):
    time.sleep(0.5)
    return 2 * job


def test_a_burst_waits_no_longer_than_one_by_one():
    async def burst():
        jobs = (pool.run(number, most_waiting=2) for number in range(6))
        return await asyncio.gather(*jobs, return_exceptions=True)

    pool = ComputePool(slowly_doubled, processes=1)
    try:
        done = asyncio.run(burst())
    finally:
        pool.stop()
    assert done[:3] == [0, 2, 4]
    assert all(isinstance(one, asyncio.QueueFull) for one in done[3:])
