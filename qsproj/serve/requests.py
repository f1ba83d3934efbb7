"""Untrusted requests: limits on body size, time and work, and refusals in plain text."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive

from qsproj.corpus.messages import number_of
from qsproj.errors import QsprojError
from qsproj.serve.access_log import FACTS
from qsproj.serve.compute import ComputePool, WorkerError

Result = TypeVar("Result")
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
    if size > limits.bytes:
        if size <= _MOST_DISCARDED and not request.headers.get("expect"):
            await _discard(stream)
        raise _too_large(limits)
    chunks, size = list[bytes](), 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in stream:
                size += len(chunk)
                chunks.append(chunk)
                if size > limits.bytes:
                    await _discard(stream)
                    raise _too_large(limits)
    except TimeoutError:
        # The rest of this request would be read as the next one.
        text = f"the request did not arrive within {limits.seconds:g} seconds"
        raise RequestError(408, text, headers={"connection": "close"}) from None
    return b"".join(chunks)


def json_object(body: bytes | str, otherwise: str) -> dict[str, Any]:
    """Return an object from JSON; RequestError ``otherwise``, and where JSON holds half a character."""
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


def _too_large(limits: Limits) -> RequestError:
    text = f"the request is larger than {limits.bytes:,} bytes; send the text in pieces"
    return RequestError(413, text, headers={"connection": "close"})


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


_COME_AGAIN = {"retry-after": "1"}


async def outcome_of(job: Any, *, pool: ComputePool, limits: Limits, request: Request) -> Any:
    """Return the result of a job for a request already read.

    Raises RequestError when too many requests wait (429), after a timeout (503), or when a process failed
    (500; the log has the location); QsprojError when the job refuses its input.
    """
    if pool.waiting >= limits.waiting:
        raise RequestError(429, "too many requests are waiting; try again later", headers=_COME_AGAIN)
    try:
        async with asyncio.timeout(limits.seconds):
            return await unless_gone(request.receive, pool.run(job))
    except TimeoutError:
        text = f"there was no result within {limits.seconds:g} seconds; try again later, or send less at once"
        raise RequestError(503, text, headers=_COME_AGAIN) from None
    except WorkerError as error:
        request.scope[FACTS]["fault"] = str(error)
        raise RequestError(500, "internal error; see the server's log") from None
