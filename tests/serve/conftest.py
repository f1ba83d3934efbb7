"""Models of ten sentences, and servers of our own in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.text.text_parser import text_parser
from tests.serve.client import Client

pytest.importorskip("uvicorn", reason="qsproj[serve] is not installed")


SCHEMES = ("light", "dark")
CHROMIUM, FIREFOX = ("chromium", "chromium-browser", "google-chrome"), ("firefox-esr", "firefox")


@pytest.fixture(scope="module")
def playwright():
    """Return what drives browsers."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: qsproj[browser]")
    with driver.sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def browser(playwright):
    with launched(playwright.chromium, CHROMIUM, args=["--no-sandbox"]) as browser:
        yield browser


@pytest.fixture(scope="module")
def firefox(playwright):
    """Return a Firefox, and one whose pages are dark: it cannot be told later."""
    if (path := path_of(FIREFOX)) is None:
        pytest.skip("no Firefox")
    with ExitStack() as stack:
        dark, still = "layout.css.prefers-color-scheme.content-override", {"ui.prefersReducedMotion": 1}
        yield [
            stack.enter_context(
                launched(
                    playwright.firefox, [path], channel="moz-firefox", firefox_user_prefs={dark: way, **still}
                )
            )
            for way in (1, 0)
        ]


@pytest.fixture(scope="module")
def faults():
    """Return what tells the faults of a page."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed: qsproj[browser]"
    ).Axe()

    def found(page, scheme):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme)
        response = axe.run(page).response
        assert response["passes"]
        return [(one["id"], [node["html"] for node in one["nodes"]]) for one in response["violations"]]

    return found


@pytest.fixture(params=["chromium", "firefox"])
def browsers(request):
    """Return Chromium, then Firefox, each twice: with light pages, with dark ones."""
    if request.param == "firefox":
        return request.getfixturevalue("firefox")
    return [request.getfixturevalue("browser")] * 2


def path_of(names):
    """Return the first program of these that is there."""
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched(kind, names, **options):
    """Run a browser; where none runs, skip and say so."""
    from playwright.sync_api import Error

    try:
        browser = kind.launch(executable_path=path_of(names), **options)
        browser.new_page().close()  # not with each pair of versions of Firefox and Playwright
    except Error as error:
        pytest.skip(f"no {kind.name} that runs: {str(error).splitlines()[0]}")
    with browser:
        yield browser


def served_models(folder):
    """Train models of ten sentences."""
    sample, rng = list(read_conllu("corpora/de.conllu"))[:10], np.random.default_rng(1)
    tagger = train_tagger(sample, rng=rng, language="de", epochs=2)
    parser, _ = train_arc_parser(sample, rng=rng, options=TrainingOptions(epochs=3, template_set="words"))
    tagger.save(folder / "de.tagger")
    parser.save(folder / "de.parser")
    text_parser(tagger, parser).save(folder / "de.model")


@pytest.fixture(scope="session")
def model_files(made_once):
    """Return a folder with ``de.model``, which does everything, ``de.parser`` and ``de.tagger``."""
    return made_once(served_models)


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
