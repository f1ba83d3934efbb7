"""The web application of the review page; its answers are JSON.

Only requests of the page itself are answered, since they write to a file. The printed address holds a token,
sent with every request of the page. Other sites are refused by the Origin header, and do not know the token.
DNS rebinding is refused by the Host header.
"""

import asyncio
import json
import re
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.resources import files
from ipaddress import ip_address
from socket import socket
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from qsproj.corpus.messages import number_of
from qsproj.errors import QsprojError
from qsproj.serve.compute import ComputePool, WorkerError
from qsproj.serve.listening import address_of, serve
from qsproj.serve.requests import (
    EXCEPTION_HANDLERS,
    Limits,
    RequestError,
    body_of,
    json_object,
    log,
    outcome_of,
    with_access_log,
)
from qsproj.serve.review.content import overview, page, progress, report, shown_sentence
from qsproj.serve.review.correction import CHECKABLE, Tree
from qsproj.serve.review.draft import FileChangedError, StaleError
from qsproj.serve.review.inference import FixedCells, InferenceJob
from qsproj.serve.review.loop import Loop
from qsproj.serve.review.retraining import Retrained, Reviewed
from qsproj.serve.review.search import correct_hits, search
from qsproj.serve.review.session import DoubtError, Session
from qsproj.serve.review.tokens import Edit
from qsproj.serve.review.words import WordList

PATHS = ("/", "/static", "/api")
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
# A name or an address, IPv6 in brackets, and a port; no user, path or other part.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\s@:/?#\[\]\\]+))(?::[0-9]{1,5})?")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_MOST_ROWS, _MOST_HITS = 500, 500
_PAGE_BYTES = 1 << 20  # enough for the single sentences that the page sends
_START = "start with one: qsproj serve --review FILE -m MODEL"

Content = dict[str, Any]
_NO_WORDS: Content = {"words": [], "questions": [], "tags": []}
# Answers a request; takes its fields, query parameters and the index of its sentence, and the request.
Answer = Callable[[Content, Request], Content | Awaitable[Content]]
# Kinds of the fields of a request, see _check.
_TREE: Content = {"heads": [int], "relations": [str]}
_CORRECTION = {**_TREE, "version": str, "columns": {str}}
_PART = {**_CORRECTION, "decided": {bool}}
_EDIT = {"version": str, "action": str, "word": int, "last": int, "texts": [str]}


class ConflictError(Exception):
    """A change refused because of the state of the draft, with what the page needs to go on."""

    def __init__(self, reason: str, error: Exception, **more: Any) -> None:
        super().__init__(reason)
        self.content = {"reason": reason, "text": str(error), **more}


async def _conflict_response(_: Request, error: Exception) -> Response:
    return _json(getattr(error, "content", {}), status=409)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A session, with the processes that train and infer, the words to tag, and the loop of training."""

    session: Session
    training: ComputePool | None = None  # works by Retraining, or Relearning
    inference: ComputePool | None = None  # works by Inference
    words: WordList | None = None
    loop: Loop | None = None  # trains after each batch


def serve_review(
    review: Review, listening: socket, *, host: str, seconds: float, command: str = "serve"
) -> None:
    token, limits = secrets.token_urlsafe(24), Limits(bytes=_PAGE_BYTES, seconds=seconds)
    answers = guarded(review_app(review, limits), token=token, host=host)
    app = with_access_log(answers, paths=PATHS, headers=HEADERS)
    path, running = review.session.draft.path, filter(None, (review.training, review.inference))
    said = f"qsproj {command}: open {address_of(listening)}/?token={token} to review {path} (Ctrl-C stops)"
    started = partial(print, said, file=sys.stderr, flush=True)
    serve(app, listening, seconds=seconds, started=started, pools=running, command=command)


def guarded(app: ASGIApp, *, token: str, host: str) -> ASGIApp:
    """Return an application that answers requests of its own page only.

    ``token``: expected as ``?token=`` for the page and as ``X-Qsproj-Token`` for its requests; scripts and
    styles need none. ``host``: the accepted server name, beside IP addresses and ``localhost``.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope, token=token, host=host)
        own = app if refusal is None else PlainTextResponse(f"{refusal}\n", status_code=403)
        await own(scope, receive, send)

    return answer


def _refusal(scope: Scope, *, token: str, host: str) -> str | None:
    headers, path = Headers(scope=scope), scope["path"]
    found = _HOST.fullmatch(headers.get("host", ""))
    name = "" if found is None else (found[1] or found[2]).lower()
    if name not in ("localhost", host) and not _is_address(name):
        return "this page is open only at the address that the command shows"
    if headers.get("origin") not in (None, f"{scope['scheme']}://{headers['host']}"):
        return "other sites may not use this page"
    if path.startswith("/static/"):
        return None
    if path == "/":
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    elif headers.get("sec-fetch-site", "same-origin") == "same-origin":
        given = headers.get("x-qsproj-token", "")
    else:
        return "other sites may not use this page"
    if not secrets.compare_digest(given.encode(), token.encode()):
        return "open the address that the command shows, with its token"
    return None


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        ip_address(name)
        return True
    return False


def review_app(review: Review, limits: Limits) -> Starlette:
    session, answers = review.session, _Answers(review, limits)
    session.live = review.inference is not None

    def route(method: str, path: str, answer: Answer, kinds: Content | None = None, **default: Any) -> Route:
        return Route(f"/api/{path}", partial(answers.answered, answer, kinds, default), methods=[method])

    return Starlette(
        routes=[
            Route("/", partial(_page_file, "review.html"), methods=["GET"]),
            *(Route(f"/static/{name}", partial(_page_file, name), methods=["GET"]) for name in _page_files()),
            route("GET", "overview", answers.overview),
            route("GET", "sentences", answers.rows),
            route("GET", "sentences/{index}", lambda given, _: shown_sentence(session, given["index"])),
            route("PUT", "sentences/{index}", answers.confirm, _CORRECTION, columns={}),
            route("PUT", "sentences/{index}/part", answers.keep, _PART, columns={}),
            route("PUT", "sentences/{index}/tag", answers.tag, {"word": int, "form": str, "tag": str}),
            route("POST", "sentences/{index}/undo", answers.undo, {"version": str}),
            route("POST", "sentences/{index}/edit", answers.edit, _EDIT, word=1, last=1, texts=[]),
            route("POST", "sentences/{index}/rest", answers.rest, _TREE | {"upos": [str], "tags": [bool]}),
            route("GET", "report", lambda *_: report(session)),
            route("POST", "search", answers.search, {"pattern": str, "change": str}, pattern="", change=""),
            route("POST", "search/correct", answers.correct, {"hits": [list], "change": str}),
            route("GET", "words", lambda *_: _NO_WORDS if review.words is None else review.words.rows()),
            route("PUT", "words", answers.decide, {"tags": [str]}),
            route(
                "GET",
                "words/contexts",
                lambda given, _: answers.words.contexts(session, given.get("word", "")),
            ),
            route("POST", "load", answers.load),
            route("GET", "training", answers.state),
            route("POST", "training", answers.train_now),
        ],
        exception_handlers={**EXCEPTION_HANDLERS, ConflictError: _conflict_response},
    )


def _page_files() -> Mapping[str, bytes]:
    folder = files("qsproj.serve.review") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.endswith(tuple(_TYPES))}


async def _page_file(name: str, _: Request) -> Response:
    return Response(_page_files()[name], media_type=_TYPES["." + name.rpartition(".")[2]])


def _json(content: Content, *, status: int = 200) -> Response:
    """Return a JSON response in ASCII: file names that are not UTF-8 hold lone surrogates."""
    return Response(json.dumps(content), status_code=status, media_type="application/json")


class _Answers:
    """Answers to requests, and training in the background, on request or after each batch. Mutable; final.

    Nothing awaits while it changes the draft, so changes never interleave.
    """

    def __init__(self, review: Review, limits: Limits) -> None:
        self._review, self._session, self._loop, self._limits = review, review.session, review.loop, limits
        self._task: asyncio.Task[None] | None = None
        # A regular expression may never finish.
        find = partial(search, review.session, most=_MOST_HITS)
        self._searches = ComputePool(lambda job: find(*job), processes=2, fresh=True)

    async def answered(
        self, answer: Answer, kinds: Content | None, default: Content, request: Request
    ) -> Response:
        """Return an answer, after checks of the fields in the body and of the sentence in the path."""
        given = dict[str, Any](request.query_params)
        if kinds is not None:
            given = default | json_object(await body_of(request, self._limits), "found no JSON object")
            for name, kind in kinds.items():
                _check(given, name, kind)
        if (index := request.path_params.get("index")) is not None:
            # Once the body is read: there may be fewer sentences then.
            count = len(self._session.draft.sentences)
            if not index.isdecimal() or number_of(index) >= count:
                raise RequestError(404, f"found no sentence {index[:20]!r}, expected 0 to {count - 1}")
            given["index"] = int(index)
        content = answer(given, request)
        return _json(await content if isinstance(content, Awaitable) else content)

    def overview(self, *_: object) -> Content:
        """Return the page's summary; answers of an earlier session are learned now."""
        loop = self._loop
        if loop is not None and not any(loop.learned) and any(loop.answers):
            self._train()
        return overview(self._session) | self.state()

    def load(self, *_: object) -> Content:
        try:
            self._session.load()
        except QsprojError as error:
            raise RequestError(409, str(error)) from None
        return self.overview()

    def state(self, *_: object) -> Content:
        return progress(self._session) | ({} if self._loop is None else {"standing": self._loop.standing()})

    def train_now(self, *_: object) -> Content:
        session = self._session
        if self._review.training is None or session.train_after is None:
            raise RequestError(409, f"there is no model to train; {_START}")
        if session.training:
            raise RequestError(409, "training is already running")
        if self._loop is None and (count := session.reviewed) < session.train_after:
            raise RequestError(409, f"{count} sentences are reviewed, expected {session.train_after}")
        self._train()
        return self.state()

    def _train_if_due(self) -> None:
        if self._loop is not None and self._loop.is_due:
            self._train()

    def _train(self) -> None:
        if self._review.training is not None and not self._session.training:
            self._session.training = True
            self._task = asyncio.create_task(self._trained(self._review.training))

    async def _trained(self, pool: ComputePool) -> None:
        session, loop = self._session, self._loop
        readings, versions, (reviewed, left) = session.readings, session.versions(), session.trees()
        answers = None if loop is None else loop.answers
        try:
            named, pairs = (session.draft.content(), str(session.draft.path)), session.training_pairs()
            result: Retrained = await pool.run(Reviewed(*named, reviewed, left, pairs))
            if session.readings == readings:
                session.take(result, versions)
                await self._read_model()
            if loop is not None and answers is not None:
                loop.learned = answers
        except QsprojError as error:
            session.summary = {"error": str(error)}
        except WorkerError as error:
            session.summary = {"error": "training failed; see the server's log"}
            log(fault=str(error))
        finally:
            session.training = False
            if loop is not None:
                loop.words.load()
        if loop is not None and loop.learned is answers:
            self._train_if_due()  # with answers that came meanwhile; after a failure, with the next answer

    async def _read_model(self) -> None:
        """Have the process that infers read a new model, before a person waits for it."""
        session, pool = self._session, self._review.inference
        if pool is not None and session.model is not None:
            with suppress(QsprojError, WorkerError):
                await pool.run(InferenceJob.of_shortest(session.draft.sentences, session.model))

    def rows(self, asked: Content, _: Request) -> Content:
        return page(
            self._session,
            order=asked.get("order", "unsure"),
            shown=asked.get("shown", "todo"),
            query=asked.get("query", ""),
            offset=_number(asked.get("offset", "0"), most=1 << 31),
            limit=_number(asked.get("limit", "50"), most=_MOST_ROWS),
        )

    def confirm(self, given: Content, _: Request) -> Content:
        change = partial(self._session.confirm, sure=given.get("sure") is not False)
        return self._changed(given, change, _tree(given), **_more(given))

    def keep(self, given: Content, _: Request) -> Content:
        return self._changed(given, self._session.keep, _tree(given), given["decided"], **_more(given))

    def tag(self, given: Content, _: Request) -> Content:
        return self._changed(given, self._session.tag, given["word"], given["form"], given["tag"])

    def undo(self, given: Content, _: Request) -> Content:
        return self._changed(given, self._session.undo, version=given["version"])

    def edit(self, given: Content, _: Request) -> Content:
        edit = Edit(given["action"], given["word"], given["last"], tuple(given["texts"]))
        return self._changed(given, self._session.edit, edit, version=given["version"])

    def _changed(
        self, given: Content, change: Callable[..., tuple[int, int] | None], *cells: Any, **more: Any
    ) -> Content:
        """Apply a change and return the new sentence; ConflictError with the old one on a failure."""
        session, index = self._session, given["index"]
        try:
            shown, undone = change(index, *cells, **more) or (index, 0)
        except StaleError as error:
            raise ConflictError("sentence", error, sentence=shown_sentence(session, index)) from None
        except (DoubtError, FileChangedError) as error:
            reason = "doubt" if isinstance(error, DoubtError) else "file"
            raise ConflictError(reason, error) from None
        self._train_if_due()
        return shown_sentence(session, shown) | {
            "all_reviewed": session.reviewed,
            "sentences": len(session.draft.sentences),
            "training": session.training,
            "undone": undone,
        }

    async def rest(self, given: Content, request: Request) -> Content:
        fixed = FixedCells(**{name: tuple(given[name]) for name in ("heads", "relations", "upos", "tags")})
        pool = self._review.inference
        if pool is None:
            raise RequestError(409, f"there is no model for inference; {_START}")
        question = InferenceJob(self._session.draft.sentences[given["index"]], fixed, self._session.model)
        try:
            return asdict(await outcome_of(question, pool=pool, limits=self._limits, request=request))
        except QsprojError as error:
            raise ConflictError("impossible", error) from None

    async def search(self, given: Content, request: Request) -> Content:
        job = given["pattern"], given["change"].strip()
        return await outcome_of(job, pool=self._searches, limits=self._limits, request=request)

    def correct(self, given: Content, _: Request) -> Content:
        if any(list(map(type, hit)) != [int, int, str] for hit in given["hits"]):
            raise RequestError(400, "found hits that are no list of [sentence, word, version]")
        try:
            changed = correct_hits(self._session, map(tuple, given["hits"]), given["change"])
        except (StaleError, FileChangedError) as error:
            raise ConflictError("search", error) from None
        self._train_if_due()
        return {"changed": changed}

    def decide(self, given: Content, _: Request) -> Content:
        words = self.words
        if "question" in given:
            _check(given, "words", [str])
            words.answer(str(given["question"]), given["tags"], given["words"])
        else:
            words.decide(str(given.get("word")), given["tags"])
        self._train_if_due()
        return {"decided": len(words.decided), "training": self._session.training}

    @property
    def words(self) -> WordList:
        if self._review.words is None:
            raise RequestError(409, "there are no words; start with some: --words FILE --lexicon FILE")
        return self._review.words


def _tree(given: Content) -> Tree:
    return Tree(tuple(given["heads"]), tuple(given["relations"]))


def _more(given: Content) -> Content:
    checked = given.get("checked")
    if checked is not None and not (isinstance(checked, list) and all(one in CHECKABLE for one in checked)):
        raise RequestError(400, f"found other than a list of {' and '.join(CHECKABLE)} in checked")
    return {"version": given["version"], "columns": given["columns"], "checked": checked}


def _number(text: str, *, most: int) -> int:
    if not text.isdecimal() or number_of(text) > most:
        raise RequestError(400, f"found {text[:20]!r}, expected a number from 0 to {most}")
    return int(text)


_NAMES = {int: "whole numbers", str: "texts", bool: "truths", list: "lists"}


def _check(content: Content, name: str, kind: Any) -> None:
    """Check a field; ``kind``: a type, [type] for a list, or {type} for an object of lists."""
    item = content.get(name)
    if isinstance(kind, type) and type(item) is not kind:
        raise RequestError(400, f"found no {name}, expected {_NAMES[kind]}")
    if isinstance(kind, list) and not (isinstance(item, list) and all(type(one) is kind[0] for one in item)):
        raise RequestError(400, f"found {name} that are no list of {_NAMES[kind[0]]}")
    if isinstance(kind, set):
        if not isinstance(item, dict):
            raise RequestError(400, f"found {name} that are no object")
        for own in item:
            _check(item, own, [*kind])
