"""The models that a server has, by name, and what each can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError
from qsproj.models.converter.converter import Converter
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.storage import Parser, kind_of, load_model
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.text.kinds import tagger_of

TOKENIZER, TAGGER, PARSER = "tokenizer", "tagger", "parser"
# Of pairs and of trees: they read no sentence alone.
_NOT_ALONE = (Converter, JointParser)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model under the name that clients call it by.

    Attributes
    ----------
    name : str
    tagger : Tagger or None
        Cuts and tags.
    parser : Parser or None
    """

    name: str
    tagger: Tagger | None
    parser: Parser | None

    @property
    def abilities(self) -> tuple[str, ...]:
        """What it can do, in the words of UDPipe."""
        taggers = () if self.tagger is None else (TOKENIZER, TAGGER)
        return taggers if self.parser is None else (*taggers, PARSER)

    def unable(self, ability: str) -> UsageError:
        """Return what is told of a request for what it cannot do."""
        known = ", ".join(self.abilities)
        return UsageError(f"found {ability!r} asked of the model {self.name!r}, which has: {known}")


ServedModels = Mapping[str, ServedModel]


def load_served(named: Sequence[str]) -> ServedModels:
    """Load models, told as ``NAME=PATH``, or by path alone, whose stem is then the name.

    Each is tried on a sentence, so that its kernels are compiled before anyone waits for them.

    Raises UsageError when two have one name; DataError when a file is no model, or one that neither tags nor
    parses a sentence alone.
    """
    models: dict[str, ServedModel] = {}
    for text in named:
        name, path = _name_and_path(text)
        if name in models:
            raise UsageError(f"found two models named {name!r}; name one of them otherwise: -m NAME={path}")
        models[name] = _tried(_load(name, path))
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
    if isinstance(model, Parser) and not isinstance(model, _NOT_ALONE):
        return ServedModel(name, tagger_of(model), model)
    raise DataError(
        path,
        None,
        found=f"a model of kind {kind_of(model)}",
        expected="one that tags or parses a sentence alone",
        remedy="give a parser, a tagger, or both in one (qsproj bundle)",
    )


def _tried(served: ServedModel) -> ServedModel:
    sentence = Sentence.from_words(["a", "b", "."], upos=["NOUN", "VERB", "PUNCT"])
    if served.tagger is not None:
        if served.tagger.language is not None:
            list(served.tagger.read(["a b."], name=served.name))
        sentence = served.tagger.tag(sentence)
    if served.parser is not None:
        served.parser.parse(sentence, confidence=True)
    return served


def chosen_model(models: ServedModels, asked: str | None) -> ServedModel:
    """Return the model that a client asks for: by its name, or by what only one name begins with.

    Raises UsageError when there is none, or are several; the message lists them.
    """
    if not asked:
        return next(iter(models.values()))
    if asked in models:
        return models[asked]
    begin = [model for name, model in models.items() if name.startswith(asked)]
    if len(begin) == 1:
        return begin[0]
    raise UsageError(f"found no model {asked!r}, expected one of: {', '.join(models)}")
