"""The server of a review page, at an address with a secret token."""

from __future__ import annotations

from secrets import token_urlsafe
from typing import TYPE_CHECKING

from qsproj.serve.access_log import with_access_log
from qsproj.serve.listening import address_of, serve_until_stopped
from qsproj.serve.requests import Limits
from qsproj.serve.review.app import PATHS, review_app
from qsproj.serve.review.guard import HEADERS, guarded

if TYPE_CHECKING:
    from socket import socket

    from qsproj.serve.compute import ComputePool
    from qsproj.serve.review.loop import Loop
    from qsproj.serve.review.session import Session
    from qsproj.serve.review.words import WordList

# Enough for the single sentences that the page sends.
_PAGE_BYTES = 1 << 20


def serve_review(
    session: Session,
    pools: tuple[ComputePool | None, ComputePool | None],
    listening: socket,
    *,
    host: str,
    seconds: float,
    command: str = "serve",
    words: WordList | None = None,
    loop: Loop | None = None,
) -> None:
    """Serve the page of a session; ``pools``: the training process and the inference process."""
    training, inference = pools
    token = token_urlsafe(24)
    limits = Limits(bytes=_PAGE_BYTES, seconds=seconds)
    answers = review_app(session, training, limits, inference=inference, words=words, loop=loop)
    app = with_access_log(guarded(answers, token=token, host=host), paths=PATHS, headers=HEADERS)
    said = f"qsproj {command}: open {address_of(listening)}/?token={token} to review {session.draft.path}"
    running = [pool for pool in pools if pool is not None]
    serve_until_stopped(app, listening, seconds=seconds, said=said, pools=running)
