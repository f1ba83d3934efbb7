"""Served models by name, and UDPipe's ``process`` request, without HTTP."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import comment_value
from qsproj.corpus.files import Replayed
from qsproj.corpus.formats import sentence_formats
from qsproj.corpus.language.sentence_ends import numbered_by_line
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, check_name, unknown_name
from qsproj.models.parser import Parser, load_alone
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.streams import parse_all

TOKENIZER, TAGGER, PARSER = "tokenizer", "tagger", "parser"


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
    begin = [model for name, model in models.items() if name.startswith(asked)]
    if len(begin) == 1:
        return begin[0]
    raise UsageError(f"found no model {asked!r}, expected one of: {', '.join(models)}")


# Name of the text of a request in messages.
NAME = "data"


def _read_horizontal(lines: Iterable[str]) -> Iterator[Sentence]:
    return (Sentence.from_words(words) for words in map(str.split, lines) if words)


def _read_vertical(lines: Iterable[str]) -> Iterator[Sentence]:
    # Text after a tab is annotation of another tool, such as a tag.
    words = (line.split("\t", 1)[0].strip() for line in lines)
    return (Sentence.from_words(group) for is_sentence, group in groupby(words, bool) if is_sentence)


# Readers of lines, and writers of a sentence, for formats that only this server has.
_READ = {"horizontal": _read_horizontal, "vertical": _read_vertical}
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
    return known[format](Replayed.of(io.StringIO(data, newline="\n"), NAME)) if data.strip() else iter(())


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


CONFIDENCE, PRESEGMENTED = "confidence", "presegmented"
_TOKENIZER_INPUTS = ("generic_tokenizer", "generic")


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
    sentences = list(_read(model, fields))
    done = list(_predicted(model, sentences, fields))
    return Processed(model.name, write(done), len(done), sum(map(len, done)))


def _read(model: ServedModel, fields: Mapping[str, str]) -> Iterator[Sentence]:
    data, given = fields["data"], fields.get("input") or "conllu"
    if TOKENIZER in fields or given in _TOKENIZER_INPUTS:
        if model.tagger is None:
            raise UsageError(f"found plain text for the model {model.name!r}, which has no tokenizer")
        running = PRESEGMENTED not in fields.get(TOKENIZER, "").split(";")
        read = partial(model.tagger.read, split_contractions=True, paragraphs=running, name=NAME)
        return numbered_by_line(read(data.split("\n")))
    return _sentences_in(data, given)


def _predicted(
    model: ServedModel, sentences: list[Sentence], fields: Mapping[str, str]
) -> Iterator[Sentence]:
    if PARSER in fields:
        assert model.parser is not None
        confidence = CONFIDENCE in fields[PARSER].split(";")
        return parsed(model, model.parser, sentences, retag=TAGGER in fields, confidence=confidence)
    if TAGGER in fields and model.tagger is not None:
        return map(model.tagger.tag, sentences)
    return iter(sentences)


def parsed(
    model: ServedModel, parser: Parser, sentences: list[Sentence], *, retag: bool, confidence: bool
) -> Iterator[Sentence]:
    """Yield the sentences parsed; ``retag`` predicts the tags even where sentences have some."""
    needs_tags = model.tagger is None and "upos" in parser.reads
    if sentences and needs_tags and all({*one.upos, *one.xpos} == {UNSPECIFIED} for one in sentences):
        raise UsageError(
            f"found no word with a tag, expected those that the model {model.name!r} reads; it has no tagger"
        )
    return parse_all(parser, sentences, confidence=confidence, retag=retag)
