"""An application behind an address: the socket is taken first, then uvicorn serves until it is stopped."""

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

# What the extra brings; the last is what starlette reads forms with.
_NEEDED = ("starlette", "uvicorn", "python_multipart")
# Connections at once, of which most wait; more are told to come again by uvicorn.
_MOST_CONNECTIONS = 512
# How long a connection is kept for the next request.
_KEPT_SECONDS = 5
# How long what is under way may take when the server is stopped.
_GRACE_SECONDS = 5
# How long the answer may take that the server is being stopped.
_LAST_WORDS_SECONDS = 1


def check_installed() -> None:
    """Raise UsageError, which says what to install, where there is nothing to serve with."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise UsageError(
            "found no processes that fork, which serving needs and Windows lacks; run it in the Windows "
            "Subsystem for Linux"
        )
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(f"found no {', '.join(missing)}; install it: pip install 'qsproj[serve]'")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, at a free port for 0; UsageError when it cannot."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_MOST_CONNECTIONS)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"port {port} of {host} is in use; give another: --port N (0: a free one)"
            ) from error
        raise UsageError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from error
    except OverflowError as error:
        raise UsageError(f"found port {port}, expected 0 to 65535") from error


def address_of(listening: socket.socket) -> str:
    """Return the address of a listening socket as a browser takes it: ``http://127.0.0.1:8001``."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listening: socket.socket, *, seconds: float, started: Callable[[], None]) -> None:
    """Serve an application that answers whatever happens, until an interrupt or SIGTERM.

    ``seconds``: for a client to say what it wants. ``started``: called when requests are answered.
    """
    import uvicorn

    from qsproj.serve.access_log import AsLines

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
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            # What was cancelled tells its client so.
            if self.server_state.tasks:
                await asyncio.wait(list(self.server_state.tasks), timeout=_LAST_WORDS_SECONDS)

    server = Server(config)

    async def run() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not (server.started or serving.done()):
            await asyncio.sleep(0.01)
        if server.started:
            started()
        await serving

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        # That is how a server is stopped.
        print("qsproj serve: stopped", file=sys.stderr)


def serve_until_stopped(
    app: ASGIApp, listening: socket.socket, *, seconds: float, said: str, pools: Iterable[ComputePool]
) -> None:
    """Serve as :func:`serve`, print where, and stop the processes in the end."""
    line = f"{said} (Ctrl-C stops)"
    try:
        serve(app, listening, seconds=seconds, started=lambda: print(line, file=sys.stderr, flush=True))
    finally:
        for pool in pools:
            pool.stop()


def protocol_with_timeout(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with a bound on the time from the first byte of a request to its last header.

    A connection on which nothing was ever said is closed after the same time.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class TimedProtocol(H11Protocol):
        _hang_up: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            # Else the second part of an answer waits until the first is acknowledged, late: 40 ms.
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._hang_up = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            if self._hang_up is None and not self._is_answering():
                self._hang_up = self.loop.call_later(seconds, self.transport.close)
            super().data_received(data)
            if self._is_answering():
                self._stop_timer()

        def _unsupported_upgrade_warning(self) -> None:
            """Say nothing: clients in Java ask each time whether this is HTTP/2, and go on without."""

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
