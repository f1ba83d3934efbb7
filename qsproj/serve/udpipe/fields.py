"""The fields of a request: in its address, as a form, in several parts, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from qsproj.serve.requests import Limits, RequestError, body_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_FORM, _PARTS, _JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
_MOST_FIELDS = 50


async def fields_of(request: Request, limits: Limits) -> Mapping[str, str]:
    """Return what a client sent, by name; what is in the body comes before what is in the address.

    Raises RequestError when it is too large, late, or cannot be read.
    """
    fields = dict(_pairs(request.url.query))
    body = await body_of(request, limits)
    if not body:
        return fields
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == _PARTS:
        return fields | await _parts(request, body)
    text = _decoded(body)
    if kind == _JSON:
        return fields | _json(text)
    if kind in (_FORM, ""):
        return fields | dict(_pairs(text))
    raise RequestError(400, f"found a body of type {kind!r}, expected {_FORM}, {_PARTS} or {_JSON}")


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise RequestError(
            400, f"found a form that is no UTF-8, or has more than {_MOST_FIELDS} fields"
        ) from None


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        at = f"0x{body[error.start]:02x} at byte {error.start}"
        raise RequestError(400, f"found {at} of the request, expected UTF-8") from None


def _json(text: str) -> dict[str, str]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise RequestError(400, 'found no object of strings, expected JSON such as {"data": "..."}')
    try:
        "".join(content.values()).encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError(
            400, "found half a character (\\ud800 to \\udfff) in JSON, expected whole ones"
        ) from None
    return content


async def _parts(request: Request, body: bytes) -> dict[str, str]:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    reader = MultiPartParser(
        request.headers, stream(), max_files=_MOST_FIELDS, max_fields=_MOST_FIELDS, max_part_size=len(body)
    )
    try:
        form = await reader.parse()
    except (MultiPartException, KeyError, ValueError):
        raise RequestError(
            400, "found a body in parts that cannot be read, expected multipart/form-data"
        ) from None
    fields = {}
    for name, value in form.multi_items():
        # A part with a file name is a text all the same: curl -F data=@text.txt
        fields[name] = _decoded(await value.read()) if isinstance(value, UploadFile) else value
    return fields
