"""The REST API of UDPipe as an application: ``/models``, ``/process``, and ``/health``.

*Source*: lindat.mff.cuni.cz/services/udpipe/api-reference.php. Answers are JSON with ``model``,
``acknowledgements`` and ``result``; errors are plain text with code 400.
"""

import html
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from string import Template
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from qsproj import __version__
from qsproj.serve import requests
from qsproj.serve.compute import ComputePool
from qsproj.serve.udpipe.processing import Processed, ServedModels

PATHS = ("/models", "/process", "/health")
_ACKNOWLEDGEMENTS = (f"qsproj {__version__}",)
# Requests from any site are allowed, as by UDPipe's own service: the models are not secret.
HEADERS = (("access-control-allow-origin", "*"), ("x-content-type-options", "nosniff"))


def udpipe_app(
    models: ServedModels, pool: ComputePool, limits: requests.Limits, *, others: Sequence[Route] = ()
) -> Starlette:
    """Return the application; the pool's work is ``process`` on these models; the first is the default."""
    return Starlette(
        routes=[
            Route("/", partial(_start, models, inception=bool(others)), methods=["GET"]),
            Route("/models", partial(_models, models), methods=["GET"]),
            Route("/process", partial(_process, pool, limits), methods=["GET", "POST"]),
            Route("/health", partial(_health, models, pool), methods=["GET"]),
            *others,
            Route("/{path:path}", _nothing_here, methods=["GET", "POST"]),
        ],
        exception_handlers=requests.EXCEPTION_HANDLERS,
    )


async def _models(models: ServedModels, _: Request) -> Response:
    abilities = {name: model.abilities for name, model in models.items()}
    return _json_response({"models": abilities, "default_model": next(iter(models))})


async def _start(models: ServedModels, request: Request, *, inception: bool) -> Response:
    base = html.escape(f"{request.url.scheme}://{request.url.netloc}")
    named = ((html.escape(name), html.escape(", ".join(one.abilities))) for name, one in models.items())
    rows = "".join(f"<tr><th scope=row>{name}</th><td>{able}</td></tr>" for name, able in named)
    first = html.escape(quote(next(iter(models))))
    more = f"<li>{base}/inception/MODEL: suggestions for annotators in INCEpTION</li>" if inception else ""
    page = Template((files("qsproj.serve.udpipe") / "start.html").read_text(encoding="utf-8"))
    headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return HTMLResponse(page.substitute(rows=rows, base=base, first=first, more=more), headers=headers)


async def _health(models: ServedModels, pool: ComputePool, _: Request) -> Response:
    return _json_response(
        {"status": "ok", "models": list(models), "busy": pool.busy, "waiting": pool.waiting}
    )


async def _nothing_here(_: Request) -> Response:
    return PlainTextResponse(f"found no such address, expected {', '.join(PATHS)}\n", status_code=404)


async def _process(pool: ComputePool, limits: requests.Limits, request: Request) -> Response:
    fields = dict(await fields_of(request, limits))
    size = len(fields.get("data", ""))
    done = await processed(fields, size=size, pool=pool, limits=limits, request=request)
    return _json_response({"model": done.model, "acknowledgements": _ACKNOWLEDGEMENTS, "result": done.result})


async def processed(
    job: Any, *, size: int, pool: ComputePool, limits: requests.Limits, request: Request
) -> Processed:
    """Return the result of a job, and log facts about it; ``size``: of the job's text."""
    facts = request.scope[requests.FACTS]
    facts["bytes_in"] = size
    done: Processed = await requests.outcome_of(job, pool=pool, limits=limits, request=request)
    facts |= {"model": done.model, "sentences": done.sentences, "words": done.words}
    return done


def _json_response(content: Mapping[str, object]) -> Response:
    text = json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    return Response(text, media_type="application/json")


_FORM, _PARTS, _JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
_MOST_FIELDS = 50


async def fields_of(request: Request, limits: requests.Limits) -> Mapping[str, str]:
    fields = dict(_pairs(request.url.query))
    body = await requests.body_of(request, limits)
    if not body:
        return fields
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == _PARTS:
        return fields | await _parts(request, body)
    text = _decoded(body)
    if kind == _JSON:
        otherwise = 'found no object of strings, expected JSON such as {"data": "..."}'
        content = requests.json_object(text, otherwise)
        if not all(isinstance(value, str) for value in content.values()):
            raise requests.RequestError(400, otherwise)
        return fields | content
    if kind in (_FORM, ""):
        return fields | dict(_pairs(text))
    raise requests.RequestError(400, f"found a body of type {kind!r}, expected {_FORM}, {_PARTS} or {_JSON}")


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        found = f"found a form that is no UTF-8, or has more than {_MOST_FIELDS} fields"
        raise requests.RequestError(400, found) from None


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        at = f"0x{body[error.start]:02x} at byte {error.start}"
        raise requests.RequestError(400, f"found {at} of the request, expected UTF-8") from None


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
        found = "found a body in parts that cannot be read, expected multipart/form-data"
        raise requests.RequestError(400, found) from None
    fields = {}
    for name, value in form.multi_items():
        # A part with a file name is also a text: curl -F data=@text.txt
        fields[name] = _decoded(await value.read()) if isinstance(value, UploadFile) else value
    return fields
