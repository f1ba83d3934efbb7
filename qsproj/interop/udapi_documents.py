"""Conversion of sentences to and from udapi, through CoNLL-U text.

udapi is under the GPL, so it is not imported here; the caller imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from qsproj.corpus.conllu import conllu_text
from qsproj.corpus.document import Document
from qsproj.corpus.messages import described
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, WrongTypeError
from qsproj.interop.exchange import listed


def to_udapi(sentences: Sentence | Iterable[Sentence]) -> Any:
    """Convert sentences to a document of udapi; the caller must ``import udapi`` first.

    All content of CoNLL-U is kept, except line ends.

    Raises UsageError when the argument holds no sentences, or udapi is not imported.
    """
    text = conllu_text(listed(sentences))
    module = sys.modules.get("udapi.core.document")
    if module is None:
        raise UsageError(
            "udapi is not imported, and as it is under the GPL qsproj does not import it; call: import udapi"
        )
    document = module.Document()
    document.from_conllu_string(text)
    return document


def from_udapi(document: Any) -> Document:
    """Convert a document of udapi to sentences, without loss.

    Raises UsageError when the argument is not a udapi document; DataError when it is not valid CoNLL-U.
    """
    write = getattr(document, "to_conllu_string", None)
    if not callable(write):
        raise WrongTypeError(f"found {described(document)}, expected a Document of udapi")
    return Document.from_conllu(write())
