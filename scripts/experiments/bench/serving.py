"""Many clients of ``qsproj serve`` at once: what is lost, what memory does, and how fast it is beside ``qsproj parse``.

Each client keeps its connection and sends the same requests over and over, twenty tagged sentences of German PUD each, to a parser of
German-GSD dev. Speed is words by processor time of all processes of the server; that of ``qsproj parse`` is the
difference of long and short files, so that its start is left out. Needs a system with ``/proc``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from io import BytesIO
from pathlib import Path

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.sentence import Sentence
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.stages import timed

SENTENCES = 20
# How often the long file repeats what the short one has once.
REPEATS = 10


@dataclass(frozen=True)
class Server:
    """A server that runs, and its processes: the one that listens, then those that parse."""

    address: str
    processes: list[int]

    def connect(self) -> HTTPConnection:
        return HTTPConnection(self.address.removeprefix("http://"), timeout=120)

    def processor_seconds(self) -> float:
        ticks = sum(int(field) for one in self.processes for field in _stat(one)[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> list[float]:
        """Return the resident memory of each process."""
        return [int(_stat(one)[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20 for one in self.processes]


def _stat(process: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` that follow the name."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


@contextmanager
def serving(model: Path) -> Iterator[Server]:
    """Serve a model with one process that parses."""
    command = [sys.executable, "-m", "qsproj", "serve", "-m", f"de={model}", "--port", "0"]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        assert process.stderr is not None
        try:
            said = next(line for line in process.stderr if " at http://" in line)
            # The log, which would fill the pipe.
            pool.submit(process.stderr.read)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
            yield Server(said.split(" at ")[1].split()[0], [process.pid, *map(int, children.split())])
        finally:
            process.terminate()


def ask(connection: HTTPConnection, text: bytes) -> str:
    """Return the trees of sentences in CoNLL-U."""
    body = json.dumps({"data": text.decode(), "parser": ""}).encode()
    connection.request("POST", "/process", body, {"Content-Type": "application/json"})
    return str(json.load(connection.getresponse())["result"])


def client(
    server: Server, requests: list[bytes], alone: list[str], *, first: int, until: float
) -> list[bool]:
    """Send requests until it is time; tell of each whether it was answered as when it came alone."""
    connection = server.connect()
    right: list[bool] = []
    while time.monotonic() < until:
        which = (first + len(right)) % len(requests)
        try:
            right.append(ask(connection, requests[which]) == alone[which])
        except (OSError, HTTPException, ValueError, KeyError):
            right.append(False)
            connection.close()
    connection.close()
    return right


def parse_seconds(model: Path, path: Path) -> float:
    """Return the processor time of ``qsproj parse`` on a file."""
    return float(timed(["parse", "-m", str(model), str(path), "-o", os.devnull])["cpu"])


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a server did under load; memory in MB, of the process that listens and of that which parses."""

    requests: int
    wrong: int
    rate: float
    before: list[float]
    after: list[float]

    def shown(self) -> list[list[str]]:
        memory = [
            f"{now:.0f} MB ({now - then:+.1f})" for then, now in zip(self.before, self.after, strict=True)
        ]
        return [
            ["requests answered", f"{self.requests:,}"],
            ["lost, or other than when asked alone", f"{self.wrong:,}"],
            ["memory of the process that listens (since the beginning)", memory[0]],
            ["memory of the process that parses (since the beginning)", memory[1]],
            ["words by second of processor time", f"{self.rate:,.0f}"],
        ]


def run(lab: Lab) -> Figures:
    options = lab.options
    sentences = lab.pud("de")
    with tempfile.TemporaryDirectory() as folder:
        model, short, long = (Path(folder) / name for name in ("de.parser", "short.conllu", "long.conllu"))
        training = str(lab.treebank_path("german-gsd-dev"))
        timed(["train", training, "--features", "words", "-o", str(model)])
        write_conllu(sentences, short)
        write_conllu(sentences * REPEATS, long)
        words = sum(map(len, sentences))
        parse_seconds(model, short)
        parsing = parse_seconds(model, long) - parse_seconds(model, short)
        with serving(model) as server:
            load = loaded(server, sentences, clients=options.clients, seconds=options.seconds)
    share = load.rate * parsing / (words * (REPEATS - 1))
    rows = [*load.shown(), ["beside those of `qsproj parse`", f"{share:.0%}"]]
    return Figures(
        tables={"load": table(["what", "found"], rows)},
        values={"clients": str(options.clients), "seconds": str(options.seconds)},
    )


def loaded(server: Server, sentences: list[Sentence], *, clients: int, seconds: float) -> Load:
    """Have clients ask at once, each beginning elsewhere."""
    parts = [sentences[start : start + SENTENCES] for start in range(0, len(sentences), SENTENCES)]
    requests = [as_conllu(part) for part in parts]
    connection = server.connect()
    alone = [ask(connection, request) for request in requests]
    connection.close()
    before, start = server.megabytes(), server.processor_seconds()
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(clients) as pool:
        asked = [
            pool.submit(client, server, requests, alone, first=number, until=until)
            for number in range(clients)
        ]
        answers = [one.result() for one in asked]
    taken = server.processor_seconds() - start
    words = sum(
        len(sentence)
        for first, right in enumerate(answers)
        for number in range(len(right))
        for sentence in parts[(first + number) % len(parts)]
    )
    right = [one for of_client in answers for one in of_client]
    return Load(
        requests=len(right),
        wrong=right.count(False),
        rate=words / taken,
        before=before,
        after=server.megabytes(),
    )


def as_conllu(sentences: list[Sentence]) -> bytes:
    written = BytesIO()
    write_conllu(sentences, written)
    return written.getvalue()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clients", type=int, default=32, help="that ask at once (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=60, help="for so long (default: %(default)s)")


EXPERIMENT = Experiment(
    file=__file__, about=__doc__, measure=run, page="bench-serve", add_arguments=add_arguments
)

if __name__ == "__main__":
    EXPERIMENT.main()
