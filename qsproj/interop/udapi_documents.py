"""Sentences to and from udapi, through CoNLL-U text.

udapi is under the GPL: it is not imported here. Whoever calls has imported it.
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
    """Turn sentences into a document of udapi, which the caller has imported: ``import udapi``.

    Everything goes over that CoNLL-U can say, but for line ends.

    Raises UsageError when they are no sentences, or udapi is not imported.
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
    """Turn a document of udapi into sentences, with all that it holds.

    Raises UsageError when it is none; DataError when it is not what CoNLL-U allows.
    """
    write = getattr(document, "to_conllu_string", None)
    if not callable(write):
        raise WrongTypeError(f"found {described(document)}, expected a Document of udapi")
    return Document.from_conllu(write())
