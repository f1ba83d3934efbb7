"""Recognise models of text without importing taggers, which parsers of tagged words do not need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from qsproj.errors import DataError
from qsproj.models.storage import JOINT_PARSER, TAGGING_PARSER, is_of_kind, kind_of, load_model

if TYPE_CHECKING:
    from qsproj.models.joint.joint_parser import JointParser
    from qsproj.models.storage import Parser
    from qsproj.models.tagging.tagger import Tagger
    from qsproj.models.text.text_parser import TextParser


def is_text_parser(model: object) -> TypeGuard[TextParser]:
    return is_of_kind(model, "text-parser")


def inner_parser(parser: Parser) -> Parser:
    """Return the parser of a text parser, and any other one itself."""
    return parser.parser if is_text_parser(parser) else parser


def ignored_columns(parser: Parser) -> tuple[str, ...]:
    """Return the columns that a parser does not look at, as they were empty in all that it learned from."""
    return getattr(scorer_of(parser), "ignored", ())


def reads_words(parser: Parser) -> bool:
    """Tell whether a parser reads words, not tags alone."""
    return getattr(scorer_of(parser), "template_set", "delexicalised") != "delexicalised"


def scorer_of(parser: Parser) -> Any:
    """Return what scores the arcs of any parser, first of all; None where there is nothing of the kind."""
    part: Any = parser
    # What a parser of text, of another style, of pairs, of higher order has of a parser inside.
    for name in ("parser", "source_parser", "target", "base"):
        part = getattr(part, name, part)
    return getattr(part, "scorer", None)


def tagger_of(model: object) -> Tagger | None:
    """Return the tagger of a model that needs no tags; None for one that has none."""
    has_one = is_text_parser(model) or is_of_kind(model, TAGGING_PARSER)
    return cast("TextParser", model).tagger if has_one else None


def load_tags(path: str | Path) -> Tagger:
    """Load what tags: a tagger, or that of a model that parses text.

    Raises DataError as :func:`~qsproj.models.storage.load_model`, and when the model is of another kind.
    """
    model = load_model(path)
    tagger = cast("Tagger", model) if is_of_kind(model, "tagger") else tagger_of(model)
    if tagger is not None:
        return tagger
    found = f"a model of kind {kind_of(model)}"
    raise DataError(
        str(path), None, found=found, expected="a tagger", remedy="train one: qsproj train-tagger"
    )


def is_joint_parser(model: object) -> TypeGuard[JointParser]:
    return is_of_kind(model, JOINT_PARSER)


def fills_in_tags(model: object) -> bool:
    """Tell whether a model tags words that have no tag, before it parses them."""
    return tagger_of(model) is not None or (is_joint_parser(model) and model.tagger is not None)
