"""Documents as INCEpTION sends them: CAS XMI with its type system, read and written by dkpro-cassis."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qsproj.corpus.cells import UNIVERSAL_TAGS
from qsproj.corpus.sentence import Sentence
from qsproj.errors import QsprojError, UsageError

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
SENTENCE, TOKEN = f"{_DKPRO}.segmentation.type.Sentence", f"{_DKPRO}.segmentation.type.Token"
POS, DEPENDENCY = f"{_DKPRO}.lexmorph.type.pos.POS", f"{_DKPRO}.syntax.type.dependency.Dependency"
# Where a tag of UD may stand.
TAG_FEATURES = ("coarseValue", "PosValue")
# INCEpTION takes what has this set for a suggestion, all else for annotations that were there.
IS_PREDICTED = "inception_internal_predicted"

# The text is Unicode already, whatever encoding its first line tells.
_DECLARATION = re.compile(r"\A[\s\ufeff]*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedSentence:
    """A sentence of a document.

    Attributes
    ----------
    tokens : tuple of cassis annotations
        n of them.
    sentence : Sentence
        Its n words, with those tags that are annotated.
    """

    tokens: tuple[Any, ...]
    sentence: Sentence


class Document:
    """A CAS, to which suggestions are added. Mutable; final.

    ``xmi``, ``type_system``: XML, not trusted.

    Raises UsageError when they cannot be read.
    """

    def __init__(self, xmi: str, type_system: str) -> None:
        import cassis

        types = _read("typeSystem", cassis.load_typesystem, type_system)
        self._cas = _read("document.xmi", cassis.load_cas_from_xmi, xmi, typesystem=types)

    def sentences(self) -> Iterator[AnnotatedSentence]:
        """Yield the sentences that have tokens."""
        for sentence in _checked(self._cas.select, SENTENCE):
            tokens = tuple(_checked(self._cas.select_covered, TOKEN, sentence))
            if tokens:
                words = [_checked(token.get_covered_text) for token in tokens]
                yield AnnotatedSentence(tokens, Sentence.from_words(words, upos=map(_tag_of, tokens)))

    def suggest(self, token: Any, layer: str, feature: str, label: str, **others: Any) -> None:
        """Add a suggestion at a token.

        ``layer``, ``feature``, ``label``: The type of the annotation, and what is suggested. ``others``:
        Further features; those that the type does not have are left out.

        Raises UsageError when the type system does not have the layer, the feature or the mark of
        suggestions.
        """
        kind = _checked(self._cas.typesystem.get_type, layer)
        known = {one.name for one in kind.all_features}
        for name in (feature, IS_PREDICTED):
            if name not in known:
                raise UsageError(f"found no feature {name!r} of {layer} in typeSystem, expected one")
        values = {name: value for name, value in others.items() if name in known}
        marked = {feature: label, IS_PREDICTED: True}
        self._cas.add(kind(begin=token.begin, end=token.end, **values, **marked))

    def xmi(self) -> str:
        """Return the document with its suggestions, as XMI."""
        text: str = _checked(self._cas.to_xmi)
        return text


def _read(name: str, load: Any, text: str, **options: Any) -> Any:
    """Load XML that is not trusted: without a DTD there are no entities to expand, or files to fetch."""
    bare = _DECLARATION.sub("", text, count=1)
    if "<!DOCTYPE" in bare:
        raise UsageError(f"found a document type (<!DOCTYPE) in {name}, expected none")
    return _checked(load, bare, name=name, **options)


def _checked(work: Any, *arguments: Any, name: str = "document.xmi", **options: Any) -> Any:
    """Do what cassis does, which tells wrong input by errors of any kind; its warnings say nothing more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work(*arguments, **options)
        except QsprojError:
            raise
        except Exception as error:
            raise UsageError(
                f"found {name} that cannot be read ({type(error).__name__}), expected a UIMA CAS as XMI, "
                "its types in typeSystem, with sentences and tokens of DKPro Core"
            ) from None


def _tag_of(token: Any) -> str | None:
    """Return the universal tag that an annotator gave to a token."""
    annotated = getattr(token, "pos", None)
    values = (getattr(annotated, feature, None) for feature in TAG_FEATURES)
    return next((value for value in values if value in UNIVERSAL_TAGS), None)
