"""Document: a text as a sequence of sentences."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from html import escape
from itertools import islice
from typing import overload

from qsproj.corpus.conllu import conllu_text, sentences_in
from qsproj.corpus.editing import begins_paragraph
from qsproj.corpus.messages import described, shown
from qsproj.corpus.sentence import Sentence, drawn
from qsproj.corpus.token import Token, space_after, surface_tokens
from qsproj.errors import UsageError, WrongTypeError, pluralise

SHOWN_SENTENCES = 10  # the most that are drawn in a notebook


class Document(Sequence[Sentence]):
    """A sequence of sentences, numbered from 0 unlike words; slices are documents.

    Sentences are taken lazily from an iterable, and kept: ``for sentence in model(text)`` shows the first
    sentence before the last one is parsed. After an error of the iterable, every use of the rest raises it
    again. ``text``: the original text; None: the texts of the sentences.

    Examples
    --------
    >>> import qsproj
    >>> document = qsproj.Document([qsproj.Sentence.from_words(["Hush"]), qsproj.Sentence.from_words(["No"])])
    >>> document
    <Document 'Hush No' 2 sentences>
    """

    __slots__ = ("_error", "_found", "_rest", "_text")

    def __init__(self, sentences: Iterable[Sentence], *, text: str | None = None) -> None:
        if isinstance(sentences, Sentence | str | bytes) or not isinstance(sentences, Iterable):
            raise WrongTypeError(f"found {described(sentences)} as sentences, expected a list of them")
        self._found: list[Sentence] = []
        self._rest = iter(sentences)
        self._error: Exception | None = None
        self._text = text

    @staticmethod
    def from_conllu(text: str) -> "Document":
        """Read a document from a string of CoNLL-U; raise DataError if it is not CoNLL-U."""
        return Document(sentences_in(text))

    def __iter__(self) -> Iterator[Sentence]:
        """Yield the sentences, each as soon as it is available."""
        at = 0
        while at < len(self._found) or self._take(1):
            yield self._found[at]
            at += 1

    def __len__(self) -> int:
        """Return the number of sentences, after computing all of them."""
        self._take(None)
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...

    @overload
    def __getitem__(self, index: slice) -> "Document": ...

    def __getitem__(self, index: int | slice) -> "Sentence | Document":
        """Return a sentence by its number from 0, or the document of a slice; raise IndexError if missing."""
        if isinstance(index, int) and index >= 0:
            self._take(index + 1 - len(self._found))
        else:
            self._take(None)
        return Document(self._found[index]) if isinstance(index, slice) else self._found[index]

    def __repr__(self) -> str:
        return f"<Document {shown(self.text)} {pluralise(len(self), 'sentence')}>"

    def __str__(self) -> str:
        return self.to_conllu()

    def _repr_html_(self) -> str:
        more = len(self) - SHOWN_SENTENCES
        parts = [f"<p>{escape(repr(self))}</p>", *map(drawn, self[:SHOWN_SENTENCES])]
        return "\n".join([*parts, *([f"<p>and {pluralise(more, 'sentence')} more</p>"] if more > 0 else [])])

    def __reduce__(self) -> tuple[object, ...]:
        """Support copying and pickling, with all sentences."""
        return partial(Document, text=self._text), (list(self),)

    @property
    def text(self) -> str:
        """The original text, or the texts of the sentences with one paragraph per line."""
        if self._text is not None:
            return self._text
        parts: list[str] = []
        space = ""
        for sentence in self:
            parts += ["\n" if parts and begins_paragraph(sentence) else space, sentence.text]
            space = space_after(surface_tokens(sentence)[-1])
        return "".join(parts)

    @property
    def tokens(self) -> Iterator[Token]:
        """The words of all sentences."""
        return (token for sentence in self for token in sentence)

    def to_conllu(self) -> str:
        """Return the document as CoNLL-U."""
        return conllu_text(self)

    def _take(self, number: int | None) -> bool:
        """Take ``number`` more sentences, None for all; return whether there was one."""
        before = len(self._found)
        if number is None or number > 0:
            if self._error is not None:  # a generator that has failed would look exhausted
                raise self._error
            try:
                self._found.extend(islice(self._rest, number))
            except Exception as error:
                self._error = error
                raise
            except BaseException:
                self._error = UsageError("the sentences were interrupted; make the document again")
                raise
        return len(self._found) > before
