"""Serve an application by uvicorn until it is stopped; the socket is opened first."""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import multiprocessing
import socket
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from qsproj.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from qsproj.serve.compute import ComputePool

_NEEDED = ("starlette", "uvicorn", "python_multipart")  # starlette reads forms with the last
_MOST_CONNECTIONS = 512  # most of them waiting; uvicorn answers 503 to others
_KEPT_SECONDS = 5  # keep-alive time of a connection
_GRACE_SECONDS = 5  # for running requests to finish after the server is stopped
_LAST_WORDS_SECONDS = 1  # for sending the answer that the server is stopping


def check_installed() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        raise UsageError("serving needs fork, which Windows lacks; use the Windows Subsystem for Linux")
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise UsageError(f"found no {', '.join(missing)}; install it: pip install 'qsproj[serve]'")


def listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_MOST_CONNECTIONS)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            found = f"port {port} of {host} is in use"
            raise UsageError(f"{found}; give another: --port N (0: a free one)") from error
        raise UsageError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from error
    except OverflowError as error:
        raise UsageError(f"found port {port}, expected 0 to 65535") from error


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    app: ASGIApp,
    listening: socket.socket,
    *,
    seconds: float,
    started: Callable[[], object],
    pools: Iterable[ComputePool] = (),
    command: str = "serve",
) -> None:
    """Serve an application, which must handle all errors, until an interrupt or SIGTERM; then stop pools."""
    import uvicorn

    from qsproj.serve.requests import AsLines

    said = logging.getLogger("uvicorn")
    said.handlers, said.propagate = [AsLines(logging.WARNING)], False
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        loop="asyncio",
        http=protocol_with_timeout(seconds),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=min(_KEPT_SECONDS, math.ceil(seconds)),
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                started()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            # Cancelled requests still answer their clients.
            if self.server_state.tasks:
                await asyncio.wait(list(self.server_state.tasks), timeout=_LAST_WORDS_SECONDS)

    try:
        asyncio.run(Server(config).serve(sockets=[listening]))
    except KeyboardInterrupt:
        # An interrupt is the regular way to stop a server.
        print(f"qsproj {command}: stopped", file=sys.stderr)
    finally:
        for pool in pools:
            pool.stop()


def protocol_with_timeout(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with a timeout from the first byte of a request to its last header."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class TimedProtocol(H11Protocol):
        _hang_up: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            # Otherwise the second part of an answer waits 40 ms for the delayed ACK of the first.
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._hang_up = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            if self._hang_up is None and not self._is_answering():
                self._hang_up = self.loop.call_later(seconds, self.transport.close)
            super().data_received(data)
            if self._is_answering():
                self._stop_timer()

        def _unsupported_upgrade_warning(self) -> None:
            """Suppress the warning: Java clients offer HTTP/2 in each request, and continue without."""

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _stop_timer(self) -> None:
            if self._hang_up is not None:
                self._hang_up.cancel()
                self._hang_up = None

    return TimedProtocol
