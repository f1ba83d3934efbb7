"""The web application of the review page: sentences as JSON, confirmations, undo, training."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qsproj.corpus.messages import number_of
from qsproj.errors import QsprojError
from qsproj.serve.access_log import log
from qsproj.serve.compute import ComputePool, ForkedJobs, WorkerError
from qsproj.serve.requests import EXCEPTION_HANDLERS, Limits, RequestError, body_of, outcome_of
from qsproj.serve.review.content import overview, page, progress, report, shown_sentence
from qsproj.serve.review.correction import Tree
from qsproj.serve.review.draft import FileChangedError, StaleError
from qsproj.serve.review.inference import Fixed, Question
from qsproj.serve.review.loop import Loop
from qsproj.serve.review.retraining import Retrained, Reviewed
from qsproj.serve.review.search import correct_hits, search
from qsproj.serve.review.session import DoubtError, Session
from qsproj.serve.review.tokens import Edit
from qsproj.serve.review.words import WordList

PATHS = ("/", "/static", "/api")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_MOST_ROWS, _MOST_HITS = 500, 500

Content = dict[str, Any]


class ConflictError(Exception):
    """A change refused because of the state of the draft, with what the page needs to go on."""

    def __init__(self, reason: str, error: Exception, **more: Any) -> None:
        super().__init__(reason)
        self.content = {"reason": reason, "text": str(error), **more}


async def _conflict_response(_: Request, error: Exception) -> Response:
    return _json(getattr(error, "content", {}), status=409)


def review_app(
    session: Session,
    pool: ComputePool | None,
    limits: Limits,
    *,
    inference: ComputePool | None = None,
    words: WordList | None = None,
    loop: Loop | None = None,
) -> Starlette:
    """Return the application; ``words``: the words to tag on the page; ``loop``: trains after each batch.

    ``pool`` trains, with :class:`qsproj.serve.review.retraining.Retraining`; ``inference`` infers the rest of
    a tree, with :class:`qsproj.serve.review.inference.Inference`.
    """
    session.live = inference is not None
    training = _Training(session, pool, loop)
    review, listed = (
        _Sentences(session, training, limits, inference),
        _Words(session, words, limits, training),
    )
    answers: dict[tuple[str, str], Callable[[Request], Awaitable[Content]]] = {
        ("GET", "overview"): training.overview,
        ("GET", "sentences"): review.rows,
        ("GET", "sentences/{index}"): review.show,
        ("PUT", "sentences/{index}"): review.confirm,
        ("PUT", "sentences/{index}/part"): review.keep,
        ("PUT", "sentences/{index}/tag"): review.tag,
        ("POST", "sentences/{index}/undo"): review.undo,
        ("POST", "sentences/{index}/edit"): review.edit,
        ("POST", "sentences/{index}/rest"): review.rest,
        ("GET", "report"): review.report,
        ("POST", "search"): review.search,
        ("POST", "search/correct"): review.correct,
        ("GET", "words"): listed.rows,
        ("PUT", "words"): listed.decide,
        ("GET", "words/contexts"): listed.contexts,
        ("POST", "load"): training.load,
        ("GET", "training"): training.state,
        ("POST", "training"): training.begin_now,
    }
    return Starlette(
        routes=[
            Route("/", partial(_page_file, "review.html"), methods=["GET"]),
            *(Route(f"/static/{name}", partial(_page_file, name), methods=["GET"]) for name in _page_files()),
            *(
                Route(f"/api/{path}", partial(_answered, answer), methods=[method])
                for (method, path), answer in answers.items()
            ),
        ],
        exception_handlers={**EXCEPTION_HANDLERS, ConflictError: _conflict_response},
    )


def _page_files() -> Mapping[str, bytes]:
    folder = files("qsproj.serve.review") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.endswith(tuple(_TYPES))}


async def _page_file(name: str, _: Request) -> Response:
    return Response(_page_files()[name], media_type=_TYPES["." + name.rpartition(".")[2]])


async def _answered(answer: Callable[[Request], Awaitable[Content]], request: Request) -> Response:
    return _json(await answer(request))


def _json(content: Content, *, status: int = 200) -> Response:
    """Return a JSON response in ASCII: file names that are not UTF-8 hold lone surrogates."""
    return Response(json.dumps(content), status_code=status, media_type="application/json")


class _Training:
    """Training in the background, on request or after each batch, and its state. Mutable; final."""

    def __init__(self, session: Session, pool: ComputePool | None, loop: Loop | None) -> None:
        self._session, self._pool, self._loop = session, pool, loop
        self._task: asyncio.Task[None] | None = None

    async def overview(self, _: Request) -> Content:
        """Return the page's summary; answers of an earlier session are learned now."""
        loop = self._loop
        if loop is not None and not any(loop.learned) and any(loop.answered):
            self._begin()
        return overview(self._session) | self._state()

    async def load(self, request: Request) -> Content:
        try:
            self._session.load()
        except QsprojError as error:
            raise RequestError(409, str(error)) from None
        return await self.overview(request)

    async def state(self, _: Request) -> Content:
        return self._state()

    def _state(self) -> Content:
        return progress(self._session) | ({} if self._loop is None else {"standing": self._loop.standing()})

    async def begin_now(self, _: Request) -> Content:
        session = self._session
        if self._pool is None or session.train_after is None:
            raise RequestError(
                409, "there is no model to train; start with one: qsproj serve --review FILE -m MODEL"
            )
        if session.training:
            raise RequestError(409, "training is already running")
        if self._loop is None and session.reviewed < session.train_after:
            raise RequestError(
                409, f"{session.reviewed} sentences are reviewed, expected {session.train_after}"
            )
        self._begin()
        return self._state()

    def begin_if_due(self) -> None:
        """Train once a batch is complete."""
        if self._loop is not None and self._loop.is_due:
            self._begin()

    def _begin(self) -> None:
        if self._pool is not None and not self._session.training:
            self._session.training = True
            self._task = asyncio.create_task(self._trained(self._pool))

    async def _trained(self, pool: ComputePool) -> None:
        session, loop = self._session, self._loop
        readings, versions, (reviewed, left) = session.readings, session.versions(), session.trees()
        answered = None if loop is None else loop.answered
        try:
            result: Retrained = await pool.run(
                Reviewed(session.draft.content(), str(session.draft.path), reviewed, left, session.lessons())
            )
            if session.readings == readings:
                session.take(result, versions)
        except QsprojError as error:
            session.summary = {"error": str(error)}
        except WorkerError as error:
            session.summary = {"error": "training failed; see the server's log"}
            log(fault=str(error))
        finally:
            session.training = False
            if loop is not None and answered is not None:
                loop.learned = answered
                loop.words.load()
                self.begin_if_due()


class _Words:
    """Answers to requests about the words to tag. Final."""

    def __init__(self, session: Session, words: WordList | None, limits: Limits, training: _Training) -> None:
        self._session, self._words, self._limits, self._training = session, words, limits, training

    async def rows(self, _: Request) -> Content:
        return {"words": [], "questions": [], "tags": []} if self._words is None else self._words.rows()

    async def contexts(self, request: Request) -> Content:
        return self._list().contexts(self._session, request.query_params.get("word", ""))

    async def decide(self, request: Request) -> Content:
        given, words = await _fields(request, self._limits, {"tags": [str]}), self._list()
        if "question" in given:
            _check(given, "words", [str])
            words.answer(str(given["question"]), given["tags"], given["words"])
        else:
            words.decide(str(given.get("word")), given["tags"])
        self._training.begin_if_due()
        return {"decided": len(words.decided), "training": self._session.training}

    def _list(self) -> WordList:
        if self._words is None:
            raise RequestError(409, "there are no words; start with some: --words FILE --lexicon FILE")
        return self._words


class _Sentences:
    """Answers to requests about the sentences. Final.

    Nothing awaits while it changes the draft, so changes never interleave.
    """

    def __init__(
        self, session: Session, training: _Training, limits: Limits, inference: ComputePool | None
    ) -> None:
        self._session, self._training, self._limits, self._inference = session, training, limits, inference
        # A regular expression may never finish.
        self._searches = ForkedJobs(self._found, processes=2)

    async def rows(self, request: Request) -> Content:
        asked = request.query_params
        return page(
            self._session,
            order=asked.get("order", "unsure"),
            shown=asked.get("shown", "todo"),
            query=asked.get("query", ""),
            offset=_number(asked.get("offset", "0"), most=1 << 31),
            limit=_number(asked.get("limit", "50"), most=_MOST_ROWS),
        )

    async def show(self, request: Request) -> Content:
        return shown_sentence(self._session, self._index(request))

    def _index(self, request: Request) -> int:
        """Return the index of the sentence in a request's path, once its body is read: there may be fewer."""
        text, count = request.path_params["index"], len(self._session.draft.sentences)
        if not text.isdecimal() or number_of(text) >= count:
            raise RequestError(404, f"found no sentence {text[:20]!r}, expected 0 to {count - 1}")
        return int(text)

    async def report(self, _: Request) -> Content:
        return report(self._session)

    async def confirm(self, request: Request) -> Content:
        (tree, rest, given), index = await self._correction(request), self._index(request)
        sure = given.get("sure") is not False
        return self._changed(index, partial(self._session.confirm, index, tree, sure=sure, **rest))

    async def keep(self, request: Request) -> Content:
        tree, rest, given = await self._correction(request, {"decided": {bool}})
        index = self._index(request)
        return self._changed(index, partial(self._session.keep, index, tree, given["decided"], **rest))

    async def _correction(
        self, request: Request, more: Mapping[str, Any] | None = None
    ) -> tuple[Tree, Content, Content]:
        """Return the tree of a correction, its version and other columns, and the whole request."""
        kinds = {"heads": [int], "relations": [str], "version": str, "columns": {str}, **(more or {})}
        given = await _fields(request, self._limits, kinds, columns={})
        tree = Tree(tuple(given["heads"]), tuple(given["relations"]))
        return tree, {"version": given["version"], "columns": given["columns"]}, given

    async def rest(self, request: Request) -> Content:
        kinds = {"heads": [int], "relations": [str], "upos": [str], "tags": [bool]}
        given, index = await _fields(request, self._limits, kinds), self._index(request)
        fixed = Fixed(**{name: tuple(given[name]) for name in kinds})
        if self._inference is None:
            raise RequestError(
                409, "there is no model for inference; start with one: qsproj serve --review FILE -m MODEL"
            )
        question = Question(self._session.draft.sentences[index], fixed, self._session.model)
        try:
            found = await outcome_of(question, pool=self._inference, limits=self._limits, request=request)
        except QsprojError as error:
            raise ConflictError("impossible", error) from None
        return asdict(found)

    async def tag(self, request: Request) -> Content:
        kinds = {"word": int, "form": str, "tag": str}
        given, index = await _fields(request, self._limits, kinds), self._index(request)
        change = partial(self._session.tag, index, given["word"], given["form"], given["tag"])
        return self._changed(index, change)

    async def undo(self, request: Request) -> Content:
        given, index = await _fields(request, self._limits, {"version": str}), self._index(request)
        return self._changed(index, partial(self._session.undo, index, version=given["version"]))

    async def edit(self, request: Request) -> Content:
        kinds = {"version": str, "action": str, "word": int, "last": int, "texts": [str]}
        given = await _fields(request, self._limits, kinds, word=1, last=1, texts=[])
        index = self._index(request)
        edit = Edit(given["action"], given["word"], given["last"], tuple(given["texts"]))
        return self._changed(index, partial(self._session.edit, index, edit, version=given["version"]))

    async def search(self, request: Request) -> Content:
        given = await _fields(request, self._limits, {"pattern": str, "change": str}, pattern="", change="")
        job = given["pattern"], given["change"].strip()
        found: Content = await outcome_of(job, pool=self._searches, limits=self._limits, request=request)
        return found

    def _found(self, job: tuple[str, str]) -> Content:
        return search(self._session.draft, *job, most=_MOST_HITS)

    async def correct(self, request: Request) -> Content:
        given = await _fields(request, self._limits, {"hits": [list], "change": str})
        if any(list(map(type, hit)) != [int, int, str] for hit in given["hits"]):
            raise RequestError(400, "found hits that are no list of [sentence, word, version]")
        try:
            changed = correct_hits(self._session.draft, map(tuple, given["hits"]), given["change"])
        except (StaleError, FileChangedError) as error:
            raise ConflictError("search", error) from None
        return {"changed": changed}

    def _changed(self, index: int, change: Callable[[], tuple[int, int] | None]) -> Content:
        """Apply a change and return the new sentence; ConflictError with the old one on a failure."""
        session = self._session
        try:
            shown, undone = change() or (index, 0)
        except StaleError as error:
            raise ConflictError("sentence", error, sentence=shown_sentence(session, index)) from None
        except DoubtError as error:
            raise ConflictError("doubt", error) from None
        except FileChangedError as error:
            raise ConflictError("file", error) from None
        self._training.begin_if_due()
        return shown_sentence(session, shown) | {
            "all_reviewed": session.reviewed,
            "sentences": len(session.draft.sentences),
            "training": session.training,
            "undone": undone,
        }


def _number(text: str, *, most: int) -> int:
    if not text.isdecimal() or number_of(text) > most:
        raise RequestError(400, f"found {text[:20]!r}, expected a number from 0 to {most}")
    return int(text)


async def _fields(request: Request, limits: Limits, kinds: Mapping[str, Any], **default: Any) -> Content:
    """Return the JSON object in the body of a request, with these fields; see :func:`_check`."""
    body = await body_of(request, limits)
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise RequestError(400, "found no JSON object")
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        text = "found half a character (\\ud800 to \\udfff) in JSON, expected whole ones"
        raise RequestError(400, text) from None
    content = {**default, **content}
    for name, kind in kinds.items():
        _check(content, name, kind)
    return content


_NAMES = {int: "whole numbers", str: "texts", bool: "truths", list: "lists"}


def _check(content: Content, name: str, kind: Any) -> None:
    """Check a field; ``kind``: a type, [type] for a list, or {type} for an object of lists."""
    cells = content.get(name)
    if isinstance(kind, type):
        if type(cells) is not kind:
            raise RequestError(400, f"found no {name}, expected {_NAMES[kind]}")
    elif isinstance(kind, list):
        if not isinstance(cells, list) or not all(type(cell) is kind[0] for cell in cells):
            raise RequestError(400, f"found {name} that are no list of {_NAMES[kind[0]]}")
    elif not isinstance(cells, dict):
        raise RequestError(400, f"found {name} that are no object")
    else:
        for own in cells:
            _check(cells, own, [*kind])
