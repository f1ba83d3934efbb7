"""An access log with one line per request, and an answer to every request, also after errors.

The log is JSON, one object a line, on the standard error. It holds no text of a request: no body, no query,
no unknown path.
"""

import asyncio
import json
import logging
import sys
import time
import traceback
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Key of the scope under which an application stores extra fields for the log.
FACTS = "qsproj.facts"
# Logged status of a request whose client disconnected.
_CLIENT_LEFT = 499


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


def where_from(error: BaseException) -> str:
    """Return the type and location of an error, without its message, which may quote a sentence."""
    last = reversed(traceback.extract_tb(error.__traceback__)[-4:])
    return f"{type(error).__name__} at {' < '.join(f'{frame.filename}:{frame.lineno}' for frame in last)}"


class AsLines(logging.Handler):
    """A handler that writes records of other loggers, such as uvicorn's, as lines of this log. Final."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        log(said=record.getMessage(), **({} if error is None else {"fault": where_from(error)}))


def log(**facts: Any) -> None:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"at": at, **facts}), file=sys.stderr, flush=True)
