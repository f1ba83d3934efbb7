"""INCEpTION's external recommender protocol: ``/inception/MODEL/predict`` and ``/train``.

*Source*: INCEpTION's developer guide, "External recommender". A request is JSON with ``metadata``,
``document`` and ``typeSystem``; the answer is JSON with ``document``. Training is answered with code 204 and
nothing else.
"""

from __future__ import annotations

import json
from functools import partial
from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qsproj.errors import UsageError
from qsproj.serve.access_log import FACTS
from qsproj.serve.bounded import outcome_of
from qsproj.serve.compute import ComputePool
from qsproj.serve.inception.suggestions import Asked, Suggested, check_layer, suggest
from qsproj.serve.requests import Limits, RequestError, body_of
from qsproj.serve.udpipe.processing import Processed, process
from qsproj.serve.udpipe.served_models import ServedModels, chosen_model

PATH = "/inception"


def inception_routes(models: ServedModels, pool: ComputePool, limits: Limits) -> list[Route]:
    """Return what is answered below ``/inception``.

    ``pool``: Whose work is :func:`work_on` on these models.
    """
    return [
        Route(f"{PATH}/{{model}}/predict", partial(_predict, pool, limits), methods=["POST"]),
        Route(f"{PATH}/{{model}}/train", partial(_train, models, limits), methods=["POST"]),
    ]


def work_on(models: ServedModels, job: Any) -> Processed | Suggested:
    """Do a job of either protocol; for the processes of a server that speaks both."""
    return suggest(models, job) if isinstance(job, Asked) else process(models, job)


async def _predict(pool: ComputePool, limits: Limits, request: Request) -> Response:
    if find_spec("cassis") is None:
        raise RequestError(
            501, "this server cannot read CAS XMI; install it: pip install 'qsproj[inception]'"
        )
    body = await body_of(request, limits)
    asked = _asked(request.path_params["model"], _object(body))
    facts = request.scope[FACTS]
    facts["bytes_in"] = len(body)
    done: Suggested = await outcome_of(asked, pool=pool, limits=limits, request=request)
    facts |= {"model": done.model, "sentences": done.sentences, "words": done.words}
    return Response(json.dumps({"document": done.xmi}, ensure_ascii=False), media_type="application/json")


async def _train(models: ServedModels, limits: Limits, request: Request) -> Response:
    """Answer that all is done: a served model stays as it is, and may be asked at once."""
    content = _object(await body_of(request, limits))
    chosen_model(models, request.path_params["model"])
    check_layer(_text(content, "metadata", "layer"), _text(content, "metadata", "feature"))
    return Response(status_code=204)


def _object(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise RequestError(
            400, "found a body that is no JSON, expected metadata, document, typeSystem"
        ) from None


def _asked(model: str, content: Any) -> Asked:
    return Asked(
        model=model,
        layer=_text(content, "metadata", "layer"),
        feature=_text(content, "metadata", "feature"),
        xmi=_text(content, "document", "xmi"),
        type_system=_text(content, "typeSystem"),
    )


def _text(content: Any, *names: str) -> str:
    """Return the string at a path into JSON."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    if not isinstance(content, str):
        raise UsageError(f"found no string {'.'.join(names)!r} in the request, expected one")
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(f"found half a character (\\ud800 to \\udfff) in {'.'.join(names)!r}") from None
    return content
