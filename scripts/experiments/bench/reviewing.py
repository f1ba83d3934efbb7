"""Write docs/bench-review.md: `qsproj serve --review` with 10,000 sentences, killed, from two windows, on a full disk.

All is asked of the command's own server over HTTP, on one connection that is kept. The draft is German PUD parsed by a model of
German-GSD dev (two epochs: how fast it is does not depend on how good it is), over and over.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qs, urlsplit

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import misc_values
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.stages import timed

FEW, REPEATS = 200, 9
LONG, TIMED = (38, 42), 20
ORDERS = {"first order": [], "second order": ["--order", "2"]}


@dataclass(frozen=True)
class Review:
    """A server of reviews that runs, with a connection of its own to it. Mutable: the connection."""

    process: subprocess.Popen[str]
    connection: HTTPConnection
    token: str

    def ask(self, path: str, content: Any = None, *, method: str = "") -> tuple[int, Any]:
        """Return the status of an answer, and its JSON."""
        body = None if content is None else json.dumps(content)
        headers = {"X-Qsproj-Token": self.token, "Content-Type": "application/json"}
        self.connection.request(method or ("POST" if body else "GET"), f"/api/{path}", body, headers)
        answer = self.connection.getresponse()
        found = answer.read()
        return answer.status, json.loads(found) if answer.getheader(
            "content-type"
        ) == "application/json" else found

    def another(self) -> Review:
        """Return one more window on the same server."""
        return Review(
            self.process, HTTPConnection(self.connection.host, self.connection.port, timeout=60), self.token
        )

    def confirm(self, index: int, told: dict[str, Any]) -> int:
        """Confirm a sentence as it was told; return the status."""
        content = {name: told[name] for name in ("version", "heads", "relations")}
        return self.ask(f"sentences/{index}", {**content, "sure": True}, method="PUT")[0]

    def seconds(self, path: str, content: Any = None) -> list[float]:
        """Return how long a question takes, asked some times."""
        return list(_times(lambda: self.ask(path, content)))


def _times(work: Callable[[], object]) -> Iterator[float]:
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        yield time.perf_counter() - start


@contextmanager
def reviewing(draft: Path, *more: str | Path) -> Iterator[Review]:
    command = [sys.executable, "-m", "qsproj", "serve", "--review", draft, "--port", "0", *more]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "http://" in line)
        address = urlsplit(next(word for word in said.split() if word.startswith("http://")))
        assert address.hostname is not None
        with ThreadPoolExecutor(1) as pool:
            pool.submit(process.stderr.read)  # the log, which would fill the pipe
            try:
                connection = HTTPConnection(address.hostname, address.port, timeout=60)
                yield Review(process, connection, parse_qs(address.query)["token"][0])
            finally:
                process.terminate()


def waits(draft: Path, model: Path) -> dict[str, list[float]]:
    """Return how long the page waits for what it asks, with all sentences."""
    with reviewing(draft, "-m", model, "-o", model.with_suffix(".new")) as server:
        found = {
            "the list, and how far it is": server.seconds("overview"),
            "50 sentences, the least sure first": server.seconds("sentences?order=unsure"),
            "50 sentences, most to learn first": server.seconds("sentences?order=worth"),
            "50 sentences with a word": server.seconds("sentences?query=Haus"),
            "one sentence": server.seconds(f"sentences/{REPEATS}"),
            "a search over trees": server.seconds("search", {"pattern": "upos=NOUN head.deprel=root"}),
            "a search, with a correction shown": server.seconds(
                "search", {"pattern": "deprel=obl child.deprel!=case", "change": "deprel=obj"}
            ),
        }
        tolds = [(index, server.ask(f"sentences/{index}")[1]) for index in range(REPEATS)]
        one = iter(tolds)
        found["a confirmation, saved"] = list(_times(lambda: server.confirm(*next(one))))
    return found


def latency(draft: Path, model: Path) -> list[float]:
    """Return in how many seconds the rest of long sentences is there, of which a quarter of the heads is fixed."""
    with reviewing(draft, "-m", model, "-o", model.with_suffix(".new")) as server:
        long = [at for at, one in enumerate(read_conllu(draft)) if LONG[0] <= len(one) <= LONG[1]][:TIMED]
        found = list[float]()
        for index in long:
            told = server.ask(f"sentences/{index}")[1]
            n = len(told["heads"])
            heads = [head if at < n // 4 else -1 for at, head in enumerate(told["heads"])]
            fixed = {"heads": heads, "relations": ["_"] * n, "upos": told["upos"], "tags": [True] * n}
            found += server.seconds(f"sentences/{index}/rest", fixed)
        return found


def killed(draft: Path, rounds: int) -> tuple[int, int]:
    """Kill the server while sentences are confirmed; return how many were, and how many of these are lost.

    Raises ValueError when anything else in the file is not as it was.
    """
    rng, before = random.Random(1), list(read_conllu(draft))
    confirmed: set[int] = set()
    for number in range(rounds):
        with reviewing(draft) as server, ThreadPoolExecutor(1) as pool:
            pool.submit(_kill, server.process, rng.uniform(0.02, 0.4))
            for index in islice(cycle(range(len(before))), number * 7 % len(before), None):
                try:
                    told = server.ask(f"sentences/{index}")[1]
                    if server.confirm(index, told) == 200:
                        confirmed.add(index)
                except (OSError, HTTPException, ValueError):
                    break
    after = list(read_conllu(draft))
    if [(one.forms, one.heads.tolist()) for one in before] != [
        (one.forms, one.heads.tolist()) for one in after
    ]:
        raise ValueError("found other words or trees than those that were confirmed")
    return len(confirmed), sum(set(misc_values(after[index], "Reviewed")) != {"Yes"} for index in confirmed)


def _kill(process: subprocess.Popen[str], seconds: float) -> None:
    time.sleep(seconds)
    process.kill()


def two_windows(draft: Path) -> tuple[int, int]:
    """Confirm each sentence from two windows that opened it together; return how often one and how often both may."""
    both = once = 0
    with reviewing(draft) as server, ThreadPoolExecutor(2) as pool:
        windows = (server, server.another())
        for index in range(FEW):
            tolds = [one.ask(f"sentences/{index}")[1] for one in windows]
            saved = list(pool.map(lambda one, told, at=index: one.confirm(at, told), windows, tolds)).count(
                200
            )
            once, both = once + (saved == 1), both + (saved == 2)
    return once, both


def full_disk(draft: Path) -> tuple[int, bool, int]:
    """Confirm where no file may grow; return the status, whether the file is as it was, the status with room again."""
    before = draft.read_bytes()
    with reviewing(draft) as server:
        told = server.ask("sentences/0")[1]
        most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (len(before) // 2, most[1]))
        status = server.confirm(0, told)
        same = draft.read_bytes() == before
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, most)
        return status, same, server.confirm(0, told)


def measure(lab: Lab) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        training = str(lab.treebank_path("german-gsd-dev"))
        models = {order: folder / f"{order}.parser" for order in ORDERS}
        for order, more in ORDERS.items():
            timed(["train", training, *more, "--epochs", "2", "-o", str(models[order])])
        parsed, draft, few = (folder / name for name in ("parsed.conllu", "draft.conllu", "few.conllu"))
        first = models["first order"]
        timed(["parse", "-m", str(first), str(lab.pud_path("de")), "--confidence", "-o", str(parsed)])
        sentences = list(read_conllu(parsed))
        write_conllu(islice(cycle(sentences), lab.options.sentences), draft)
        write_conllu(islice(cycle(sentences), FEW), few)
        rows = waits(draft, first)
        for order, model in models.items():
            rows[f"the rest of a sentence of {LONG[0]} to {LONG[1]} words, {order}"] = latency(parsed, model)
        confirmed, lost = killed(few, lab.options.rounds)
        write_conllu(islice(cycle(sentences), FEW), few)
        once, both = two_windows(few)
        write_conllu(islice(cycle(sentences), FEW), few)
        refused, same, saved = full_disk(few)
    return Figures(
        tables={
            "waits": table(
                ["ms", "median", "the slowest"],
                [[row, f"{1000 * median(one):,.1f}", f"{1000 * max(one):,.1f}"] for row, one in rows.items()],
            )
        },
        values={
            "sentences": f"{lab.options.sentences:,}",
            "rounds": str(lab.options.rounds),
            "confirmed": f"{confirmed:,}",
            "lost": str(lost),
            "few": str(FEW),
            "once": str(once),
            "both": str(both),
            "refused": str(refused),
            "same": "the same to the byte" if same else "ANOTHER",
            "saved": str(saved),
        },
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=10_000, help="of the draft (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=50, help="of kill -9 (default: %(default)s)")


EXPERIMENT = Experiment(
    file=__file__, about=__doc__ or "", measure=measure, page="bench-review", add_arguments=add_arguments
)

if __name__ == "__main__":
    EXPERIMENT.main()
