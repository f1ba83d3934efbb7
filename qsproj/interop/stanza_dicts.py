"""Conversion of sentences to and from stanza's dictionaries: a list of sentences, each a list of dicts."""

from collections.abc import Iterable, Mapping
from typing import Any

from qsproj.corpus.cells import FORM, HEAD, MISC, UNSPECIFIED, cell_from, items_of
from qsproj.corpus.document import Document
from qsproj.corpus.messages import described, shown
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, WrongTypeError
from qsproj.interop.exchange import FIELDS, listed, rows_of, sentence_of

_KEYS = ("text", *FIELDS[2:])  # stanza's names of the columns of CoNLL-U after ID
_CELLS = ("upos", "head", "deprel", "deps")  # of words and empty nodes, not of multiword tokens
_PLACES = ("start_char", "end_char")


def to_stanza(sentences: Sentence | Iterable[Sentence]) -> list[list[dict[str, Any]]]:
    """Convert sentences to the dictionaries of ``stanza.Document`` and its ``to_dict``.

    The ``id`` of a multiword token is a tuple of the numbers of its words. ``start_char`` and ``end_char``
    are offsets in the concatenated texts of all sentences. Comments and empty nodes are lost.

    Examples
    --------
    >>> qsproj.to_stanza(qsproj.Sentence.from_words(["Hush"], heads=[0], deprels=["root"]))
    [[{'id': 1, 'text': 'Hush', 'head': 0, 'deprel': 'root', 'start_char': 0, 'end_char': 4}]]
    """
    document = sentences if isinstance(sentences, Document) else Document(listed(sentences))
    text, at = document.text, 0
    result = []
    for sentence in document:
        tokens, covered = list[dict[str, Any]](), 0
        for row in rows_of(sentence):
            numbers = tuple(map(int, row[0].split("-")))
            number = numbers if numbers[1:] else numbers[0]
            known = {key: cell for key, cell in zip(_KEYS, row[FORM:], strict=True) if cell != UNSPECIFIED}
            head = {"head": int(row[HEAD])} if "head" in known else {}
            token: dict[str, Any] = {"id": number, "text": row[FORM], **known, **head}
            if numbers[-1] > covered:
                start = text.find(token["text"], at)
                # A token gets no offsets where the text does not match.
                if start >= 0 and not text[at:start].strip():
                    at = start + len(token["text"])
                    token.update(zip(_PLACES, (start, at)))
                covered = numbers[-1]
            tokens.append(token)
        result.append(tokens)
    return result


def from_stanza(document: Any) -> Document:
    """Convert dictionaries of stanza, or a ``stanza.Document``, to sentences.

    ``SpaceAfter=No`` is derived from ``start_char`` and ``end_char`` where MISC has no spacing of its own.
    Lost are empty nodes, named entities, sentiment and constituents.

    Raises UsageError for other types, or when heads do not form a tree.

    Examples
    --------
    >>> qsproj.from_stanza([[{"id": 1, "text": "Hush", "head": 0, "deprel": "root"}]])[0].root
    <Token 1 'Hush'>
    """
    given = document.to_dict() if hasattr(document, "to_dict") else document
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise WrongTypeError(f"found {described(given)}, expected stanza's list of lists of dictionaries")
    sentences = list(given)
    if sentences and all(isinstance(one, Mapping) for one in sentences):
        sentences = [sentences]
    return Document([_sentence(one, f"sentence {number}") for number, one in enumerate(sentences, start=1)])


def _sentence(tokens: Any, where: str) -> Sentence:
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise WrongTypeError(f"{where}: found {described(tokens)}, expected a list of dictionaries")
    found = [token for token in tokens if not _is_empty_node(token)]
    rows, covered = list[list[str]](), 0
    for at, token in enumerate(found):
        if not isinstance(token, Mapping) or "id" not in token or "text" not in token:
            raise UsageError(f"{where}: found {shown(token)}, expected a dictionary with id and text")
        number = _number(token["id"], where)
        row = ["-".join(map(str, number)), *(_cell(token.get(key)) for key in _KEYS)]
        if len(number) > 1 or number[0] > covered:
            covered = number[-1]
            later = (one for one in found[at + 1 :] if isinstance(one, Mapping))
            following = next((one for one in later if _parts(one.get("id"))[:1] == (covered + 1,)), {})
            places = token.get("end_char"), following.get("start_char")
            items = items_of(row[MISC])
            has_space = None in places or places[0] != places[1]
            if not has_space and "SpaceAfter" not in items and "SpacesAfter" not in items:
                row[MISC] = cell_from({**items, "SpaceAfter": "No"})
        rows.append(row)
    made = sentence_of([], rows, where=where)
    return sentence_of([f"# text = {made.text}"], rows, where=where)


def _is_empty_node(token: Any) -> bool:
    """Return whether a dictionary of stanza, which has two numbers as ``id``, is no multiword token."""
    number = _parts(token.get("id")) if isinstance(token, Mapping) else ()
    if len(number) != 2 or not all(isinstance(part, int) for part in number):
        return False
    return number[0] >= number[1] or any(token.get(name) is not None for name in _CELLS)


def _parts(given: object) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _number(given: object, where: str) -> tuple[int, ...]:
    number = _parts(given)
    if len(number) not in (1, 2) or not all(isinstance(part, int) for part in number):
        expected = "a number, or two of a multiword token"
        raise UsageError(f"{where}: found {shown(given)} as id, expected {expected}")
    return number


def _cell(value: object) -> str:
    if value is None:
        return UNSPECIFIED
    return cell_from(value) if isinstance(value, Mapping) else str(value)
