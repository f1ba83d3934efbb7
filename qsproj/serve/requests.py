"""Untrusted requests: limits on body size, time and work, refusals in plain text, and an access log.

The log has one line of JSON per request, also after errors, on the standard error. It holds no text of a
request: no body, no query, no unknown path.
"""

import asyncio
import json
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qsproj.corpus.messages import number_of
from qsproj.errors import QsprojError
from qsproj.serve.compute import ComputePool, WorkerError, where_from

Result = TypeVar("Result")
FACTS = "qsproj.facts"  # key of the scope under which an application stores extra fields for the log
_CLIENT_LEFT = 499  # logged status of a request whose client disconnected
# Maximum of bytes discarded from a refused request, and the pause that ends discarding.
_MOST_DISCARDED, _PAUSE_SECONDS = 256 << 20, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a request."""

    bytes: int = 4 << 20  # of a request's body
    seconds: float = 60.0  # for the body to arrive, and again for the answer
    waiting: int = 64  # requests waiting for a process, of all clients together


class RequestError(Exception):
    """A refused request: status code and message."""

    def __init__(self, status: int, text: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status, self.text, self.headers = status, text, headers


async def refusal_response(_: Request, error: Exception) -> Response:
    """Answer a :class:`RequestError` with its status, a QsprojError with 400, each with one line of text."""
    refused = error if isinstance(error, RequestError) else RequestError(400, str(error))
    # File names that are not UTF-8 hold lone surrogates.
    text = f"{refused.text}\n".encode("utf-8", "replace")
    return PlainTextResponse(text, status_code=refused.status, headers=refused.headers)


EXCEPTION_HANDLERS = dict.fromkeys((RequestError, QsprojError), refusal_response)


async def body_of(request: Request, limits: Limits) -> bytes:
    """Read a body; RequestError when too large (413) or late (408), ClientDisconnect if the client left."""
    stated = request.headers.get("content-length", "0")
    size = number_of(stated) if stated.isdecimal() else 0
    stream = aiter(request.stream())
    # The rest of a refused request would be read as the next one.
    headers = {"connection": "close"}
    text = f"the request is larger than {limits.bytes:,} bytes; send the text in pieces"
    too_large = RequestError(413, text, headers=headers)
    if size > limits.bytes:
        if size <= _MOST_DISCARDED and not request.headers.get("expect"):
            await _discard(stream)
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in stream:
                body += chunk
                if len(body) > limits.bytes:
                    await _discard(stream)
                    raise too_large
    except TimeoutError:
        text = f"the request did not arrive within {limits.seconds:g} seconds"
        raise RequestError(408, text, headers=headers) from None
    return bytes(body)


def json_object(body: bytes | str, otherwise: str) -> dict[str, Any]:
    """Return an object from JSON; RequestError ``otherwise``, and for unpaired surrogates."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise RequestError(400, otherwise)
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        text = "found half a character (\\ud800 to \\udfff) in JSON, expected whole ones"
        raise RequestError(400, text) from None
    return content


async def _discard(stream: AsyncIterator[bytes]) -> None:
    """Discard the rest of a body: a client still sending when the connection closes misses the answer."""
    size = 0
    with suppress(TimeoutError, StopAsyncIteration):
        while size < _MOST_DISCARDED:
            size += len(await asyncio.wait_for(anext(stream), _PAUSE_SECONDS))


async def unless_gone(receive: Receive, work: Awaitable[Result]) -> Result:
    """Return the result of work for a request already read; ClientDisconnect when the client leaves."""

    async def left() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def outcome_of(job: Any, *, pool: ComputePool, limits: Limits, request: Request) -> Any:
    """Return the result of a job for a request already read.

    Raises RequestError when too many requests wait (429), after a timeout (503), or for a failed process
    (500, see the log); QsprojError when the job refuses its input.
    """
    headers = {"retry-after": "1"}
    try:
        async with asyncio.timeout(limits.seconds):
            return await unless_gone(request.receive, pool.run(job, most_waiting=limits.waiting))
    except asyncio.QueueFull:
        text = "too many requests are waiting; try again later"
        raise RequestError(429, text, headers=headers) from None
    except TimeoutError:
        text = f"there was no result within {limits.seconds:g} seconds; try again later, or send less at once"
        raise RequestError(503, text, headers=headers) from None
    except WorkerError as error:
        request.scope[FACTS]["fault"] = str(error)
        raise RequestError(500, "internal error; see the server's log") from None


def with_access_log(
    app: ASGIApp, *, paths: Collection[str], headers: Collection[tuple[str, str]] = ()
) -> ASGIApp:
    """Wrap an application: log every request, answer also after errors, add ``headers`` to answers."""
    extra = [(name.lower().encode(), value.encode()) for name, value in headers]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        start, status, size = time.monotonic(), 0, 0
        facts = scope[FACTS] = dict[str, Any]()

        async def counted_send(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *extra]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await app(scope, receive, counted_send)
        except ClientDisconnect:
            status = _CLIENT_LEFT
        except asyncio.CancelledError:
            # The server is stopping, and the grace period for this request is over.
            facts["stopped"] = True
            if status == 0:
                stopped = "the server is being stopped; ask again once it runs\n"
                await PlainTextResponse(stopped, 503)(scope, receive, counted_send)
        except Exception as error:
            facts["fault"] = where_from(error)
            if status == 0:
                bug = "internal error; see the server's log\n"
                await PlainTextResponse(bug, 500)(scope, receive, counted_send)
        finally:
            known = any(scope["path"] == path or scope["path"].startswith(f"{path}/") for path in paths)
            asked = {"method": scope["method"], "path": scope["path"] if known else "other"}
            seconds = round(time.monotonic() - start, 4)
            log(**asked, status=status or _CLIENT_LEFT, seconds=seconds, bytes_out=size, **facts)

    return answer


class AsLines(logging.Handler):
    """A handler that writes records of other loggers, such as uvicorn's, as lines of this log. Final."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        log(said=record.getMessage(), **({} if error is None else {"fault": where_from(error)}))


def log(**facts: Any) -> None:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"at": at, **facts}), file=sys.stderr, flush=True)
