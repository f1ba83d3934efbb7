"""Conversion through CoNLL-U text, for ``conllu`` and udapi, and helpers of all converters.

udapi is under the GPL, so it is not imported here; the caller imports it.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from qsproj.corpus.cells import COLUMN_NAMES, UNSPECIFIED
from qsproj.corpus.conllu import conllu_text
from qsproj.corpus.document import Document
from qsproj.corpus.messages import check_type, described, shown
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import DataError, UsageError, WrongTypeError, optional_package

if TYPE_CHECKING:
    from conllu import TokenList

FIELDS = tuple(map(str.lower, COLUMN_NAMES))  # the columns of CoNLL-U in other libraries


def package(name: str) -> Any:
    """Import a package; UsageError when it is not installed."""
    top = name.partition(".")[0]
    return optional_package(name, f"this needs the package {top}; install it: pip install {top}")


def listed(sentences: Sentence | Iterable[Sentence]) -> list[Sentence]:
    """Return one or several sentences as a list; UsageError for other types."""
    if isinstance(sentences, Sentence):
        return [sentences]
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        expected = "sentences; make them: qsproj.read_conllu"
        raise WrongTypeError(f"found {described(sentences)}, expected {expected}")
    found = list(sentences)
    for one in found:
        check_sentence(one, most=None)
    return found


def sentence_of(comments: Sequence[str], rows: Sequence[Sequence[str]], *, where: str) -> Sentence:
    """Build a sentence from comments and rows of ten cells; UsageError with ``where`` if it is not valid."""
    for row in rows:
        if bad := [cell for cell in row if not cell or any(mark in cell for mark in "\t\r\n")]:
            expected = "text without tabs and line ends"
            raise UsageError(f"{where}: found {shown(bad[0])} in row {row[0]}, expected {expected}")
    try:
        return Sentence.from_conllu("\n".join([*comments, *map("\t".join, rows)]) + "\n\n")
    except DataError as error:
        raise UsageError(f"{where}: found {str(error).partition('found ')[2]}") from None


def rows_of(sentence: Sentence) -> list[list[str]]:
    """Return the rows of words and of multiword tokens, ten cells each."""
    rows = [line.rstrip("\r").split("\t") for line in sentence.to_conllu().split("\n")]
    return [row for row in rows if row[0][:1].isdecimal() and "." not in row[0]]


def to_token_list(sentence: Sentence) -> "TokenList":
    """Convert a sentence to a ``TokenList`` of the ``conllu`` package, with comments, ranges and empty nodes.

    Lost, because the package cannot represent them: line ends, comments without a value, all but the last
    comment of the same key, and in FEATS and MISC all but the last item of the same key, and the equals sign
    of an item without value.

    Raises UsageError when the argument is not a sentence, or ``conllu`` is not installed.

    Examples
    --------
    >>> sentence = qsproj.Sentence.from_words(["Dogs", "bark"], heads=[2, 0], sent_id="s1")
    >>> tokens = qsproj.to_token_list(sentence)
    >>> tokens.metadata["sent_id"], tokens[0]["head"]
    ('s1', 2)
    """
    check_type(sentence, Sentence, "a Sentence")
    return package("conllu").parse(sentence.to_conllu(), field_parsers={"feats": _items, "misc": _items})[0]


def _items(row: list[str], column: int) -> dict[str, str | None] | None:
    """Return the items of a cell as ``conllu`` does, but with values that contain an equals sign."""
    if row[column] == UNSPECIFIED:
        return None
    items = (item.partition("=") for item in row[column].split("|"))
    return {key: None if value == UNSPECIFIED else value for key, _, value in items}


def from_token_list(tokens: "TokenList") -> Sentence:
    """Convert a ``TokenList`` of the ``conllu`` package to a sentence, without loss.

    Raises UsageError when the argument is not a token list, or ``conllu`` is not installed; DataError when it
    is not valid CoNLL-U: IDs out of order, heads that do not form a tree.

    Examples
    --------
    >>> import conllu
    >>> tokens = conllu.TokenList([{"id": 1, "form": "Hush", "head": 0, "deprel": "root"}])
    >>> qsproj.from_token_list(tokens).deprels
    ('root',)
    """
    conllu = package("conllu")
    check_type(tokens, conllu.TokenList, "a TokenList of the package conllu")
    rows = [{name: token.get(name) for name in FIELDS} for token in tokens]
    return Sentence.from_conllu(conllu.TokenList(rows, tokens.metadata).serialize())


def to_udapi(sentences: Sentence | Iterable[Sentence]) -> Any:
    """Convert sentences to a document of udapi; the caller must ``import udapi`` first.

    udapi attaches words without a head to the root, and warns of each. When the document is written, also by
    :func:`from_udapi`, sentences without ``sent_id`` or ``text`` get one, and ``# sent_id x`` becomes
    ``# sent_id = x``. Line ends are lost.

    Raises UsageError when the argument holds no sentences, or udapi is not imported.
    """
    text = conllu_text(listed(sentences))
    module = sys.modules.get("udapi.core.document")
    if module is None:
        why = "as it is under the GPL qsproj does not import it"
        raise UsageError(f"udapi is not imported, and {why}; call: import udapi")
    document = module.Document()
    document.from_conllu_string(text)
    return document


def from_udapi(document: Any) -> Document:
    """Convert a document of udapi to sentences, with a ``sent_id`` and a ``text`` for each.

    Raises UsageError when the argument is not a udapi document; DataError when it is not valid CoNLL-U.
    """
    write = getattr(document, "to_conllu_string", None)
    if not callable(write):
        raise WrongTypeError(f"found {described(document)}, expected a Document of udapi")
    return Document.from_conllu(write())
