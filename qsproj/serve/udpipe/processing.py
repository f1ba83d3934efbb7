"""Models under the names that clients call them by, and one request of UDPipe's ``process``, without HTTP."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import comment_value
from qsproj.corpus.formats import Format, sentence_formats
from qsproj.corpus.language.sentence_ends import cut_long_lines
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, unknown_name
from qsproj.models.parser import Parser
from qsproj.models.storage import kind_of, load_model
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.streams import parse_all

TOKENIZER, TAGGER, PARSER = "tokenizer", "tagger", "parser"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model under the name that clients call it by; the tagger cuts and tags."""

    name: str
    tagger: Tagger | None
    parser: Parser | None

    @property
    def abilities(self) -> tuple[str, ...]:
        """Its abilities, in the words of UDPipe."""
        taggers = () if self.tagger is None else (TOKENIZER, TAGGER)
        return taggers if self.parser is None else (*taggers, PARSER)

    def unable(self, ability: str) -> UsageError:
        """Return what is told of a request for what it cannot do."""
        known = ", ".join(self.abilities)
        return UsageError(f"found {ability!r} asked of the model {self.name!r}, which has: {known}")


ServedModels = Mapping[str, ServedModel]


def load_served(named: Sequence[str]) -> ServedModels:
    """Load models, told as ``NAME=PATH``, or by path alone, whose stem is then the name.

    Each is tried on a sentence, so that its kernels are compiled before anyone waits for them. Raises
    UsageError when two have one name; DataError for a model that neither tags nor parses a sentence alone.
    """
    models: dict[str, ServedModel] = {}
    for text in named:
        name, path = _name_and_path(text)
        if name in models:
            raise UsageError(f"found two models named {name!r}; name one of them otherwise: -m NAME={path}")
        served = _load(name, path)
        sentence = Sentence.from_words(["a", "b", "."], upos=["NOUN", "VERB", "PUNCT"])
        if served.tagger is not None:
            if served.tagger.language is not None:
                list(served.tagger.read(["a b."], name=served.name))
            sentence = served.tagger.tag(sentence)
        if served.parser is not None:
            served.parser.parse(sentence, confidence=True)
        models[name] = served
    return models


def _name_and_path(text: str) -> tuple[str, str]:
    name, separator, path = text.partition("=")
    if separator and name and path and not Path(text).exists():
        return name, path
    return Path(text).stem, text


def _load(name: str, path: str) -> ServedModel:
    model = load_model(path)
    if isinstance(model, Tagger):
        return ServedModel(name, model, None)
    # Models of pairs and of trees read no sentence alone.
    if isinstance(model, Parser) and not model.parses_pairs and "heads" not in model.reads:
        return ServedModel(name, model.word_tagger, model)
    raise DataError(
        path,
        None,
        found=f"a model of kind {kind_of(model)}",
        expected="one that tags or parses a sentence alone",
        remedy="give a parser, a tagger, or both in one (qsproj bundle)",
    )


def chosen_model(models: ServedModels, asked: str | None) -> ServedModel:
    """Return the model that a client asks for: by its name, or by what only one name begins with."""
    if not asked:
        return next(iter(models.values()))
    if asked in models:
        return models[asked]
    begin = [model for name, model in models.items() if name.startswith(asked)]
    if len(begin) == 1:
        return begin[0]
    raise UsageError(f"found no model {asked!r}, expected one of: {', '.join(models)}")


# What messages call the text of a request.
NAME = "data"


class _Data(io.StringIO):
    """A text as an open file, with the name by which errors call it."""

    name = NAME


def _read_format(format: Format, text: str) -> Iterator[Sentence]:
    if not text.strip():
        return iter(())
    return format.read(_Data(text, newline="\n"))


def _read_horizontal(text: str) -> Iterator[Sentence]:
    lines = (line.split() for line in text.split("\n"))
    return (Sentence.from_words(words) for words in lines if words)


def _read_vertical(text: str) -> Iterator[Sentence]:
    words = list[str]()
    for line in (*text.split("\n"), ""):
        # What follows a tab is a tag or the like of some other tool.
        word = line.split("\t", 1)[0].strip()
        if word:
            words.append(word)
        elif words:
            yield Sentence.from_words(words)
            words = []


def _write_format(format: Format, sentences: Iterable[Sentence]) -> str:
    assert format.write is not None
    handle = _Data(newline="\n")
    format.write(sentences, handle)
    return handle.getvalue()


# What is written of a sentence in the formats of this server alone.
_WRITTEN: Mapping[str, Callable[[Sentence], str]] = {
    "horizontal": lambda sentence: " ".join(sentence.forms) + "\n",
    "vertical": lambda sentence: "\n".join(sentence.forms) + "\n\n",
    "plaintext": lambda sentence: (comment_value(sentence, "text") or " ".join(sentence.forms)) + "\n",
}


def _write_by(write: Callable[[Sentence], str], sentences: Iterable[Sentence]) -> str:
    return "".join(map(write, sentences))


def readers() -> dict[str, Callable[[str], Iterator[Sentence]]]:
    """Return what reads the data of a request, by the name of their format."""
    known = {format.name: partial(_read_format, format) for format in sentence_formats()}
    return {**known, "horizontal": _read_horizontal, "vertical": _read_vertical}


def writers() -> dict[str, Callable[[Iterable[Sentence]], str]]:
    """Return what writes an answer, by the name of its format."""
    known = {format.name: partial(_write_format, format) for format in sentence_formats() if format.write}
    return {**known, **{name: partial(_write_by, write) for name, write in _WRITTEN.items()}}


CONFIDENCE, PRESEGMENTED = "confidence", "presegmented"
_TOKENIZER_INPUTS = ("generic_tokenizer", "generic")


@dataclass(frozen=True, slots=True)
class Processed:
    """The result of a request, with the name of the model and how many sentences and words there were."""

    model: str
    result: str
    sentences: int
    words: int


def process(models: ServedModels, fields: Mapping[str, str]) -> Processed:
    """Cut, tag and parse a text as its client asks, by the fields of UDPipe's REST API.

    Fields are ``data``; ``model``; ``input``, ``output``, formats; ``tokenizer``, ``tagger``, ``parser``,
    which say what to do and may hold options. ``parser=confidence`` puts the probability of each arc into
    MISC.
    """
    if "data" not in fields:
        raise UsageError("found no field 'data', expected the text to process")
    model = chosen_model(models, fields.get("model"))
    output = fields.get("output") or "conllu"
    # UDPipe writes options behind the name of a format.
    write = writers().get(output.partition("=")[0].partition(";")[0])
    if write is None:
        raise unknown_name("output", output, list(writers()))
    for ability in (TOKENIZER, TAGGER, PARSER):
        if ability in fields and ability not in model.abilities:
            raise model.unable(ability)
    sentences = list(_read(model, fields))
    done = list(_predicted(model, sentences, fields))
    return Processed(model.name, write(done), len(done), sum(map(len, done)))


def _read(model: ServedModel, fields: Mapping[str, str]) -> Iterator[Sentence]:
    """Read the data in their format, or cut them where they are plain text."""
    data, given = fields["data"], fields.get("input") or "conllu"
    if TOKENIZER in fields or given in _TOKENIZER_INPUTS:
        if model.tagger is None:
            raise UsageError(f"found plain text for the model {model.name!r}, which has no tokenizer")
        running = PRESEGMENTED not in fields.get(TOKENIZER, "").split(";")
        return cut_long_lines(
            model.tagger.read(data.split("\n"), split_contractions=True, paragraphs=running, name=NAME)
        )
    read_data = readers().get(given)
    if read_data is None:
        raise unknown_name("input", given, [*readers(), _TOKENIZER_INPUTS[0]])
    return read_data(data)


def _predicted(
    model: ServedModel, sentences: list[Sentence], fields: Mapping[str, str]
) -> Iterator[Sentence]:
    if PARSER in fields:
        if model.parser is None:
            raise AssertionError("checked before")
        confidence = CONFIDENCE in fields[PARSER].split(";")
        return parsed(model, model.parser, sentences, retag=TAGGER in fields, confidence=confidence)
    if TAGGER in fields and model.tagger is not None:
        return map(model.tagger.tag, sentences)
    return iter(sentences)


def parsed(
    model: ServedModel, parser: Parser, sentences: list[Sentence], *, retag: bool, confidence: bool
) -> Iterator[Sentence]:
    """Yield the sentences with trees by the parser of a model; with ``retag``, by its own tags always.

    Raises UsageError when no word has a tag, and the model has no tagger.
    """
    needs_tags = model.tagger is None and "upos" in parser.reads
    if sentences and needs_tags and all({*one.upos, *one.xpos} == {UNSPECIFIED} for one in sentences):
        raise UsageError(
            f"found no word with a tag, expected those that the model {model.name!r} reads; it has no tagger"
        )
    return parse_all(parser, sentences, confidence=confidence, retag=retag)
