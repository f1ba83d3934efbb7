"""Work shared out: the same results in the same order, whoever computes, and whoever dies on the way."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.models import qg_dmv_parts
from qsproj.models.qg_dmv_training import QgOptions, train_qg_dmv
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from tests.sentences import make_sentence


def later_the_smaller(number):
    """Take longer for the first items, so that they are done last."""
    time.sleep(0.02 * max(5 - number, 0))
    return number * number, os.getpid()


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two worker processes on this machine."""
    distributed = pytest.importorskip(
        "dask.distributed", reason="Dask: pip install 'qsproj[dask]' to run this"
    )
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_keep_the_order(jobs):
    results = list(map_in_order(later_the_smaller, range(8), workers=Workers(jobs=jobs)))
    assert [value for value, _ in results] == [number * number for number in range(8)]
    assert (os.getpid() in {process for _, process in results}) == (jobs == 1)


def test_a_cluster_keeps_the_order(cluster):
    workers = Workers(backend="dask", scheduler=cluster.scheduler_address)
    results = list(map_in_order(later_the_smaller, range(8), workers=workers))
    assert [value for value, _ in results] == [number * number for number in range(8)]
    assert os.getpid() not in {process for _, process in results}
    assert len({process for _, process in results}) == 2


def test_items_are_taken_as_they_are_needed():
    taken = []
    results = map_in_order(abs, (taken.append(number) or number for number in range(1000)))
    assert next(results) == 0
    assert len(taken) < 100


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_come_back(jobs):
    with pytest.raises(ZeroDivisionError):
        list(map_in_order(partial(divmod, 1), [1, 0], workers=Workers(jobs=jobs)))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"backend": "threads"}, "unknown backend 'threads'; known: processes, dask"),
        ({"jobs": 0}, "the number of jobs is 0"),
        ({"backend": "dask"}, "go together"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "go together"),
    ],
)
def test_wrong_options(options, text):
    with pytest.raises(UsageError, match=text):
        Workers(**options)


def test_an_address_that_is_none():
    pytest.importorskip("dask.distributed", reason="Dask: pip install 'qsproj[dask]' to run this")
    with pytest.raises(UsageError, match="found no Dask scheduler at nowhere; start one: dask scheduler"):
        list(map_in_order(abs, [1], workers=Workers(backend="dask", scheduler="nowhere")))


def sentence_pairs(size):
    rng = np.random.default_rng(1)
    for _ in range(size):
        n = int(rng.integers(12, 20))
        tags = rng.choice(["NOUN", "VERB", "ADP", "DET"], n)
        source = make_sentence(
            "s " * n, " ".join(tags), [0, *(int(rng.integers(1, i)) for i in range(2, n + 1))]
        )
        links = [(1 + int(word), 1 + place) for place, word in enumerate(rng.permutation(n))]
        yield SentencePair(source, make_sentence("t " * n, " ".join(tags)), make_alignment(n, n, links))


def model_bytes(path, workers=THIS_PROCESS):
    options = QgOptions(iterations=3, tolerance=-1.0)
    model, _ = train_qg_dmv(sentence_pairs(400), options=options, workers=workers)
    model.save(path)
    return path.read_bytes()


def kill_one_worker(cluster, killed, give_up):
    """Kill a worker process while it is at work, told by the scheduler having tasks on it."""
    while not give_up.is_set():
        for nanny in cluster.workers.values():
            state = cluster.scheduler.workers.get(nanny.worker_address)
            if state is not None and state.processing:
                killed.append(nanny.pid)
                os.kill(nanny.pid, signal.SIGKILL)
                return
        time.sleep(0.002)


def test_a_killed_worker_changes_nothing(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(qg_dmv_parts, "PART_PAIRS", 20)
    alone = model_bytes(tmp_path / "alone")
    workers = Workers(backend="dask", scheduler=cluster.scheduler_address)
    killed, give_up = [], threading.Event()
    assassin = threading.Thread(target=kill_one_worker, args=(cluster, killed, give_up))
    assassin.start()
    try:
        on_cluster = model_bytes(tmp_path / "cluster", workers)
    finally:
        give_up.set()
        assassin.join()
    assert len(killed) == 1
    assert killed[0] not in {nanny.pid for nanny in cluster.workers.values()}
    assert on_cluster == alone


def test_two_processes_give_the_bytes_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(qg_dmv_parts, "PART_PAIRS", 90)
    assert model_bytes(tmp_path / "two", Workers(jobs=2)) == model_bytes(tmp_path / "one")
