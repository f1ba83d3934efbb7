"""Work for a client: bounded in time, given up when the client goes, and never answered with a traceback."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from qsproj.serve.access_log import FACTS
from qsproj.serve.compute import ComputePool, WorkerError
from qsproj.serve.requests import Limits, RequestError, unless_gone

if TYPE_CHECKING:
    from starlette.requests import Request

_COME_AGAIN = {"retry-after": "1"}


async def outcome_of(job: Any, *, pool: ComputePool, limits: Limits, request: Request) -> Any:
    """Return what comes of a job for a client whose request has been read.

    Raises RequestError when too many others wait (429), the time is over (503), or a process failed at it
    (500); then the log says where; QsprojError when the job is refused; ClientDisconnect when the client has
    gone.
    """
    if pool.waiting >= limits.waiting:
        raise RequestError(429, "too many requests are waiting; come again later", headers=_COME_AGAIN)
    try:
        async with asyncio.timeout(limits.seconds):
            return await unless_gone(request.receive, pool.run(job))
    except TimeoutError:
        text = (
            f"there was no result within {limits.seconds:g} seconds; come again later, or send less at once"
        )
        raise RequestError(503, text, headers=_COME_AGAIN) from None
    except WorkerError as error:
        request.scope[FACTS]["fault"] = str(error)
        raise RequestError(
            500, "the text could not be processed, by a fault of the server; its log says where"
        ) from None
