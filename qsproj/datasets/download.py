"""Downloads that go on where they broke off: one file at a time, over HTTP, through proxies if they are set.

What has come stands in ``NAME.partial`` beside the place of the file, with what the server calls that version
of it (its ETag) in ``NAME.partial.tag``: a file that was changed meanwhile is fetched anew, not patched
together.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from qsproj.errors import UsageError
from qsproj.progress import byte_bar

if TYPE_CHECKING:
    from requests import Response

# What is lost when a connection breaks off.
_CHUNK_BYTES = 1 << 14
_OK, _PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE = 200, 206, 416
_NOT_THERE = (404, 410)
_LATER = (429, 500, 502, 503, 504)
# The beginning of an ETag that the server does not vouch for byte by byte, which If-Range may not name.
_WEAK = "W/"


class MissingFileError(UsageError):
    """The server answers that there is no such file."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Patience of a download: seconds of waiting, and restarts without a byte more."""

    connect: float = 15.0  # for an answer
    silence: float = 60.0  # for the next bytes of a file: a slow server may take its time
    attempts: int = 5  # in a row
    pause: float = 1.0  # before the second attempt; twice as long before each further one


DEFAULT_PATIENCE = Patience()


class _BrokenOffError(Exception):
    """The connection failed, or the file ended too early; it may be tried again."""


def download(
    url: str, path: Path, accept: Callable[[Path], None], *, patience: Patience = DEFAULT_PATIENCE
) -> None:
    """Fetch a file, going on where an earlier attempt broke off; what has come is kept beside ``path``.

    Redirects are followed, but not from https to http. Proxies are those of the environment. ``accept`` is
    called with the whole file, to check it and move it into place; no other process fetches it meanwhile.
    Raises MissingFileError when there is no such file; UsageError when it cannot be fetched or kept.
    """
    partial = path.with_name(f"{path.name}.partial")
    with _owned(partial) as handle:
        failures = 0
        while True:
            before = handle.seek(0, 2)
            try:
                _go_on(url, path, handle, patience)
                break
            except _BrokenOffError as error:
                came = handle.seek(0, 2)
                failures = 1 if came > before else failures + 1
                if failures >= patience.attempts:
                    raise _given_up(url, came, error) from error
                time.sleep(patience.pause * 2 ** (failures - 1))
            except OSError as error:
                raise UsageError(f"{partial}: cannot be written: {error.strerror}") from error
        accept(partial)


def forget(path: Path) -> None:
    """Remove what has come of a file."""
    for suffix in (".partial", ".partial.tag"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def _owned(partial: Path) -> Iterator[IO[bytes]]:
    """Open what has come of a file, to add to it; no other process may meanwhile."""
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        handle = partial.open("a+b")
    except OSError as error:
        raise UsageError(f"{partial}: cannot be written: {error.strerror}") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"{partial}: is being fetched by another process; wait for it") from error
        yield handle


def _go_on(url: str, path: Path, handle: IO[bytes], patience: Patience) -> None:
    """Ask for what is missing of a file and add it."""
    import requests

    tag = path.with_name(f"{path.name}.partial.tag")
    known = tag.read_text(encoding="utf-8") if tag.exists() else ""
    start = handle.seek(0, 2) if known else 0
    # As it is, not packed for the way: bytes are counted.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-"}
        if not known.startswith(_WEAK):
            headers |= {"If-Range": known}
    try:
        with requests.get(
            url, headers=headers, stream=True, timeout=(patience.connect, patience.silence)
        ) as response:
            _check_answer(url, response)
            if start and response.headers.get("Content-Range") == f"bytes */{start}":
                return
            if start and not _continues(response, start, known):
                tag.unlink()
                if response.status_code != _OK:
                    raise _BrokenOffError("the server does not go on where it was asked to")
                start = 0
            if not start:
                handle.truncate(0)
            tag.write_text(_version(response), encoding="utf-8")
            _receive(response, handle, start, path.name)
    except requests.exceptions.RequestException as error:
        raise _BrokenOffError(_reason(error)) from error


def _check_answer(url: str, response: Response) -> None:
    """Raise what an answer other than the file, or its rest, means."""
    status = response.status_code
    if url.startswith("https:") and not response.url.startswith("https:"):
        raise UsageError(f"{url}: leads to {response.url}, expected https; fetch it by hand if you trust it")
    if status in _NOT_THERE:
        raise MissingFileError(f"{url}: found no such file ({status})")
    if status in _LATER:
        raise _BrokenOffError(f"the server answers {status} {response.reason}")
    if status not in (_OK, _PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE):
        raise UsageError(f"{url}: found the answer {status} {response.reason}, expected the file")


def _continues(response: Response, start: int, known: str) -> bool:
    """Tell whether an answer is the rest of the same version of a file."""
    return (
        response.status_code == _PARTIAL_CONTENT
        and response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
        and _version(response) == known
    )


def _receive(response: Response, handle: IO[bytes], start: int, name: str) -> None:
    """Add the bytes of an answer to what has come, and see that they are all there."""
    import requests

    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    with byte_bar(name, total=total, done=start) as move:
        try:
            for chunk in response.iter_content(_CHUNK_BYTES):
                handle.write(chunk)
                move(len(chunk))
        except requests.exceptions.RequestException as error:
            raise _BrokenOffError(_reason(error)) from error
        finally:
            handle.flush()
    size = handle.seek(0, 2)
    if total is not None and size != total:
        raise _BrokenOffError(f"it ended after {size:,} of {total:,} bytes")


def _version(response: Response) -> str:
    """Return what identifies the content that a server sends; empty where it does not say."""
    headers: Mapping[str, str] = response.headers
    return headers.get("ETag") or headers.get("Last-Modified", "")


def _reason(error: Any) -> str:
    """Say in a few words what a library's long message means."""
    import requests

    kinds = {
        requests.exceptions.ProxyError: "the proxy cannot be reached, or refuses",
        requests.exceptions.SSLError: "its certificate is not trusted",
        requests.exceptions.ConnectTimeout: "it does not answer",
        requests.exceptions.ReadTimeout: "it has fallen silent",
        requests.exceptions.ChunkedEncodingError: "the connection broke off",
        requests.exceptions.ConnectionError: "it cannot be reached",
    }
    for kind, text in kinds.items():
        if isinstance(error, kind):
            return text
    return str(error)


def _given_up(url: str, size: int, error: Exception) -> UsageError:
    kept = f"; the {size:,} bytes that have come are kept: run it again and it goes on" if size else ""
    return UsageError(f"{url}: could not be fetched: {error}{kept}")
