"""Annotation styles: one choice in each of eight dimensions, with presets for common combinations.

*Source*: for coordination, the taxonomy of Popel et al. 2013, Coordination structures in dependency
treebanks: family and head, conjunctions, shared modifiers, punctuation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from qsproj.corpus.messages import check_type
from qsproj.errors import UsageError, check_name, unknown_name

Coordination = Literal["stanford", "conll", "moscow", "reverse-moscow", "prague"]
Attachment = Literal["following", "previous", "between"]
Sharing = Literal["head", "nearest"]
FunctionWord = Literal["child", "head"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """One choice in each dimension; the defaults are those of Universal Dependencies.

    ``coordination``: the head of a coordination and the attachment of its conjuncts. ``stanford``: the first
    conjunct heads all others; ``conll``: the last heads all others; ``moscow`` (Mel'cuk): each conjunct heads
    the next; ``reverse-moscow``: each heads the one before; ``prague``: the last conjunction between
    conjuncts heads all of them; without one, the last separating mark; without either, the first conjunct.

    ``conjunctions``, ``punctuation``: the attachment of conjunctions and separating punctuation that do not
    head the coordination: to the ``following`` or ``previous`` conjunct, or ``between`` conjuncts: a link of
    the chain in the two Moscow families, a child of the coordination's head in the others. ``shared``: the
    attachment of the dependents of the whole coordination: to its ``head``, or to the ``nearest`` conjunct.

    ``determiners``, ``prepositions``, ``copula``, ``auxiliaries``: whether words of the relations det, case,
    cop and aux are the ``child`` or the ``head`` of their content word. Of several, the leftmost heads the
    others; if all are on the right, the rightmost does.
    """

    coordination: Coordination = "stanford"
    conjunctions: Attachment = "following"
    shared: Sharing = "head"
    punctuation: Attachment = "following"
    determiners: FunctionWord = "child"
    prepositions: FunctionWord = "child"
    copula: FunctionWord = "child"
    auxiliaries: FunctionWord = "child"

    def __str__(self) -> str:
        return ",".join(f"{name}={getattr(self, name)}" for name in DIMENSIONS)


UD = Style()

#: The choices of each dimension, those of Universal Dependencies first.
DIMENSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {entry.name: get_args(entry.type) for entry in fields(Style)}
)

_CONTENT_HEAD = dict.fromkeys(("determiners", "prepositions", "copula", "auxiliaries"), "child")
_STANFORD = _CONTENT_HEAD | {"conjunctions": "between", "shared": "head", "punctuation": "between"}
_STANFORD |= {"coordination": "stanford", "prepositions": "head"}
_FUNCTION_HEADS = {"copula": "head", "auxiliaries": "head"}
#: Presets; dimensions that a preset does not name are unchanged.
PRESETS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "ud": {name: choices[0] for name, choices in DIMENSIONS.items()},
        "stanford": _STANFORD,
        "prague": _STANFORD | {"coordination": "prague", "copula": "head"},
        "moscow": _STANFORD | _FUNCTION_HEADS | {"coordination": "moscow"},
        "conll": _STANFORD | _FUNCTION_HEADS | {"coordination": "conll"},
        "content-head": _CONTENT_HEAD,
        "function-head": dict.fromkeys(_CONTENT_HEAD, "head"),
    }
)


def parse_style(text: str, *, base: Style = UD) -> Style:
    """Parse presets and choices such as ``prague,determiners=head``; later ones take precedence."""
    check_type(text, str, "the name of a style")
    choices: dict[str, str] = {}
    for part in text.split(","):
        dimension, separator, choice = (piece.strip() for piece in part.partition("="))
        if not separator:
            if dimension == "sud":
                raise UsageError(
                    "no rules convert to sud, which differs from UD in more than these dimensions; "
                    "learn it from a few sentences in both styles: qsproj adapt"
                )
            if dimension not in PRESETS:
                raise unknown_name("style", dimension, [*PRESETS, *(f"{name}=..." for name in DIMENSIONS)])
            choices |= PRESETS[dimension]
        else:
            check_name("dimension of styles", dimension, DIMENSIONS)
            check_name(dimension, choice, DIMENSIONS[dimension])
            choices[dimension] = choice
    return replace(base, **dict[str, Any](choices))


def agreeing_presets(choices: Mapping[str, str]) -> list[str]:
    agreeing = (name for name, own in PRESETS.items() if all(own.get(d, c) == c for d, c in choices.items()))
    return sorted(agreeing, key=lambda name: -len(PRESETS[name]))
