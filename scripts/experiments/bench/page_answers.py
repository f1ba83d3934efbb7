"""Measure how fast the page of ``qsproj annotate`` answers while a batch is learned in the background.

The bootstrap of a New Testament in ``--work``, the folder of stages of ``many_bench``, is used, or made there. One client
answers words, corrects sentences with live inference, and confirms them, without pauses, until the model has learned
twice or no sentence is left. The times of answers are shown by kind of request, while the model learns and at other
times, and the time from a batch to new drafts. The machine must be quiet.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qsproj.pipelines.bootstrap.bootstrap import BootstrapCall, BootstrapOptions
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.many_languages import LANGUAGES, TESTAMENT, Corpora, add_work

ROUNDS = 2
# Times of answers by kind of request, and whether the model was learning.
Times = Mapping[tuple[str, bool], Sequence[float]]


class Page:
    """A client of the page that records the time of each answer, and of each batch. Mutable."""

    def __init__(self, address: str, token: str) -> None:
        self._address, self._token = address, token
        self.training = False
        self.times: dict[tuple[str, bool], list[float]] = defaultdict(list)
        self.batches: list[float] = []
        self._begun = 0.0

    def ask(self, kind: str, path: str, body: object = None, method: str = "GET") -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self._address}/api/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"X-Qsproj-Token": self._token},
        )
        begin = time.perf_counter()
        with urllib.request.urlopen(request, timeout=120) as answer:
            content = answer.read()
        now = time.perf_counter()
        self.times[kind, self.training].append(now - begin)
        found: dict[str, Any] = json.loads(content)
        training = bool(found.get("training", self.training))
        if training and not self.training:
            self._begun = begin
        if self.training and not training:
            self.batches.append(now - self._begun)
        self.training = training
        return found


def use(page: Page) -> None:
    """Answer words and sentences until the model has learned ROUNDS times."""
    page.ask("overview", "overview")
    listed = page.ask("word rows", "words")["words"]
    order = page.ask("list of sentences", "sentences?order=worth&shown=todo&limit=200")["sentences"]
    words, sentences = cycle(row[0] for row in listed), [row["index"] for row in order]
    for index in sentences:
        if len(page.batches) == ROUNDS:
            break
        shown = page.ask("sentence", f"sentences/{index}")
        count = len(shown["forms"])
        for word in (1, count // 2, count):
            # The word gets the relation that it has: nothing has to fit but the cells above.
            fixed = [at < word for at in range(count)]
            cells = {
                "heads": [head if stays else -1 for head, stays in zip(shown["heads"], fixed, strict=True)],
                "relations": [
                    one if stays else "_" for one, stays in zip(shown["relations"], fixed, strict=True)
                ],
            }
            body = {**cells, "upos": shown["upos"], "tags": fixed}
            page.ask("correction, rest inferred", f"sentences/{index}/rest", body, "POST")
        for word in (next(words), next(words)):
            page.ask("contexts of a word", f"words/contexts?word={quote(word)}")
            page.ask("word decided", "words", {"word": word, "tags": ["NOUN"]}, "PUT")
        body = {name: shown[name] for name in ("version", "heads", "relations")}
        page.ask("sentence confirmed", f"sentences/{index}", {**body, "sure": True}, "PUT")
        page.ask("state", "training")
        if not page.training:
            page.ask("word rows", "words")
            page.ask("list of sentences", "sentences?order=worth&shown=todo&limit=50")
            if len(page.batches) < ROUNDS:
                page.ask("training begins", "training", {}, "POST")
        elif index % 5 == 0:
            page.ask("word rows", "words")
            page.ask("list of sentences", "sentences?order=worth&shown=todo&limit=50")
    while page.training:
        time.sleep(0.1)
        page.ask("state", "training")


def answer_table(times: Times) -> Table:
    """Lay out milliseconds by kind of request."""
    rows = [
        [kind, "yes" if training else "no", str(len(seconds)), *milliseconds(seconds)]
        for (kind, training), seconds in sorted(times.items())
    ]
    return table(["request", "model learns", "answers", "median ms", "95th percentile", "maximum"], rows)


def milliseconds(seconds: Sequence[float]) -> list[str]:
    """Return median, 95th percentile and maximum."""
    own = sorted(1000.0 * one for one in seconds)
    high = own[min(int(0.95 * len(own)), len(own) - 1)]
    return [f"{one:.0f}" for one in (statistics.median(own), high, own[-1])]


def run(lab: Lab) -> Figures:
    language, folder = lab.options.language, lab.options.work
    corpora = Corpora(lab.data, folder, pairs=0, tested=0)
    call = BootstrapCall((corpora.text(language),), BootstrapOptions(text=(str(corpora.raw_text(language)),)))
    with tempfile.TemporaryDirectory(dir=folder.parent) as own:
        work = Path(own) / "work"
        # Stages are replaced as a whole, never written in place.
        shutil.copytree(folder, work, copy_function=os.link, ignore=shutil.ignore_patterns("annotate.*"))
        call.save(work)
        command = ["qsproj", "annotate", "--work", str(work), "--language", language]
        command += ["-o", f"{own}/better.model", "--port", "0"]
        server = subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        try:
            lines = (re.search(r"open (http://\S+)/\?token=(\S+)", line) for line in server.stderr)
            found = next(filter(None, lines))
            # The access log is discarded.
            subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
            page = Page(found[1], found[2])
            use(page)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
    learning = list(chain.from_iterable(own for (_, training), own in page.times.items() if training))
    median, high, most = milliseconds(learning) if learning else ("", "", "")
    values = {"median": median, "95%": high, "maximum": most}
    batch = f"{max(page.batches):.0f}" if page.batches else ""
    return Figures(tables={"answers": answer_table(page.times)}, values={**values, "batch": batch})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    codes = [code for code, one in LANGUAGES.items() if one.kind == TESTAMENT]
    parser.add_argument("--language", default="wo", choices=codes, metavar="CODE")
    add_work(parser)


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
