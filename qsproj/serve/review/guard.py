"""A guard for a page that writes to a file: it answers the page itself, and nobody else.

The address that the command shows holds a token; every request of the page sends it along. A page elsewhere
does not know it, and is refused by its Origin before that. A name that someone else's name server points at
this machine is refused by the Host.
"""

from __future__ import annotations

import re
import secrets
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# A name or an address, IPv6 in brackets, and a port; nothing of a user, a path or anything else.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\s@:/?#\[\]\\]+))(?::[0-9]{1,5})?")
TOKEN_HEADER = "x-qsproj-token"
PAGE, STATIC = "/", "/static/"
# Nothing but the files of the page may be loaded or run, and no other page may frame it or learn its address.
HEADERS = (
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)


def guarded(app: ASGIApp, *, token: str, host: str) -> ASGIApp:
    """Return an application that answers its own page alone.

    ``token``: given as ``?token=`` for the page, as ``X-Qsproj-Token`` for all that it asks; its scripts and
    styles go without. ``host``: the name of the server; addresses and ``localhost`` go as well.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope, token=token, host=host)
        if refusal is None:
            await app(scope, receive, send)
        else:
            await PlainTextResponse(f"{refusal}\n", status_code=403)(scope, receive, send)

    return answer


def _refusal(scope: Scope, *, token: str, host: str) -> str | None:
    """Return why a request is refused; None when it is not."""
    headers = Headers(scope=scope)
    found = _HOST.fullmatch(headers.get("host", ""))
    name = "" if found is None else (found[1] or found[2]).lower()
    if name not in ("localhost", host) and not _is_address(name):
        return "this page is open at the address that qsproj serve shows alone"
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{headers['host']}":
        return "pages elsewhere may not use this one"
    path = scope["path"]
    if path.startswith(STATIC):
        return None
    if path != PAGE and headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return "pages elsewhere may not use this one"
    if path == PAGE:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    else:
        given = headers.get(TOKEN_HEADER, "")
    if not secrets.compare_digest(given.encode(), token.encode()):
        return "open the address that qsproj serve shows, with its token"
    return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
