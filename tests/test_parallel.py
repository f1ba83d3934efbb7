"""Work shared out: the same results in the same order, whoever computes, and whoever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import numpy as np
import pytest

from qsproj import parallel
from qsproj.alignment.hmm import HmmSettings, train_hmm
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import SentenceLengthError, UsageError
from qsproj.models.checkpoint import EMRun
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.models.qg_dmv import qg_dmv
from qsproj.models.qg_dmv.qg_dmv import train_qg_dmv
from qsproj.parallel import AHEAD, THIS_PROCESS, Workers, map_in_order, start_task
from tests.sentences import make_sentence

# A signal comes while a process starts; how many executors are then known to be stopped.
# Where another thread takes the signal, as those of a linear algebra library may, it comes a moment later.
STARTING = """
import os, signal, time
from joblib.externals import loky
from qsproj import interrupts, parallel
start = loky.get_reusable_executor
def signalled(**options):
    os.kill(os.getpid(), signal.SIGTERM)
    return start(**options)
loky.get_reusable_executor = signalled
interrupts.raise_stopped()
try:
    parallel._started(1)
    time.sleep(60)
except interrupts.Stopped:
    interrupts.ignore()
    print(len(parallel._STARTED))
    parallel.stop_processes()
"""


def later_the_smaller(number):
    """Take longer for the first items, so that they are done last."""
    time.sleep(0.02 * max(5 - number, 0))
    return number * number, os.getpid()


def killed(_):
    os.kill(os.getpid(), signal.SIGKILL)


def grown(item):
    """A process that loky takes to leak memory, and replaces."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = process_executor._MEMORY_LEAK_CHECK_DELAY = -1
    time.sleep(0.01)
    return item


def raising(error):
    raise error


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


def test_processes_are_replaced_silently():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert list(map_in_order(grown, range(40), workers=Workers(jobs=2))) == list(range(40))
    assert not told


def test_another_process_begins_at_once():
    result, other = start_task(later_the_smaller, 7)()
    assert result == 49
    assert other != os.getpid()


def test_a_single_core_begins_when_the_result_is_asked_for(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 1)
    asked = start_task(raising, ValueError("now"))
    with pytest.raises(ValueError, match="now"):
        asked()
    assert start_task(later_the_smaller, 7)() == (49, os.getpid())


def test_the_death_of_the_process_that_began_is_one_line():
    with pytest.raises(UsageError, match="a process was killed"):
        start_task(killed, None)()


def test_processes_are_known_that_a_signal_found_starting():
    """It waits until they have started, and then comes at once: they have to be stopped all the same."""
    known = subprocess.run([sys.executable, "-c", STARTING], capture_output=True, text=True, check=True)
    assert known.stdout == "1\n"


def test_a_cluster_keeps_the_order(cluster):
    workers = Workers(backend="dask", scheduler=cluster.scheduler_address)
    results = list(map_in_order(later_the_smaller, range(8), workers=workers))
    assert [value for value, _ in results] == [number * number for number in range(8)]
    assert os.getpid() not in {process for _, process in results}
    assert len({process for _, process in results}) == 2


def items_taken_before_the_second_result(workers):
    """Wait after the first result, while workers are done long since; say how many items were taken."""
    taken = []
    results = map_in_order(abs, (taken.append(number) or number for number in range(1000)), workers=workers)
    assert next(results) == 0
    time.sleep(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results.close()
    return len(taken)


@pytest.mark.parametrize(("jobs", "most"), [(1, 1), (2, 2 * AHEAD)])
def test_items_are_taken_as_results_are(jobs, most):
    assert items_taken_before_the_second_result(Workers(jobs=jobs)) == most


def test_a_cluster_takes_items_as_results_are_taken(cluster):
    workers = Workers(backend="dask", scheduler=cluster.scheduler_address)
    assert items_taken_before_the_second_result(workers) == 2 * AHEAD


@pytest.mark.parametrize("jobs", [1, 2])
def test_blocks_change_nothing(jobs):
    numbers = list(range(-7, 8))
    results = map_in_order(abs, iter(numbers), workers=Workers(jobs=jobs), block=4)
    assert list(results) == list(map(abs, numbers))


def test_errors_of_ours_come_back_from_processes():
    error = SentenceLengthError(1001, 1000)
    with pytest.raises(SentenceLengthError, match="found a sentence of 1,001 words"):
        list(map_in_order(raising, [error], workers=Workers(jobs=2)))


def test_a_killed_process_is_one_line():
    with pytest.raises(UsageError, match="a process was killed, or ran out of memory; try fewer --jobs"):
        list(map_in_order(killed, [1], workers=Workers(jobs=2)))
    assert list(map_in_order(abs, [-1], workers=Workers(jobs=2))) == [1]


def test_results_before_a_bad_item_come_first():
    """So that one worker and two stop at the same fault."""
    results = map_in_order(abs, (1 // (2 - number) for number in range(5)), workers=Workers(jobs=2))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


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


def test_a_cluster_without_workers(monkeypatch):
    distributed = pytest.importorskip(
        "dask.distributed", reason="Dask: pip install 'qsproj[dask]' to run this"
    )
    monkeypatch.setattr(parallel, "WORKER_SECONDS", 0.1)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as empty:
        workers = Workers(backend="dask", scheduler=empty.scheduler_address)
        with pytest.raises(UsageError, match="has no worker; start one: dask worker tcp"):
            list(map_in_order(abs, [1], workers=workers))


# Twenty parts of what is learned from: enough to be at work on when a worker is killed.
PART_PAIRS = 20


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
    model, _ = train_qg_dmv(sentence_pairs(400), options=options, run=EMRun(workers=workers))
    model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return the bytes of the model that one process makes, of parts that several can share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qg_dmv, "PART_PAIRS", PART_PAIRS)
        return model_bytes(tmp_path_factory.mktemp("alone") / "model")


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


def test_a_killed_worker_changes_nothing(cluster, alone, tmp_path, monkeypatch):
    monkeypatch.setattr(qg_dmv, "PART_PAIRS", PART_PAIRS)
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


def test_a_cluster_aligns_as_one_process_does(cluster):
    rng = np.random.default_rng(1)
    numbers = [rng.permutation(20)[: rng.integers(3, 8)] for _ in range(60)]
    pairs = [([f"s{word}" for word in words], [f"t{word}" for word in words[::-1]]) for words in numbers]

    def links(workers):
        aligned = train_hmm(pairs, HmmSettings(shard=10), workers=workers)
        return [(pair.size, pair.forward.tobytes(), pair.backward.tobytes()) for pair in aligned]

    assert links(Workers(backend="dask", scheduler=cluster.scheduler_address)) == links(THIS_PROCESS)


def test_two_processes_give_the_bytes_of_one(alone, tmp_path, monkeypatch):
    monkeypatch.setattr(qg_dmv, "PART_PAIRS", PART_PAIRS)
    assert model_bytes(tmp_path / "two", Workers(jobs=2)) == alone


def test_processes_are_few_whatever_is_asked(monkeypatch):
    asked = []

    def started(processes):
        asked.append(processes)
        return start(2)

    start = parallel._started
    monkeypatch.setattr(parallel, "_started", started)
    assert list(map_in_order(abs, [-1, -2], workers=Workers(jobs=100_000))) == [1, 2]
    assert asked[0] <= parallel.MOST_FOR_A_CORE * (os.cpu_count() or 1)
