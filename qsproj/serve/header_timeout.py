"""HTTP by uvicorn, which hangs up on a client that does not say what it wants."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol_with_timeout(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with a bound on the time from the first byte of a request to its last header.

    What follows, the body, is up to the application. A connection on which nothing was ever said is closed
    after the same time.
    """

    class TimedProtocol(H11Protocol):
        _hang_up: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._hang_up = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            if self._hang_up is None and not self._is_answering():
                self._hang_up = self.loop.call_later(seconds, self.transport.close)
            super().data_received(data)
            if self._is_answering():
                self._stop_timer()

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
