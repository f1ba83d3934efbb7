"""Models of ten sentences, and servers of our own in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import text_parser
from tests.serve.client import Client

pytest.importorskip("uvicorn", reason="qsproj[serve] is not installed")


NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: qsproj[browser]"
    )
    found = next(filter(None, map(shutil.which, NAMES)), None)
    with playwright.sync_playwright() as running:
        try:
            browser = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium that runs: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def model_files(tmp_path_factory):
    """Return a folder with ``de.model``, which does everything, ``de.parser`` and ``de.tagger``."""
    folder = tmp_path_factory.mktemp("models")
    sample, rng = list(read_conllu("corpora/de.conllu"))[:10], np.random.default_rng(1)
    tagger = train_tagger(sample, rng=rng, language="de", options=TaggerOptions(epochs=2))
    parser, _ = train_arc_parser(sample, rng=rng, options=TrainingOptions(epochs=3, template_set="words"))
    tagger.save(folder / "de.tagger")
    parser.save(folder / "de.parser")
    text_parser(tagger, parser).save(folder / "de.model")
    return folder


@pytest.fixture(scope="session")
def serving(tmp_path_factory):
    """Return a context manager that serves an application, made in a process of its own, and gives a client.

    ``client.log`` is the file that the server's standard error goes to.
    """

    @contextmanager
    def serve_it(make_app, *, seconds=30.0):
        from qsproj.serve.listening import address_of, listen

        log = tmp_path_factory.mktemp("serving") / "log"
        context = multiprocessing.get_context("fork")
        started = context.Event()
        with listen("127.0.0.1", 0) as listening:
            address = address_of(listening)
            process = context.Process(target=_serve, args=(make_app, listening, seconds, log, started))
            process.start()
        try:
            assert started.wait(30), log.read_text()
            yield Client(address, log=log, pid=process.pid)
        finally:
            os.kill(process.pid, signal.SIGTERM)
            process.join(20)
            assert process.exitcode is not None

    return serve_it


def _serve(make_app, listening, seconds, log: Path, started):
    from qsproj.serve.listening import serve

    sys.stderr = log.open("w", buffering=1)
    pool = []
    try:
        serve(make_app(pool), listening, seconds=seconds, started=started.set)
    finally:
        for one in pool:
            one.stop()
