"""What models of text are known by, without importing taggers, which parsers of tagged words do not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard, cast

from qsproj.models.storage import is_of_kind

if TYPE_CHECKING:
    from qsproj.models.tagging.tagger import Tagger
    from qsproj.models.text.text_parser import TextParser

TAGGING_PARSER = "tagging-parser"


def is_text_parser(model: object) -> TypeGuard[TextParser]:
    """Tell whether a model is a :class:`qsproj.models.text.text_parser.TextParser`."""
    return is_of_kind(model, "text-parser")


def tagger_of(model: object) -> Tagger | None:
    """Return the tagger of a model that needs no tags; None for one that has none."""
    has_one = is_text_parser(model) or is_of_kind(model, TAGGING_PARSER)
    return cast("TextParser", model).tagger if has_one else None
