"""The calls that all models share: a text or sentences in, a document or sentences out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, overload

from qsproj.conventions import MAX_WORDS
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.document import Document
from qsproj.corpus.messages import described
from qsproj.corpus.sentence import Sentence, SentencePair, check_sentence
from qsproj.errors import MissingMethodError, UntaggedError, UsageError, WrongTypeError, pluralise
from qsproj.parallel import Workers, blocks_of, map_in_order

BATCH = 128  # sentences per block where a whole document is annotated
Inputs = Iterable[str] | Iterable[Sentence]
# Which kinds of models have a method, for the error message of a kind that lacks it.
_OFFERED = {
    "tag": "taggers and text models do",
    "read": "taggers and text models do",
    "parse_text": "text models do, and model(text) does the same",
    "parse_all": "parsers do, and model.pipe(sentences) is for every model",
    "arc_probabilities": "parsers do",
    "convert_sentence": "converters do (qsproj.adapt)",
    "parse_pair": "parsers of both sides of a bitext do (qsproj.train_biparser)",
    "align": "models that choose links do; qsproj.align needs no model",
    "parse": "parsers do (qsproj.train_parser)",
}


class Annotator:
    """A callable model of text or sentences; ``takes``: what a kind that does not read text takes."""

    __slots__ = ()
    takes: ClassVar[str] = "sentences of words: model(qsproj.Sentence.from_words(words, upos=tags))"

    def __init_subclass__(cls, **options: Any) -> None:
        """Give each subclass the short repr: that of a dataclass would print all weights."""
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Annotator.__repr__  # type: ignore[method-assign]

    @overload
    def __call__(self, given: Sentence, *, confidence: bool = False) -> Sentence: ...

    @overload
    def __call__(self, given: str | Iterable[Sentence], *, confidence: bool = False) -> Document: ...

    def __call__(
        self, given: str | Sentence | Iterable[Sentence], *, confidence: bool = False
    ) -> Document | Sentence:
        """Annotate a text, a sentence, or several sentences.

        Models that read text cut it into sentences and words; a line break ends a paragraph, unless lines are
        wrapped. The sentences of the document are made lazily. Parsers leave sentences of more than 1,000
        words as they are.

        Raises UsageError when the model does not read text; later, the errors of the model's other methods.

        Parameters
        ----------
        given : str, Sentence or iterable of Sentence
            The input.
        confidence : bool
            Put probabilities into MISC: ``ArcProb`` of parsers, ``TagProb`` of taggers.
        """
        if isinstance(given, str):
            return Document(self._annotated(self.cut(given), confidence=confidence), text=given)
        if isinstance(given, Iterable) and not isinstance(given, Sentence | bytes):
            return Document(self._annotated(_sentences(given), confidence=confidence))
        return next(iter(self._annotated([check_sentence(given, most=None)], confidence=confidence)))

    @overload
    def pipe(
        self, texts: Iterable[str], *, batch_size: int = BATCH, jobs: int = 1, confidence: bool = False
    ) -> Iterator[Document]: ...

    @overload
    def pipe(
        self, texts: Iterable[Sentence], *, batch_size: int = BATCH, jobs: int = 1, confidence: bool = False
    ) -> Iterator[Sentence]: ...

    def pipe(
        self, texts: Inputs, *, batch_size: int = BATCH, jobs: int = 1, confidence: bool = False
    ) -> Iterator[Document] | Iterator[Sentence]:
        """Yield a document for each text, or an annotated sentence for each sentence, in order.

        Memory use does not grow with their number. Each block of ``batch_size`` is annotated at once, by
        ``jobs`` processes, -1: one a core; results do not depend on it. Otherwise as in a call.
        """
        if isinstance(texts, str | bytes | Sentence) or not isinstance(texts, Iterable):
            raise WrongTypeError(f"found {described(texts)}, expected a list of texts or of sentences")
        if batch_size < 1:
            raise UsageError(f"found {batch_size} as batch_size, expected 1 or more")
        return self._piped(texts, batch_size, Workers(jobs=jobs), confidence)

    def _piped(self, texts: Inputs, size: int, workers: Workers, confidence: bool) -> Iterator[Any]:
        blocks: Iterator[list[Any]] = blocks_of(texts, size)
        if not workers.several_processes:
            for block in blocks:
                yield from _of_block(lambda: self, block, confidence=confidence)
            return
        with TemporaryDirectory() as folder:
            on_block = partial(_of_block, self.loader(Path(folder) / "model"), confidence=confidence)
            for results in map_in_order(on_block, blocks, workers=workers):
                yield from results

    def cut(self, text: str) -> Iterator[Sentence]:
        """Return the sentences of running text, in words; raise UsageError if the model reads no text."""
        reading = "models of qsproj.bootstrap and qsproj bundle read text"
        raise UsageError(f"found a text, but {self!r} reads {self.takes}; {reading}")

    def _annotated(self, sentences: Iterable[Sentence], *, confidence: bool) -> Iterator[Sentence]:
        """Yield the annotated sentences, several at once where the model can; a block is read ahead."""
        all_at_once: Callable[..., Iterator[Sentence]] | None = getattr(self, "parse_all", None)
        if all_at_once is None:
            yield from (self.parse(one, confidence=confidence) for one in sentences)
            return
        for too_long, run in groupby(sentences, key=lambda one: len(one) > MAX_WORDS):
            if too_long:
                yield from run
            else:
                yield from all_at_once(map(self._checked, run), confidence=confidence)

    def _checked(self, sentence: Sentence) -> Sentence:
        columns = set(getattr(self, "reads", ())) & {"upos", "xpos"} - set(getattr(self, "ignored", ()))
        if columns and all(set(getattr(sentence, name)) == {UNSPECIFIED} for name in columns):
            raise UntaggedError([name.upper() for name in sorted(columns)])
        return sentence

    if TYPE_CHECKING:

        def parse(self, sentence: Sentence, *, confidence: bool = False) -> Sentence: ...

        def loader(self, path: Path) -> "Callable[[], Annotator]": ...

    else:

        def __getattr__(self, name: str) -> object:
            """Raise an AttributeError that names the models which have the missing method."""
            text = f"{type(self).__name__} has no attribute {name!r}"
            if name in _OFFERED:
                own = ", ".join(one for one in _OFFERED if hasattr(type(self), one))
                text = f"{type(self).__name__} has no {name}, {_OFFERED[name]}; this model has {own}"
            raise MissingMethodError(text)

    def __repr__(self) -> str:
        tags = _fact(self, "tags", tuple) or _fact(self, "inventory", tuple)
        counted = (tags, "tag"), (_fact(self, "relations", tuple), "relation")
        facts = [_fact(self, "language", str), *(pluralise(len(own), noun) for own, noun in counted if own)]
        shown = ", ".join(filter(None, facts))
        return f"<{type(self).__name__} {shown}>" if shown else f"<{type(self).__name__}>"


def _of_block(model: Callable[[], Annotator], block: list[Any], *, confidence: bool) -> list[Any]:
    """Return documents of texts and annotated sentences; the sentences of all texts are batched together."""
    loaded = model()
    cut = [list(loaded.cut(given) if isinstance(given, str) else _sentences([given])) for given in block]
    annotated = iter(loaded._annotated((one for part in cut for one in part), confidence=confidence))
    results = [list(islice(annotated, len(part))) for part in cut]
    pairs = zip(block, results, strict=True)
    return [Document(own, text=given) if isinstance(given, str) else own[0] for given, own in pairs]


def _sentences(given: Iterable[object]) -> Iterator[Sentence]:
    for number, one in enumerate(given, start=1):
        if isinstance(one, str | SentencePair):
            found = f"{described(one)} as element {number}"
            raise WrongTypeError(f"found {found}, expected sentences; of texts: model.pipe(texts)")
        yield check_sentence(one, most=None)


def _fact(part: object, name: str, kind: type) -> Any:
    found = getattr(part, name, None)
    if isinstance(found, kind):
        return found
    parts = fields(part) if is_dataclass(part) else ()
    inner = (_fact(getattr(part, one.name), name, kind) for one in parts)
    return next(filter(None, inner), None)
