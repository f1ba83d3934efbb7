"""Downloads from a server that is slow, breaks off, redirects, is silent, or changes its files."""

import os
from types import SimpleNamespace

import pytest

from qsproj.datasets.store import MissingFileError, RetryPolicy, _check_answer, download
from qsproj.errors import UsageError
from tests.datasets.server import serving

pytest.importorskip("requests")
QUICK = RetryPolicy(connect=2.0, silence=2.0, attempts=3, pause=0.001)
CONTENT = bytes(range(256)) * 400
CHUNK = 1 << 14


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch):
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def server():
    with serving() as files:
        files.content["/file"] = CONTENT
        yield files


def fetch(server, folder, *, path="/file", patience=QUICK):
    """Return the bytes that were fetched."""
    arrived = []
    download(
        server.url + path,
        folder / "file",
        lambda partial: arrived.append(partial.read_bytes()),
        patience=patience,
    )
    return arrived[0]


def test_a_file_is_fetched(server, tmp_path):
    assert fetch(server, tmp_path / "new" / "folder") == CONTENT
    assert server.asked == [("/file", None)]


def test_a_slow_server_is_waited_for(server, tmp_path):
    server.pause = 0.005
    assert fetch(server, tmp_path, patience=RetryPolicy(silence=0.3, attempts=1)) == CONTENT


def test_a_download_that_breaks_off_goes_on(server, tmp_path):
    server.breaks_at = [3 * CHUNK, CHUNK + 1000]
    assert fetch(server, tmp_path) == CONTENT
    assert server.starts == [0, 3 * CHUNK, 4 * CHUNK]


def test_a_server_that_breaks_off_often_gets_there(server, tmp_path):
    server.breaks_at = [CHUNK] * (QUICK.attempts + 2)
    assert fetch(server, tmp_path) == CONTENT


@pytest.mark.parametrize("weak", [False, True])
def test_the_next_run_goes_on_where_one_was_given_up(server, tmp_path, weak):
    server.weak = weak
    server.breaks_at = [2 * CHUNK]
    with pytest.raises(UsageError, match=r"32,768 bytes received are kept: run the command again"):
        fetch(server, tmp_path, patience=RetryPolicy(attempts=1))
    assert fetch(server, tmp_path) == CONTENT
    assert server.starts == [0, 2 * CHUNK]


@pytest.mark.parametrize("weak", [False, True])
def test_a_file_that_was_changed_is_fetched_anew(server, tmp_path, weak):
    server.weak = weak
    server.breaks_at = [2 * CHUNK]
    with pytest.raises(UsageError):
        fetch(server, tmp_path, patience=RetryPolicy(attempts=1))
    server.content["/file"] = CONTENT[::-1]
    assert fetch(server, tmp_path) == CONTENT[::-1]


def test_what_had_come_whole_is_not_fetched_again(server, tmp_path):
    def fails(_):
        raise UsageError("not now")

    with pytest.raises(UsageError, match="not now"):
        download(f"{server.url}/file", tmp_path / "file", fails, patience=QUICK)
    server.pause = 10.0
    assert fetch(server, tmp_path) == CONTENT


def test_a_server_that_breaks_off_each_time_is_given_up(server, tmp_path):
    server.fails = [503, 503, 503]
    with pytest.raises(UsageError, match="could not be fetched: the server answers 503"):
        fetch(server, tmp_path)
    assert len(server.asked) == QUICK.attempts


def test_a_server_that_is_busy_is_asked_again(server, tmp_path):
    server.fails = [429, 503]
    assert fetch(server, tmp_path) == CONTENT


def test_redirects_are_followed(server, tmp_path):
    server.redirects = {"/old": "/older", "/older": "/file"}
    assert fetch(server, tmp_path, path="/old") == CONTENT
    server.redirects = {"/round": "/round"}
    with pytest.raises(UsageError, match="could not be fetched"):
        fetch(server, tmp_path, path="/round", patience=RetryPolicy(attempts=1))


def test_nobody_is_led_from_a_safe_connection_to_an_unsafe_one():
    answer = SimpleNamespace(status_code=200, url="http://elsewhere/file")
    with pytest.raises(UsageError, match="redirects to http://elsewhere/file, expected https"):
        _check_answer("https://here/file", answer)


def test_a_file_that_is_not_there_is_said_at_once(server, tmp_path):
    with pytest.raises(MissingFileError, match=r"/none: found no such file \(404\)"):
        fetch(server, tmp_path, path="/none")
    assert len(server.asked) == 1


def test_a_refusal_is_said_at_once(server, tmp_path):
    server.fails = [403]
    with pytest.raises(UsageError, match="found the answer 403 Forbidden, expected the file"):
        fetch(server, tmp_path)


def test_a_server_that_falls_silent_is_given_up(server, tmp_path):
    server.pause = 0.5
    with pytest.raises(UsageError, match=r"it stopped responding|cannot be reached"):
        fetch(server, tmp_path, patience=RetryPolicy(silence=0.05, attempts=1))


def test_a_server_that_is_not_there_is_said(tmp_path):
    with pytest.raises(
        UsageError, match=r"http://127.0.0.1:9/file: could not be fetched: it cannot be reached"
    ):
        download("http://127.0.0.1:9/file", tmp_path / "file", print, patience=RetryPolicy(attempts=1))


def test_proxies_of_the_environment_are_used(server, tmp_path, monkeypatch):
    url = "http://data.invalid/file"
    server.content[url] = CONTENT
    monkeypatch.setenv("http_proxy", server.url)
    arrived = []
    download(url, tmp_path / "file", lambda partial: arrived.append(partial.read_bytes()), patience=QUICK)
    assert arrived == [CONTENT]
    monkeypatch.setenv("no_proxy", "data.invalid")
    with pytest.raises(UsageError, match="cannot be reached"):
        download(url, tmp_path / "other", print, patience=RetryPolicy(attempts=1))


def test_two_processes_do_not_write_one_file(server, tmp_path):
    def again(_):
        download(f"{server.url}/file", tmp_path / "file", print, patience=QUICK)

    with pytest.raises(UsageError, match="is being fetched by another process"):
        download(f"{server.url}/file", tmp_path / "file", again, patience=QUICK)


def test_a_place_that_cannot_be_written_is_said(server, tmp_path):
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(UsageError, match=r"taken.*cannot be written"):
        download(f"{server.url}/file", tmp_path / "taken" / "file", print, patience=QUICK)
