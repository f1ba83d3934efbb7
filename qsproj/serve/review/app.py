"""The web application of the review page: sentences as JSON, confirmations, undo, training."""

import asyncio
import json
from collections.abc import Callable, Mapping
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
from qsproj.serve.review.correction import Tree
from qsproj.serve.review.draft import FileChangedError, StaleError
from qsproj.serve.review.inference import Fixed, Question
from qsproj.serve.review.loop import Loop
from qsproj.serve.review.retraining import Retrained, Reviewed
from qsproj.serve.review.session import DoubtError, Session
from qsproj.serve.review.tokens import Edit
from qsproj.serve.review.words import WordList

PATHS = ("/", "/static", "/api")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_MOST_ROWS, _MOST_HITS = 500, 500


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
    review = _Review(session, pool, limits, inference, loop)
    decided = _Words(session, words, limits, review.learn_if_due)
    return Starlette(
        routes=[
            Route("/", partial(_page_file, "review.html"), methods=["GET"]),
            *(Route(f"/static/{name}", partial(_page_file, name), methods=["GET"]) for name in _page_files()),
            Route("/api/overview", partial(_shown, review.overview), methods=["GET"]),
            Route("/api/sentences", review.sentences, methods=["GET"]),
            Route("/api/sentences/{index}", review.sentence, methods=["GET"]),
            Route("/api/sentences/{index}", review.confirm, methods=["PUT"]),
            Route("/api/sentences/{index}/part", review.keep, methods=["PUT"]),
            Route("/api/sentences/{index}/tag", review.tag, methods=["PUT"]),
            Route("/api/sentences/{index}/undo", review.undo, methods=["POST"]),
            Route("/api/sentences/{index}/edit", review.edit, methods=["POST"]),
            Route("/api/report", partial(_shown, session.report), methods=["GET"]),
            Route("/api/search", review.search, methods=["POST"]),
            Route("/api/search/correct", review.correct, methods=["POST"]),
            Route("/api/sentences/{index}/rest", review.rest, methods=["POST"]),
            Route("/api/words", decided.rows, methods=["GET"]),
            Route("/api/words", decided.decide, methods=["PUT"]),
            Route("/api/words/contexts", decided.contexts, methods=["GET"]),
            Route("/api/load", review.load, methods=["POST"]),
            Route("/api/training", partial(_shown, review.progress), methods=["GET"]),
            Route("/api/training", review.train, methods=["POST"]),
        ],
        exception_handlers=EXCEPTION_HANDLERS,
    )


def _page_files() -> Mapping[str, bytes]:
    folder = files("qsproj.serve.review") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.endswith(tuple(_TYPES))}


async def _shown(content_of: Callable[[], dict[str, Any]], _: Request) -> Response:
    return _json(content_of())


async def _page_file(name: str, _: Request) -> Response:
    return Response(_page_files()[name], media_type=_TYPES["." + name.rpartition(".")[2]])


class _Words:
    """Request handlers for the words to tag. Final."""

    def __init__(
        self, session: Session, words: WordList | None, limits: Limits, decided: Callable[[], None]
    ) -> None:
        self._session, self._words, self._limits, self._decided = session, words, limits, decided

    async def rows(self, _: Request) -> Response:
        none: dict[str, Any] = {"words": [], "questions": [], "tags": []}
        return _json(none if self._words is None else self._words.rows())

    async def contexts(self, request: Request) -> Response:
        return _json(self._list().contexts(self._session, request.query_params.get("word", "")))

    async def decide(self, request: Request) -> Response:
        given = _object(await body_of(request, self._limits))
        _check_list(given, "tags", str)
        words = self._list()
        if "question" in given:
            _check_list(given, "words", str)
            words.answer(str(given["question"]), given["tags"], given["words"])
        else:
            words.decide(str(given.get("word")), given["tags"])
        self._decided()
        return _json({"decided": len(words.decided), "training": self._session.training})

    def _list(self) -> WordList:
        if self._words is None:
            raise RequestError(409, "there are no words; start with some: --words FILE --lexicon FILE")
        return self._words


class _Review:
    """Request handlers for the sentences. Final.

    No handler awaits while it changes the draft, so changes never interleave.
    """

    def __init__(
        self,
        session: Session,
        pool: ComputePool | None,
        limits: Limits,
        inference: ComputePool | None,
        loop: Loop | None,
    ) -> None:
        self._session, self._pool, self._limits = session, pool, limits
        self._inference, self._loop = inference, loop
        # A regular expression may never finish.
        self._searches = ForkedJobs(self._found, processes=2)
        self._task: asyncio.Task[None] | None = None

    async def _given(self, request: Request) -> dict[str, Any]:
        return _object(await body_of(request, self._limits))

    async def sentences(self, request: Request) -> Response:
        asked = request.query_params
        part = partial(
            self._session.page,
            order=asked.get("order", "unsure"),
            shown=asked.get("shown", "todo"),
            query=asked.get("query", ""),
            offset=_number(asked.get("offset", "0"), most=1 << 31),
            limit=_number(asked.get("limit", "50"), most=_MOST_ROWS),
        )
        return _json(_answer(part))

    async def sentence(self, request: Request) -> Response:
        return _json(_answer(partial(self._session.sentence, _index(request))))

    async def confirm(self, request: Request) -> Response:
        index, (tree, rest, given) = _index(request), await self._correction(request)
        sure = given.get("sure") is not False
        return self._changed(index, partial(self._session.confirm, index, tree, sure=sure, **rest))

    async def keep(self, request: Request) -> Response:
        index, (tree, rest, given) = _index(request), await self._correction(request)
        decided = _lists(given, "decided", bool)
        return self._changed(index, partial(self._session.keep, index, tree, decided, **rest))

    async def _correction(self, request: Request) -> tuple[Tree, dict[str, Any], dict[str, Any]]:
        """Return the tree of a correction, its version and other columns, and the whole request."""
        given = await self._given(request)
        _check_list(given, "heads", int)
        _check_list(given, "relations", str)
        if not isinstance(given.get("version"), str):
            raise RequestError(400, "found no version, expected that of the sentence that was corrected")
        rest = {"version": given["version"], "columns": _lists(given, "columns", str)}
        return Tree(tuple(given["heads"]), tuple(given["relations"])), rest, given

    async def rest(self, request: Request) -> Response:
        index, session = _index(request), self._session
        given, kinds = await self._given(request), {"heads": int, "relations": str, "upos": str, "tags": bool}
        for name, kind in kinds.items():
            _check_list(given, name, kind)
        fixed = Fixed(**{name: tuple(given[name]) for name in kinds})
        if self._inference is None:
            raise RequestError(
                409, "there is no model for inference; start with one: qsproj serve --review FILE -m MODEL"
            )
        session.check(index)
        question = Question(session.draft.sentences[index], fixed, session.model)
        try:
            found = await outcome_of(question, pool=self._inference, limits=self._limits, request=request)
        except QsprojError as error:
            return _json({"reason": "impossible", "text": str(error)}, status=409)
        return _json(asdict(found))

    async def tag(self, request: Request) -> Response:
        index, given = _index(request), await self._given(request)
        word, form, tag = (given.get(name) for name in ("word", "form", "tag"))
        if type(word) is not int:
            raise RequestError(400, "found a word that is no number")
        return self._changed(index, partial(self._session.tag, index, word, str(form), str(tag)))

    async def undo(self, request: Request) -> Response:
        index = _index(request)
        given = await self._given(request)
        return self._changed(index, partial(self._session.undo, index, version=str(given.get("version"))))

    async def edit(self, request: Request) -> Response:
        index = _index(request)
        given = await self._given(request)
        word, last, texts = given.get("word", 1), given.get("last", 1), given.get("texts", [])
        if type(word) is not int or type(last) is not int:
            raise RequestError(400, "found words that are no numbers")
        _check_list({"texts": texts}, "texts", str)
        edit = Edit(str(given.get("action")), word, last, tuple(texts))
        change = partial(self._session.edit, index, edit, version=str(given.get("version")))
        return self._changed(index, change)

    async def search(self, request: Request) -> Response:
        given = await self._given(request)
        pattern, change = str(given.get("pattern", "")), str(given.get("change", "")).strip()
        job = pattern, change
        return _json(await outcome_of(job, pool=self._searches, limits=self._limits, request=request))

    def _found(self, job: tuple[str, str]) -> dict[str, Any]:
        return self._session.found(*job, most=_MOST_HITS)

    async def correct(self, request: Request) -> Response:
        given = await self._given(request)
        hits = given.get("hits")
        wanted = [int, int, str]
        if not isinstance(hits, list) or any(
            not isinstance(hit, list) or list(map(type, hit)) != wanted for hit in hits
        ):
            raise RequestError(400, "found hits that are no list of [sentence, word, version]")
        try:
            count = self._session.correct([tuple(hit) for hit in hits], str(given.get("change", "")))
        except (StaleError, FileChangedError) as error:
            return _json({"reason": "search", "text": str(error)}, status=409)
        return _json({"changed": count})

    def _changed(self, index: int, change: Callable[[], tuple[int, int] | None]) -> Response:
        """Apply a change and answer with the new sentence, or with the reason of failure and the old one."""
        try:
            shown, undone = change() or (index, 0)
        except StaleError as error:
            conflict = {"reason": "sentence", "text": str(error), "sentence": self._session.sentence(index)}
            return _json(conflict, status=409)
        except DoubtError as error:
            return _json({"reason": "doubt", "text": str(error)}, status=409)
        except FileChangedError as error:
            return _json({"reason": "file", "text": str(error)}, status=409)
        self.learn_if_due()
        counts = {
            "all_reviewed": self._session.reviewed,
            "sentences": len(self._session.draft.sentences),
            "training": self._session.training,
        }
        return _json(self._session.sentence(shown) | counts | {"undone": undone})

    async def load(self, _: Request) -> Response:
        try:
            self._session.load()
        except QsprojError as error:
            raise RequestError(409, str(error)) from None
        return _json(self.overview())

    def overview(self) -> dict[str, Any]:
        """Return the page's summary; answers of an earlier session are learned now."""
        loop = self._loop
        if loop is not None and not any(loop.learned) and any(loop.answered):
            self._begin()
        return self._session.overview() | self.progress()

    def progress(self) -> dict[str, Any]:
        return self._session.progress() | ({} if self._loop is None else {"standing": self._loop.standing()})

    def learn_if_due(self) -> None:
        """Train in the background once a batch is complete."""
        if self._loop is not None and self._loop.is_due:
            self._begin()

    def _begin(self) -> None:
        if self._pool is not None and not self._session.training:
            self._session.training = True
            self._task = asyncio.create_task(self._trained(self._pool))

    async def train(self, _: Request) -> Response:
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
        return _json(self.progress(), status=202)

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
                self.learn_if_due()


def _answer(content_of: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return content_of()
    except QsprojError as error:
        raise RequestError(404, str(error)) from None


def _json(content: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return a JSON response in ASCII: file names that are not UTF-8 hold lone surrogates."""
    return Response(json.dumps(content), status_code=status, media_type="application/json")


def _index(request: Request) -> int:
    """Return the sentence number in the request's path."""
    text: str = request.path_params["index"]
    if not text.isdecimal():
        raise RequestError(404, f"found {text[:20]!r}, expected the number of a sentence")
    return number_of(text)


def _number(text: str, *, most: int) -> int:
    if not text.isdecimal() or number_of(text) > most:
        raise RequestError(400, f"found {text[:20]!r}, expected a number from 0 to {most}")
    return int(text)


def _object(body: bytes) -> dict[str, Any]:
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
    return content


def _lists(content: Mapping[str, Any], name: str, kind: type) -> dict[str, Any]:
    """Return lists by name, that may be left out."""
    found = content.get(name) or {}
    if not isinstance(found, dict):
        raise RequestError(400, f"found {name} that are no object")
    for own in found:
        _check_list(found, own, kind)
    return found


_KINDS = {int: "whole numbers", str: "texts", bool: "truths"}


def _check_list(content: Mapping[str, Any], name: str, kind: type) -> None:
    cells = content.get(name)
    if not isinstance(cells, list) or not all(type(cell) is kind for cell in cells):
        raise RequestError(400, f"found {name} that are no list of {_KINDS[kind]}")
