"""Access control for a page that writes to a file: only requests of the page itself are answered.

The printed address holds a token, sent with every request of the page. Other sites are refused by the Origin
header, and do not know the token. DNS rebinding is refused by the Host header.
"""

import re
import secrets
from ipaddress import ip_address
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

# A name or an address, IPv6 in brackets, and a port; no user, path or other part.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\s@:/?#\[\]\\]+))(?::[0-9]{1,5})?")
TOKEN_HEADER = "x-qsproj-token"
PAGE, STATIC = "/", "/static/"
# Only the page's own files may be loaded or run; no other page may frame it or see its address as referrer.
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
    """Return an application that answers requests of its own page only.

    ``token``: expected as ``?token=`` for the page and as ``X-Qsproj-Token`` for its requests; scripts and
    styles need none. ``host``: the accepted server name, beside IP addresses and ``localhost``.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope, token=token, host=host)
        if refusal is None:
            await app(scope, receive, send)
        else:
            await PlainTextResponse(f"{refusal}\n", status_code=403)(scope, receive, send)

    return answer


def _refusal(scope: Scope, *, token: str, host: str) -> str | None:
    headers = Headers(scope=scope)
    found = _HOST.fullmatch(headers.get("host", ""))
    name = "" if found is None else (found[1] or found[2]).lower()
    if name not in ("localhost", host) and not _is_address(name):
        return "this page is open only at the address that qsproj serve shows"
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{headers['host']}":
        return "other sites may not use this page"
    path = scope["path"]
    if path.startswith(STATIC):
        return None
    if path == PAGE:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    elif headers.get("sec-fetch-site", "same-origin") == "same-origin":
        given = headers.get(TOKEN_HEADER, "")
    else:
        return "other sites may not use this page"
    if not secrets.compare_digest(given.encode(), token.encode()):
        return "open the address that qsproj serve shows, with its token"
    return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
