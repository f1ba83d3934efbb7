"""A server of files that behaves badly when it is told to: slow, broken off, redirected, silent."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Files:
    """What a server has, how it behaves, and what it was asked for.

    Attributes
    ----------
    content : dict of str to bytes
        By path, or by whole URL for one that is asked for through this server as a proxy.
    breaks_at : list of int
        After so many bytes an answer ends, one for each of the next answers.
    fails : list of int
        The status of the next answers.
    redirects : dict of str to str
    pause : float
        Seconds before each kilobyte.
    weak : bool
        Whether it calls its versions weak.
    asked : list of (str, str or None)
        Paths, each with the range that was asked for.
    starts : list of int
        From which byte on files were sent.
    """

    content: dict[str, bytes] = field(default_factory=dict)
    breaks_at: list[int] = field(default_factory=list)
    fails: list[int] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    weak: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving() -> Iterator[Files]:
    """Serve on a free port of this machine."""
    files = Files()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            answer(self, files)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    files.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield files
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(request: BaseHTTPRequestHandler, files: Files) -> None:
    """Answer one request."""
    files.asked.append((request.path, request.headers.get("Range")))
    if files.fails:
        return request.send_error(files.fails.pop(0))
    if request.path in files.redirects:
        request.send_response(302)
        request.send_header("Location", files.redirects[request.path])
        request.send_header("Content-Length", "0")
        return request.end_headers()
    if request.path not in files.content:
        return request.send_error(404)
    whole = files.content[request.path]
    tag = ("W/" if files.weak else "") + f'"{hashlib.md5(whole).hexdigest()}"'
    wanted = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range") or "")
    # No weak name is the same as another, even if it reads so.
    asked_for = request.headers.get("If-Range")
    same = asked_for is None or (asked_for == tag and not files.weak)
    start = int(wanted[1]) if wanted and same else 0
    if start >= len(whole) > 0:
        request.send_response(416)
        request.send_header("Content-Range", f"bytes */{len(whole)}")
        request.send_header("Content-Length", "0")
        return request.end_headers()
    files.starts.append(start)
    request.send_response(206 if start else 200)
    if start:
        request.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
    request.send_header("ETag", tag)
    request.send_header("Content-Length", str(len(whole) - start))
    request.end_headers()
    sent = whole[start:]
    if files.breaks_at:
        sent = sent[: files.breaks_at.pop(0)]
    for at in range(0, len(sent), 1024):
        if files.pause:
            time.sleep(files.pause)
        # Who was asked to wait too long has gone.
        with suppress(BrokenPipeError, ConnectionResetError):
            request.wfile.write(sent[at : at + 1024])
    request.close_connection = True
    return None
