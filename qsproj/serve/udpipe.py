"""UDPipe's REST API: ``/models``, ``/process`` and ``/health``, on models by name.

*Source*: lindat.mff.cuni.cz/services/udpipe/api-reference.php. Answers are JSON with ``model``,
``acknowledgements`` and ``result``; errors are plain text with code 400.
"""

import html
import io
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import groupby
from pathlib import Path
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
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.conllu_faults import TAG_PLAIN_TEXT
from qsproj.corpus.editing import comment_value
from qsproj.corpus.files import Replayed
from qsproj.corpus.formats import sentence_formats
from qsproj.corpus.language.sentence_ends import numbered_by_line
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import lines_of
from qsproj.errors import DataError, UsageError, check_name, unknown_name
from qsproj.models.parser import Parser, load_alone
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.streams import parse_all
from qsproj.serve import requests
from qsproj.serve.compute import ComputePool

TOKENIZER, TAGGER, PARSER = "tokenizer", "tagger", "parser"
PATHS = ("/models", "/process", "/health")
_ACKNOWLEDGEMENTS = (f"qsproj {__version__}",)
# Requests from any site are allowed, as by UDPipe's own service: the models are not secret.
HEADERS = (("access-control-allow-origin", "*"), ("x-content-type-options", "nosniff"))
_FORM, _PARTS, _JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
_MOST_FIELDS = 50
CONFIDENCE, PRESEGMENTED = "confidence", "presegmented"
NAME = "data"  # of the text of a request, in messages
_TOKENIZER_INPUTS = ("generic_tokenizer", "generic")


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model with its public name; the tagger tokenizes and tags."""

    name: str
    tagger: Tagger | None
    parser: Parser | None

    @property
    def abilities(self) -> tuple[str, ...]:
        taggers = () if self.tagger is None else (TOKENIZER, TAGGER)
        return taggers if self.parser is None else (*taggers, PARSER)

    def unable(self, ability: str) -> UsageError:
        known = ", ".join(self.abilities)
        return UsageError(f"found {ability!r} asked of the model {self.name!r}, which has: {known}")


ServedModels = Mapping[str, ServedModel]


def load_served(named: Sequence[str]) -> ServedModels:
    """Load models given as ``NAME=PATH``, or by path alone, whose stem is then the name."""
    models: dict[str, ServedModel] = {}
    for text in named:
        name, separator, path = text.partition("=")
        if not (separator and name and path) or Path(text).exists():
            name, path = Path(text).stem, text
        if name in models:
            raise UsageError(f"found two models named {name!r}; name one of them otherwise: -m NAME={path}")
        served = ServedModel(name, *load_alone(path))
        sentence = Sentence.from_words(["a", "b", "."], upos=["NOUN", "VERB", "PUNCT"])
        if served.tagger is not None:
            if served.tagger.language is not None:
                list(served.tagger.read(["a b."], name=served.name))
            sentence = served.tagger.tag(sentence)
        if served.parser is not None:
            served.parser.parse(sentence, confidence=True)
        models[name] = served
    return models


def chosen_model(models: ServedModels, asked: str | None) -> ServedModel:
    if not asked:
        return next(iter(models.values()))
    if asked in models:
        return models[asked]
    begin = [name for name in models if name.startswith(asked)]
    if len(begin) == 1:
        return models[begin[0]]
    found = "several models that begin with" if begin else "no model"
    raise UsageError(f"found {found} {asked!r}, expected one of: {', '.join(begin or models)}")


def _read_vertical(lines: Iterable[str]) -> Iterator[Sentence]:
    # Text after a tab is annotation of another tool, such as a tag.
    words = (line.split("\t", 1)[0].strip() for line in lines)
    return (Sentence.from_words(group) for is_sentence, group in groupby(words, bool) if is_sentence)


# Readers of lines, and writers of a sentence, for formats that only this server has.
_READ: Mapping[str, Callable[[Iterable[str]], Iterator[Sentence]]] = {
    "horizontal": lambda lines: (Sentence.from_words(words) for words in map(str.split, lines) if words),
    "vertical": _read_vertical,
}
_WRITTEN: Mapping[str, Callable[[Sentence], str]] = {
    "horizontal": lambda sentence: " ".join(sentence.forms) + "\n",
    "vertical": lambda sentence: "\n".join(sentence.forms) + "\n\n",
    "plaintext": lambda sentence: (comment_value(sentence, "text") or " ".join(sentence.forms)) + "\n",
}


def _sentences_in(data: str, format: str) -> Iterator[Sentence]:
    if format in _READ:
        return _READ[format](data.split("\n"))
    known = {one.name: one.read for one in sentence_formats()}
    if format not in known:
        raise unknown_name("input", format, [*known, *_READ, _TOKENIZER_INPUTS[0]])
    return known[format](Replayed(io.StringIO(data, newline="\n"), NAME)) if data.strip() else iter(())


def _writer(format: str) -> Callable[[Iterable[Sentence]], str]:
    if format in _WRITTEN:
        return lambda sentences: "".join(map(_WRITTEN[format], sentences))
    known = {one.name: one.write for one in sentence_formats() if one.write is not None}
    check_name("output", format, [*known, *_WRITTEN])

    def written(sentences: Iterable[Sentence]) -> str:
        handle = io.StringIO(newline="\n")
        known[format](sentences, handle)
        return handle.getvalue()

    return written


@dataclass(frozen=True, slots=True)
class Processed:
    """The result of a request, with the name of the model and the numbers of sentences and words."""

    model: str
    result: str
    sentences: int
    words: int


def process(models: ServedModels, fields: Mapping[str, str]) -> Processed:
    if "data" not in fields:
        raise UsageError("found no field 'data', expected the text to process")
    model = chosen_model(models, fields.get("model"))
    output = fields.get("output") or "conllu"
    # In UDPipe options follow the name of a format.
    write = _writer(output.partition("=")[0].partition(";")[0])
    for ability in (TOKENIZER, TAGGER, PARSER):
        if ability in fields and ability not in model.abilities:
            raise model.unable(ability)
    try:
        done = list(_read(model, fields))
    except DataError as error:
        if error.remedy != TAG_PLAIN_TEXT:
            raise
        raise error.with_remedy("comments start with #; for plain text, add the field tokenizer=") from None
    if PARSER in fields:
        assert model.parser is not None
        confidence = CONFIDENCE in fields[PARSER].split(";")
        done = list(parsed(model, model.parser, done, retag=TAGGER in fields, confidence=confidence))
    elif TAGGER in fields and model.tagger is not None:
        done = list(map(model.tagger.tag, done))
    return Processed(model.name, write(done), len(done), sum(map(len, done)))


def _read(model: ServedModel, fields: Mapping[str, str]) -> Iterator[Sentence]:
    data, given = fields["data"], (fields.get("input") or "conllu").partition("=")[0].partition(";")[0]
    if TOKENIZER in fields or given in _TOKENIZER_INPUTS:
        if model.tagger is None:
            raise UsageError(f"found plain text for the model {model.name!r}, which has no tokenizer")
        running = PRESEGMENTED not in fields.get(TOKENIZER, "").split(";")
        read = partial(model.tagger.read, split_contractions=True, paragraphs=running, name=NAME)
        return numbered_by_line(read(lines_of(data)))
    return _sentences_in(data, given)


def parsed(
    model: ServedModel, parser: Parser, sentences: list[Sentence], *, retag: bool, confidence: bool
) -> Iterator[Sentence]:
    """Yield the sentences parsed, those above MAX_WORDS words unchanged; ``retag`` also replaces tags."""
    needs_tags = model.tagger is None and "upos" in parser.reads
    if sentences and needs_tags and all({*one.upos, *one.xpos} == {UNSPECIFIED} for one in sentences):
        raise UsageError(
            f"found no word with a tag, expected those that the model {model.name!r} reads; it has no tagger"
        )
    return parse_all(parser, sentences, confidence=confidence, retag=retag)


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
    page = Template((files("qsproj.serve") / "udpipe.html").read_text(encoding="utf-8"))
    headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return HTMLResponse(page.substitute(rows=rows, base=base, first=first, more=more), headers=headers)


async def _health(models: ServedModels, pool: ComputePool, _: Request) -> Response:
    return _json_response({"status": "ok", "models": [*models], "busy": pool.busy, "waiting": pool.waiting})


async def _nothing_here(request: Request) -> Response:
    if request.url.path in PATHS:
        return PlainTextResponse(f"found {request.method}, expected GET\n", 405, headers={"allow": "GET"})
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
