"""Measure how fast the page of ``qsproj annotate`` answers while a batch is learned in the background.

``python -m scripts.experiments.bench.page_answers --work DIR``: DIR is left as it is, and its bootstrap is used. One
client answers words, corrects sentences with live inference, and confirms them, without pauses, until the model has
learned twice or no sentence is left. The median and 95th percentile of answer times are printed by kind of request,
while the model learns and at other times.
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
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROUNDS = 2


class Page:
    """A client of the page that records the time of each answer, by kind of request. Mutable."""

    def __init__(self, address: str, token: str) -> None:
        self._address, self._token = address, token
        self.training = False
        self.times: dict[tuple[str, bool], list[float]] = defaultdict(list)

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
        self.times[kind, self.training].append(time.perf_counter() - begin)
        found: dict[str, Any] = json.loads(content)
        self.training = bool(found.get("training", self.training))
        return found


def use(page: Page) -> None:
    """Answer words and sentences until the model has learned ROUNDS times."""
    page.ask("overview", "overview")
    listed = page.ask("word rows", "words")["words"]
    order = page.ask("list of sentences", "sentences?order=worth&shown=todo&limit=200")["sentences"]
    words, sentences = cycle(row[0] for row in listed), [row["index"] for row in order]
    trained = 0
    for index in sentences:
        if trained == ROUNDS:
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
            trained += 1
            page.ask("word rows", "words")
            page.ask("list of sentences", "sentences?order=worth&shown=todo&limit=50")
            if trained < ROUNDS:
                page.ask("training begins", "training", {}, "POST")
        elif index % 5 == 0:
            page.ask("word rows", "words")
            page.ask("list of sentences", "sentences?order=worth&shown=todo&limit=50")


def table(times: dict[tuple[str, bool], list[float]]) -> list[str]:
    """Return the lines of a table of milliseconds."""
    rows = [
        "| request | training | answers | median ms | 95th percentile | maximum |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (kind, training), seconds in sorted(times.items()):
        own = sorted(1000.0 * one for one in seconds)
        high = own[min(int(0.95 * len(own)), len(own) - 1)]
        cells = f"{statistics.median(own):.0f} | {high:.0f} | {own[-1]:.0f}"
        rows.append(f"| {kind} | {'yes' if training else 'no'} | {len(own)} | {cells} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", metavar="DIR", required=True, help="working folder of qsproj bootstrap")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path(options.work).parent) as folder:
        work = Path(folder) / "work"
        # Stages are replaced as a whole, never written in place.
        shutil.copytree(
            options.work, work, copy_function=os.link, ignore=shutil.ignore_patterns("annotate.*")
        )
        command = ["qsproj", "annotate", "--work", str(work), "-o", f"{folder}/better.model", "--port", "0"]
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
    print("\n".join(table(page.times)))


if __name__ == "__main__":
    main()
