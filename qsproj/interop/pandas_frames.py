"""Conversion of sentences to and from a pandas ``DataFrame`` with a row for each word."""

from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

from qsproj.conventions import NO_HEAD
from qsproj.corpus.cells import FORM, HEAD, MISC, UNSPECIFIED
from qsproj.corpus.document import Document
from qsproj.corpus.messages import check_type, shown
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import lines_of
from qsproj.errors import UsageError
from qsproj.interop.exchange import FIELDS, listed, package, rows_of, sentence_of

if TYPE_CHECKING:
    from pandas import DataFrame

INDEX = ("sentence", "word")
# The columns of CoNLL-U after ID, then those of the surface token, and the comments.
COLUMNS = FIELDS[1:]
TOKEN_COLUMNS = ("token", "token_id", "token_misc")
COMMENTS = "comments"


def to_pandas(sentences: Sentence | Iterable[Sentence]) -> "DataFrame":
    """Convert sentences to a ``DataFrame``, a row for each word, indexed by sentence and word, both from 1.

    The columns are those of CoNLL-U, as strings, ``_`` where unspecified; ``head`` is an integer, 0 for the
    root, -1 where it is missing. ``token``, ``token_id`` and ``token_misc`` are of the surface token, which
    the words of a multiword token share; ``comments``, on the first word of a sentence, holds its comment
    lines. Lost are empty nodes and line ends.

    Raises UsageError when the argument holds no sentences, or pandas is not installed.

    Examples
    --------
    >>> frame = qsproj.to_pandas(qsproj.read_conllu("corpora/en.conllu"))
    >>> frame.loc[(1, 2), "form"], frame.upos.value_counts().idxmax()
    ('dog', 'NOUN')
    """
    columns: dict[str, list[Any]] = {name: [] for name in (*INDEX, *COLUMNS, *TOKEN_COLUMNS, COMMENTS)}
    for number, sentence in enumerate(listed(sentences), start=1):
        token, last = ("", "", ""), 0
        for row in rows_of(sentence):
            first, _, end = row[0].partition("-")
            if end:
                token, last = (row[FORM], row[0], row[MISC]), int(end)
                continue
            word = int(first)
            own = token if word <= last else (row[FORM], row[0], UNSPECIFIED)
            cells = [*row[FORM:HEAD], int(sentence.heads[word]), *row[HEAD + 1 :]]
            comments = "\n".join(sentence.comments) if word == 1 else ""
            for name, value in zip(columns, (number, word, *cells, *own, comments), strict=True):
                columns[name].append(value)
    pandas = package("pandas")
    index = pandas.MultiIndex.from_arrays([columns.pop(name) for name in INDEX], names=INDEX)
    return pandas.DataFrame(columns, index=index)


def from_pandas(frame: "DataFrame") -> Document:
    """Convert a ``DataFrame`` in the format of :func:`to_pandas` to sentences.

    Only the index and the column ``form`` are required; ``sentence`` and ``word`` may be columns, as in a
    table read from a file. Missing values are ``_``; other columns are ignored.

    Raises UsageError for other frames: a sentence with gaps or words in another order or without a form,
    heads that do not form a tree, multiword tokens whose words are not adjacent.

    Examples
    --------
    >>> frame = qsproj.to_pandas(qsproj.Sentence.from_words(["Dogs", "bark"], heads=[2, 0]))
    >>> qsproj.from_pandas(frame.assign(upos=["NOUN", "VERB"]))[0][1]
    <Token 1 'Dogs' NOUN>
    """
    check_type(frame, package("pandas").DataFrame, "a DataFrame; make one: qsproj.to_pandas")
    table = frame.reset_index() if set(INDEX) <= set(frame.index.names) else frame
    if missing := [name for name in (*INDEX, "form") if name not in table.columns]:
        expected = "sentence and word as index or columns, and form"
        raise UsageError(f"found no {missing[0]} in the frame, expected {expected}")
    names = [name for name in (*INDEX, *COLUMNS, *TOKEN_COLUMNS, COMMENTS) if name in table.columns]
    if twice := [name for name in names if list(table.columns).count(name) > 1]:
        raise UsageError(f"found several columns {twice[0]} in the frame, expected one")
    columns = [table[name].astype(object).where(table[name].notna(), None).tolist() for name in names]
    rows = [dict(zip(names, values)) for values in zip(*columns)]
    return Document(list(_sentences_in(rows)))


def _sentences_in(rows: list[dict[str, Any]]) -> Iterator[Sentence]:
    seen = set()
    for number, group in groupby(rows, key=lambda row: row["sentence"]):
        words, where = list(group), f"sentence {number}"
        if not isinstance(number, Hashable):
            raise UsageError(f"found {shown(number)} as number of a sentence, expected a whole number")
        if number in seen:
            raise UsageError(f"{where}: found its words in two places, expected one; call frame.sort_index()")
        seen.add(number)
        for expected, row in enumerate(words, start=1):
            if row["word"] != expected:
                raise UsageError(
                    f"{where}: found word {shown(row['word'])}, expected {expected}; a frame has all words "
                    "of a sentence in their order: leave out sentences, not words, or frame.sort_index()"
                )
            if row["form"] is None:
                remedy = "read words such as NA as they are: pandas.read_csv(..., keep_default_na=False)"
                raise UsageError(f"{where}: found no form of word {expected}, expected one; {remedy}")
        yield _sentence(words, where)


def _sentence(words: list[dict[str, Any]], where: str) -> Sentence:
    rows, last = list[list[str]](), 0
    for word, row in enumerate(words, start=1):
        token = _cell(row.get("token_id"))
        first, hyphen, end = token.partition("-")
        if hyphen and word > last:
            if first != str(word) or not end.isdecimal():
                raise UsageError(f"{where}: found token_id {token} on word {word}, expected {word}-...")
            last = int(end)
            rows.append([token, _cell(row.get("token")), *[UNSPECIFIED] * 7, _cell(row.get("token_misc"))])
        cells = row | {"head": _head(row.get("head"), where, word)}
        rows.append([str(word), *(_cell(cells.get(name)) for name in COLUMNS)])
    return sentence_of(lines_of(words[0].get(COMMENTS) or ""), rows, where=where)


def _cell(value: object) -> str:
    return UNSPECIFIED if value is None else str(value)


def _head(value: Any, where: str, word: int) -> str:
    """Return the cell of a head, which pandas may hold as a float."""
    if value is None or value in (NO_HEAD, UNSPECIFIED):
        return UNSPECIFIED
    with suppress(TypeError, ValueError, OverflowError):
        if float(value) == int(value):
            return str(int(value))
    raise UsageError(f"{where}: found {shown(value)} as head of word {word}, expected a whole number")
