"""A client of the servers under test, on nothing but the standard library."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: dict
    text: str

    @property
    def json(self):
        return json.loads(self.text)


@dataclass(frozen=True)
class Client:
    """Asks a server, at its address ``http://host:port``."""

    address: str
    log: Path | None = None
    pid: int | None = None

    def ask(self, path, *, data=None, headers=None, method=None) -> Answer:
        """Send a request; ``data`` are bytes, or fields that are sent as a form."""
        body = urlencode(data).encode() if isinstance(data, dict) else data
        request = urllib.request.Request(self.address + path, data=body, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return Answer(answer.status, dict(answer.headers), answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read().decode())

    def connect(self) -> socket.socket:
        """Open a connection, to say things no client should."""
        parts = urlsplit(self.address)
        return socket.create_connection((parts.hostname, parts.port), timeout=60)

    def logged(self, **wanted):
        """Return the first line of the log with these facts, once it is there."""
        return until(lambda: next((one for one in self.log_lines() if wanted.items() <= one.items()), None))

    def log_lines(self):
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


def until(found, told=lambda: "it did not happen", *, seconds=30.0):
    """Return what ``found()`` returns once it is true; fail after a time that no machine should need."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := found():
            return result
        time.sleep(0.01)
    raise AssertionError(told())


def children_of(pid):
    """Return the processes that a process has started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid):
    """Return whether a process is there and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
