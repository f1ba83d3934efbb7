"""The REST API of UDPipe as an application: ``/models``, ``/process``, and ``/health``.

*Source*: lindat.mff.cuni.cz/services/udpipe/api-reference.php. Answers are JSON with ``model``,
``acknowledgements`` and ``result``; errors are plain text with code 400.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from qsproj import __version__
from qsproj.serve.access_log import FACTS
from qsproj.serve.bounded import outcome_of
from qsproj.serve.compute import ComputePool
from qsproj.serve.requests import EXCEPTION_HANDLERS, Limits
from qsproj.serve.udpipe.fields import fields_of
from qsproj.serve.udpipe.processing import Processed
from qsproj.serve.udpipe.served_models import ServedModels

PATHS = ("/models", "/process", "/health")
_ACKNOWLEDGEMENTS = (f"qsproj {__version__}",)
# Any page may ask, as of UDPipe's own service: there is nothing here that only this machine should know.
HEADERS = (("access-control-allow-origin", "*"), ("x-content-type-options", "nosniff"))


def udpipe_app(
    models: ServedModels, pool: ComputePool, limits: Limits, *, others: Sequence[Route] = ()
) -> Starlette:
    """Return the application.

    ``models``: The first is the default. ``pool``: Whose work is
    :func:`qsproj.serve.udpipe.processing.process` on these models. ``others``: What is answered beside it.
    """
    return Starlette(
        routes=[
            Route("/models", partial(_models, models), methods=["GET"]),
            Route("/process", partial(_process, pool, limits), methods=["GET", "POST"]),
            Route("/health", partial(_health, models, pool), methods=["GET"]),
            *others,
            Route("/{path:path}", _nothing_here, methods=["GET", "POST"]),
        ],
        exception_handlers=EXCEPTION_HANDLERS,
    )


async def _models(models: ServedModels, request: Request) -> Response:
    del request
    return _json(
        {
            "models": {name: model.abilities for name, model in models.items()},
            "default_model": next(iter(models)),
        }
    )


async def _health(models: ServedModels, pool: ComputePool, request: Request) -> Response:
    del request
    return _json({"status": "ok", "models": list(models), "busy": pool.busy, "waiting": pool.waiting})


async def _nothing_here(request: Request) -> Response:
    del request
    return PlainTextResponse(f"found no such address, expected {', '.join(PATHS)}\n", status_code=404)


async def _process(pool: ComputePool, limits: Limits, request: Request) -> Response:
    fields = await fields_of(request, limits)
    facts = request.scope[FACTS]
    facts["bytes_in"] = len(fields.get("data", ""))
    done: Processed = await outcome_of(dict(fields), pool=pool, limits=limits, request=request)
    facts |= {"model": done.model, "sentences": done.sentences, "words": done.words}
    return _json({"model": done.model, "acknowledgements": _ACKNOWLEDGEMENTS, "result": done.result})


def _json(content: Mapping[str, object]) -> Response:
    text = json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    return Response(text, media_type="application/json")
