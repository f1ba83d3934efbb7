"""Requests that are too large, too slow, too many; clients that go away or say half of it; faults of ours."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from tests.serve.client import children_of, is_alive, until


def stubborn(job):
    """Sleep for ever, fail, die or answer, as the data say: what a model of ours should not do."""
    from qsproj.serve.udpipe import Processed

    if job["data"] == "sleep":
        time.sleep(10_000)
    if job["data"] == "fail":
        raise ValueError("a secret sentence")
    if job["data"] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return Processed("model", f"by {os.getpid()}", 1, 1)


@pytest.fixture
def impatient(serving):
    """Serve with one process, one request that may wait, and short times."""
    yield from served(serving, seconds=1.0)


@pytest.fixture
def patient(serving):
    yield from served(serving, seconds=60.0)


def served(serving, *, seconds):
    with serving(stubborn_app(seconds=seconds, size=1000), seconds=seconds) as client:
        yield client


def stubborn_app(*, seconds, size):
    """Return what makes an application of one process that is :func:`stubborn`."""
    from qsproj.serve.compute import ComputePool
    from qsproj.serve.requests import Limits, with_access_log
    from qsproj.serve.udpipe import HEADERS, PATHS, udpipe_app

    def make_app(pools):
        pools.append(ComputePool(stubborn, processes=1))
        limits = Limits(bytes=size, seconds=seconds, waiting=1)
        return with_access_log(udpipe_app({"model": None}, pools[0], limits), paths=PATHS, headers=HEADERS)

    return make_app


def asked_aside(client, data):
    """Ask in a thread; return what waits for the answer."""
    told = []
    asking = threading.Thread(target=lambda: told.append(client.ask("/process", data={"data": data})))
    asking.start()

    def answer():
        asking.join(60)
        return told[0]

    return answer


def answers(client):
    answer = client.ask("/process", data={"data": "answer"})
    assert answer.status == 200, answer.text
    return answer.json["result"]


HEAD = b"POST /process HTTP/1.1\r\nHost: here\r\nContent-Type: application/x-www-form-urlencoded\r\n"


def test_a_request_may_be_too_large(patient):
    assert patient.ask("/process", data={"data": "x" * 2000}).status == 413
    with patient.connect() as connection:
        chunks = b"%x\r\n%s\r\n" % (900, b"x" * 900)
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + chunks)
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
    assert answers(patient)


def test_half_a_request_is_not_waited_for(impatient):
    """Neither half a body nor half of what comes before it, nor a client that says nothing."""
    with impatient.connect() as body, impatient.connect() as head, impatient.connect() as silent:
        body.sendall(HEAD + b"Content-Length: 100\r\n\r\ndata=")
        head.sendall(HEAD)
        assert body.recv(100).startswith(b"HTTP/1.1 408 ")
        assert head.recv(100) == b""
        assert silent.recv(100) == b""
    assert answers(impatient)


def test_half_a_second_request_is_not_waited_for_either(impatient):
    with impatient.connect() as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /hea")
        assert b"".join(iter(lambda: connection.recv(1000), b"")).count(b"HTTP/1.1") == 0


def test_work_that_takes_too_long_is_stopped(impatient):
    before = answers(impatient)
    answer = impatient.ask("/process", data={"data": "sleep"})
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert answers(impatient) != before
    assert impatient.ask("/health").json["busy"] == 0


def test_a_client_that_goes_away_stops_its_work(patient):
    before, (child,) = answers(patient), children_of(patient.pid)
    with patient.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 10\r\n\r\ndata=sleep")
        until(lambda: patient.ask("/health").json["busy"])
    until(lambda: not patient.ask("/health").json["busy"])
    assert answers(patient) != before
    assert not is_alive(child)
    assert patient.logged(path="/process", status=499)


def test_more_than_may_wait_are_told_to_come_again(patient):
    connections = [patient.connect() for _ in range(2)]
    for number, connection in enumerate(connections):
        connection.sendall(HEAD + b"Content-Length: 10\r\n\r\ndata=sleep")
        until(lambda number=number: patient.ask("/health").json["waiting"] == number)
    answer = patient.ask("/process", data={"data": "answer"})
    assert (answer.status, answer.headers["retry-after"]) == (429, "1")
    # What waits is done once the one before it is given up.
    results = []
    connections[1].close()
    until(lambda: patient.ask("/health").json["waiting"] == 0)
    waiting = threading.Thread(target=lambda: results.append(answers(patient)))
    waiting.start()
    until(lambda: patient.ask("/health").json["waiting"] == 1)
    connections[0].close()
    waiting.join(60)
    assert results


@pytest.mark.parametrize("data", ["fail", "die"])
def test_a_fault_is_told_in_the_log_alone(patient, data):
    answer = patient.ask("/process", data={"data": data})
    assert answer.status == 500
    assert "Traceback" not in answer.text
    line = patient.logged(path="/process", status=500)
    assert ("ValueError at " if data == "fail" else "a process was killed") in line["fault"]
    assert "secret" not in answer.text + patient.log.read_text()
    assert answers(patient)


def test_a_process_that_was_killed_while_idle_is_replaced_before_it_is_asked(patient):
    before, (child,) = answers(patient), children_of(patient.pid)
    os.kill(child, signal.SIGKILL)
    until(lambda: not is_alive(child))
    assert answers(patient) != before


@pytest.mark.slow
@pytest.mark.parametrize("words", [1, 100_000])
def test_a_process_that_is_stopped_holds_up_its_own_job_alone(serving, words):
    """However much is sent to it: more than a pipe holds must not block the server."""
    with serving(stubborn_app(seconds=3.0, size=1 << 20), seconds=3.0) as client:
        before, (child,) = answers(client), children_of(client.pid)
        os.kill(child, signal.SIGSTOP)
        told = asked_aside(client, "word " * words)
        until(lambda: client.ask("/health").json["busy"] == 1)
        answer = told()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answers(client) != before
        assert not is_alive(child)


@pytest.mark.slow
def test_a_request_under_way_is_told_that_the_server_stops(patient):
    told = asked_aside(patient, "sleep")
    until(lambda: patient.ask("/health").json["busy"])
    os.kill(patient.pid, signal.SIGTERM)
    answer = told()
    assert (answer.status, answer.text) == (503, "the server is being stopped; ask again once it runs\n")
    assert patient.logged(path="/process", status=503, stopped=True)
    assert "ASGI" not in patient.log.read_text()


def test_a_fault_of_the_application_is_told_in_the_log_alone(serving):
    from qsproj.serve.requests import with_access_log

    async def faulty(scope, receive, send):
        raise ValueError("a secret sentence")

    with serving(lambda pools: with_access_log(faulty, paths=())) as client:
        answer = client.ask("/process")
        assert (answer.status, answer.text) == (500, "internal error; see the server's log\n")
        assert "ValueError at " in client.logged(status=500)["fault"]
        assert "secret" not in client.log.read_text()


def test_a_killed_server_leaves_no_process(patient):
    """Also when one of them was started while connections were open."""
    patient.ask("/process", data={"data": "die"})
    patient.ask("/process", data={"data": "text"})
    (child,) = children_of(patient.pid)
    os.kill(patient.pid, signal.SIGKILL)
    until(lambda: not is_alive(child))


def test_what_is_no_http_is_a_line_of_the_log(patient):
    with patient.connect() as connection:
        connection.sendall(b"\x16\x03\x01 a secret sentence\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert patient.logged(said="Invalid HTTP request received.")
    assert "secret" not in patient.log.read_text()
