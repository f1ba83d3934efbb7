"""qsproj serve from the command line: it starts, answers and stops; what is wrong is one line."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from qsproj.cli.main import main
from tests.serve.client import Client, children_of, is_alive, until
from tests.serve.conftest import model_files  # noqa: F401

pytest.importorskip("uvicorn", reason="qsproj[serve] is not installed")


@contextmanager
def started(*arguments):
    """Run the command at a free port; give the line that tells the address, and the process."""
    command = [sys.executable, "-m", "qsproj", "serve", *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process.stderr.readline(), process
    finally:
        process.kill()
        process.communicate()


def test_a_server_answers_until_it_is_stopped(model_files):  # noqa: F811
    with started("-m", f"german={model_files / 'de.model'}", "--jobs", 2) as (said, process):
        assert said.startswith("qsproj serve: german at http://127.0.0.1:")
        client = Client(said.split()[4])
        fields = {"data": "Der Hund bellt.", "tokenizer": "", "tagger": "", "parser": ""}
        # A comment says that running text begins a paragraph.
        assert client.ask("/process", data=fields).json["result"].count("\n") == 8
        assert "found a body that is no JSON" in client.ask("/inception/german/train", data=b"?").text
        children = children_of(process.pid)
        assert len(children) == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
        until(lambda: not any(map(is_alive, children)))


def test_a_port_in_use_is_told(run_cli, model_files):  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = run_cli("serve", "-m", model_files / "de.model", "--port", port)
    said = f"qsproj serve: port {port} of 127.0.0.1 is in use; give another: --port N (0: a free one)\n"
    assert (outcome.code, outcome.err) == (2, said)


def test_what_cannot_be_served_is_told(run_cli, model_files, tmp_path):  # noqa: F811
    def refused(*arguments):
        outcome = run_cli("serve", "--port", 0, *arguments)
        assert outcome.code == 2
        assert outcome.err.count("\n") == 1
        return outcome.err

    (tmp_path / "no.model").write_text("nothing")
    model = model_files / "de.model"
    assert "found nothing to serve" in refused()
    assert "damaged or foreign file" in refused("-m", tmp_path / "no.model")
    assert "found two models named 'de'" in refused("-m", model, "-m", f"de={model}")
    assert "cannot listen at 203.0.113.1" in refused("-m", model, "--host", "203.0.113.1")
    assert "found port 99999" in refused("-m", model, "--port", 99999)


def test_a_model_of_pairs_is_not_served(run_cli, tmp_path):
    from qsproj.models.storage import save_model

    save_model(tmp_path / "links", "link-chooser", {}, {})
    outcome = run_cli("serve", "--port", 0, "-m", tmp_path / "links")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)


def test_without_the_extra_it_is_told_what_to_install(run_cli, model_files, monkeypatch):  # noqa: F811
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "qsproj.serve.listening.find_spec", lambda name: None if name == "uvicorn" else find(name)
    )
    outcome = run_cli("serve", "-m", model_files / "de.model")
    said = "qsproj serve: found no uvicorn; install it: pip install 'qsproj[serve]'\n"
    assert (outcome.code, outcome.err) == (2, said)


@pytest.fixture
def draft(tmp_path):
    path = tmp_path / "draft.conllu"
    path.write_bytes(Path("corpora/de.conllu").read_bytes())
    return path


@contextmanager
def forked(log, *arguments):
    """Run the command as :func:`started` does, in a copy of this process, which has imported all of it."""
    words = ["serve", *map(str, arguments), "--port", "0"]
    process = multiprocessing.get_context("fork").Process(target=_main, args=(log, words))
    process.start()
    try:
        yield until(lambda: log.exists() and next(iter(log.read_text().splitlines()), None)), process
    finally:
        process.kill()
        process.join()


def _main(log, words):
    sys.stderr = log.open("w", buffering=1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(words))


def test_a_draft_is_reviewed_until_it_is_interrupted(draft, model_files, tmp_path):  # noqa: F811
    pairs = ("--pairs", "corpora/en.conllu", "corpora/en-de.pharaoh")
    arguments = ("--review", draft, *pairs, "-m", model_files / "de.model")
    with forked(tmp_path / "log", *arguments) as (said, process):
        address, _, token = said.split()[3].partition("/?token=")
        client = Client(address)
        assert "review.js" in client.ask(f"/?token={token}").text
        told = client.ask("/api/sentences/0", headers={"X-Qsproj-Token": token}).json
        assert told["translation"]["forms"][:2] == ["The", "dog"]
        overview = client.ask("/api/overview", headers={"X-Qsproj-Token": token}).json
        assert (overview["sentences"], overview["train_after"]) == (90, 10)
        os.kill(process.pid, signal.SIGINT)
        process.join(30)
        assert process.exitcode == 0
    assert (tmp_path / "log").read_text().endswith("\nqsproj serve: stopped\n")


def test_a_draft_that_cannot_be_reviewed_is_told(run_cli, draft, model_files, tmp_path):  # noqa: F811
    def refused(*arguments):
        outcome = run_cli("serve", "--port", 0, *arguments)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1), outcome.err
        return outcome.err

    model, before = model_files / "de.model", draft.read_bytes()
    (tmp_path / "broken.conllu").write_text("1\tx\n")
    assert "broken.conllu:1: found 2 columns" in refused("--review", tmp_path / "broken.conllu")
    assert "cannot be read" in refused("--review", tmp_path / "nothing.conllu")
    assert "expected a parser" in refused("--review", draft, "-m", model_files / "de.tagger")
    assert "found 2 models" in refused("--review", draft, "-m", model, "-m", model)
    assert "give -m MODEL" in refused("--review", draft, "-o", tmp_path / "new.model")
    assert "to read and as one to write" in refused("--review", draft, "-m", model, "-o", model)
    assert "--jobs belongs to -m alone" in refused("--review", draft, "--jobs", 2)
    assert "--train-after belongs to --review" in refused("-m", model, "--train-after", 3)
    assert "--train-after belongs to -m" in refused("--review", draft, "--train-after", 3)
    assert "--pair belongs to --source" in refused("--review", draft, "--pair", "order")
    assert "--first differing needs --versus FILE" in refused("--review", draft, "--first", "differing")
    assert "cannot be read" in refused(
        "--review", draft, "--pairs", "corpora/en.conllu", draft.with_name("none")
    )
    assert draft.read_bytes() == before
