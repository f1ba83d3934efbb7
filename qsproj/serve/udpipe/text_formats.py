"""What UDPipe reads and writes beside CoNLL-U: words one a line, sentences one a line, plain text."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from qsproj.corpus.editing import comment_value, sentence_from_words
from qsproj.corpus.formats import Format, sentence_formats
from qsproj.corpus.sentence import Sentence

# What messages call the text of a request.
NAME = "data"


class _Data(io.StringIO):
    """A text as an open file, with the name by which errors call it."""

    name = NAME


def _read(format: Format, text: str) -> Iterator[Sentence]:
    if not text.strip():
        return iter(())
    return format.read(_Data(text, newline="\n"))


def _read_horizontal(text: str) -> Iterator[Sentence]:
    lines = (line.split() for line in text.split("\n"))
    return (sentence_from_words(words) for words in lines if words)


def _read_vertical(text: str) -> Iterator[Sentence]:
    words = list[str]()
    for line in (*text.split("\n"), ""):
        # What follows a tab is a tag or the like of some other tool.
        word = line.split("\t", 1)[0].strip()
        if word:
            words.append(word)
        elif words:
            yield sentence_from_words(words)
            words = []


def _write(format: Format, sentences: Iterable[Sentence]) -> str:
    assert format.write is not None
    handle = _Data(newline="\n")
    format.write(sentences, handle)
    return handle.getvalue()


def _write_horizontal(sentences: Iterable[Sentence]) -> str:
    return "".join(" ".join(sentence.forms) + "\n" for sentence in sentences)


def _write_vertical(sentences: Iterable[Sentence]) -> str:
    return "".join("\n".join(sentence.forms) + "\n\n" for sentence in sentences)


def _write_plaintext(sentences: Iterable[Sentence]) -> str:
    texts = ((comment_value(sentence, "text"), sentence) for sentence in sentences)
    return "".join(f"{text or ' '.join(sentence.forms)}\n" for text, sentence in texts)


def readers() -> dict[str, Callable[[str], Iterator[Sentence]]]:
    """Return what reads the data of a request, by the name of their format."""
    known = {format.name: partial(_read, format) for format in sentence_formats()}
    return {**known, "horizontal": _read_horizontal, "vertical": _read_vertical}


def writers() -> dict[str, Callable[[Iterable[Sentence]], str]]:
    """Return what writes an answer, by the name of its format."""
    known = {format.name: partial(_write, format) for format in sentence_formats() if format.write}
    others = {"horizontal": _write_horizontal, "vertical": _write_vertical, "plaintext": _write_plaintext}
    return {**known, **others}
