"""The contract of parsers: the methods that commands, servers and pipelines call on any kind."""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from qsproj.conventions import Rng, Scores
from qsproj.corpus.editing import with_kept_deps
from qsproj.corpus.messages import check_type
from qsproj.corpus.sentence import Sentence, SentencePair, check_sentence
from qsproj.errors import DataError, UsageError
from qsproj.models.constraints import Constraints, Given, known_part
from qsproj.models.packing import unnested
from qsproj.models.schema import Arrays
from qsproj.models.storage import Stored, is_of_kind, kind_of, load_model, model_from
from qsproj.parallel import blocks_of

if TYPE_CHECKING:
    from qsproj.models.tagging.tagger import Tagger

# A training tree, or for a joint parser a pair whose target has one.
TrainingTree = Sentence | SentencePair
KnownPart = Callable[[Sentence], Constraints]  # returns the known part of a sentence to parse
Base = TypeVar("Base", bound="Parser")
BLOCK = 32  # number of sentences that each kernel processes at once


class Posterior(Protocol):
    """Beliefs about the tree of one sentence."""

    @property
    def marginals(self) -> Scores:
        """float64[n+1, n+1], the probability of each arc [head, dependent]; columns 1..n sum to one."""


@dataclass(frozen=True, slots=True, eq=False)
class ArcPosterior:
    """Probabilities of the arcs of one sentence, float64[n+1, n+1], [head, dependent]."""

    marginals: Scores


class Parser(Stored):
    """A model that predicts trees. Abstract.

    A kind of parser implements :meth:`parsed` (or :meth:`parse_all`) and :meth:`posterior`, and declares
    :attr:`reads`. That is enough for every command. It receives known parts of trees (``parse --fixed``, the
    review page) as :class:`~qsproj.models.constraints.Constraints`, which its trees must satisfy. It can be
    trained further if it implements :meth:`fine_tuned`. A model that wraps another parser is a
    :class:`Wrapper`, which delegates all other methods to its :attr:`base`.

    ``base``: the inner parser, such as the first order of a second-order parser, or None. ``refuses_parts``:
    why partial trees are refused; None: they are accepted. ``refuses_training``: why :meth:`fine_tuned`
    refuses; None: it trains. ``block``: number of sentences that :meth:`parsed_block` takes.
    """

    __slots__ = ()
    base: "Parser | None"
    refuses_parts: ClassVar[str | None] = None
    refuses_training: ClassVar[str | None] = "models of its kind are not trained again"
    # Whether it has ``parse_pair``, for both sides of a sentence pair, and is trained on pairs.
    parses_pairs: ClassVar[bool] = False
    block: ClassVar[int] = 1

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A kind without a field of that name wraps no parser.
        if not any("base" in inspect.get_annotations(one) for one in cls.__mro__ if one is not Parser):
            cls.base = None

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns that the model reads, ``heads`` for trees; of ``upos``, ``xpos`` one must be filled."""
        return () if self.base is None else self.base.reads

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that the model's features read, but that were empty in all training data."""
        return () if self.base is None else self.base.ignored

    @property
    def word_tagger(self) -> "Tagger | None":
        """The tagger that tokenizes plain text and tags words without UPOS, or None."""
        return None if self.base is None else self.base.word_tagger

    def cut(self, text: str) -> Iterator[Sentence]:
        tagger = self.word_tagger
        return super().cut(text) if tagger is None else tagger.cut(text)

    def layers(self) -> "list[Parser]":
        """Return this parser and the parsers that it wraps, from the outside in."""
        return [self, *([] if self.base is None else self.base.layers())]

    def readings_of(self, sentence: Sentence) -> tuple[int, int] | None:
        """Return the number of tags tried in a sentence, and in a short one; None: tags are fixed."""
        return None

    def parse(
        self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False, given: Given = None
    ) -> Sentence:
        """Return the sentence with heads and relations.

        ``decode``: ``mbr``, the tree with the highest expected number of correct heads, or ``map``, the most
        probable tree. A parser with relations in its trees (``labels="joint"``) counts heads whose relation
        is correct, too. ``confidence``: add ``ArcProb=``, the probability of each arc, to MISC (a labelled
        parser also ``RelProb=``, of arc and relation). ``given``: the known part of the tree, which stays;
        the rest, and the probabilities, are conditioned on it (:func:`complete` takes a partial sentence).

        Raises SentenceError when the model has no such tree, naming heads that exclude each other;
        SentenceLengthError for more than MAX_WORDS words; UntaggedError when no word has a tag and the parser
        reads tags, which :meth:`parse_all` accepts; UsageError when ``decode`` is unknown.
        """
        self.check_input(sentence)
        expected = "its known part; for a partial sentence: qsproj.complete(model, sentence)"
        check_type(given, Constraints | None, expected, "given")
        known = None if given is None else lambda _: given
        return next(self.parse_all([sentence], decode=decode, confidence=confidence, known=known))

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        *,
        decode: str = "mbr",
        confidence: bool = False,
        known: KnownPart | None = None,
    ) -> Iterator[Sentence]:
        """Parse sentences in order, several at a time where that is faster; see :meth:`parse`.

        ``known`` returns the known part of each sentence, as :func:`~qsproj.models.constraints.known_part`
        does from the sentence's own columns. An error concerns the sentence last taken from ``sentences``.
        """
        if known is not None:
            check_takes_parts(self)
        # With known parts one at a time: an error concerns the last sentence taken.
        for block in blocks_of(map(check_sentence, sentences), self.block if known is None else 1):
            given = [None if known is None else known(one) for one in block]
            yield from self.parsed_block(block, given, decode=decode, confidence=confidence)

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        """Return one sentence parsed, with the known part ``given``; see :meth:`parse`."""
        raise NotImplementedError

    def parsed_block(
        self, sentences: list[Sentence], given: list[Given], *, decode: str, confidence: bool
    ) -> Iterable[Sentence]:
        """Parse several sentences, each with its known part; by default one after the other."""
        for sentence, own in zip(sentences, given, strict=True):
            yield self.parsed(sentence, decode=decode, confidence=confidence, given=own)

    @abstractmethod
    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        """Return beliefs about the tree of a sentence, given its known part; SentenceError without a tree."""

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior probability of every arc, float64[n+1, n+1]; columns 1..n sum to one."""
        self.check_input(sentence)
        return self.posterior(sentence).marginals

    def check_input(self, sentence: Sentence) -> None:
        """Raise UntaggedError for a single sentence without the tags that the model reads."""
        self._checked(check_sentence(sentence))

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> "Parser":
        """Return a parser trained further on trees, whole or partial; UsageError where it cannot be."""
        raise UsageError(self.refuses_training or f"a model of kind {kind_of(self)} is not trained again")

    def allowing_crossings(self) -> "Parser | None":
        """Return a parser of the same weights with crossing arcs; None if arcs may cross or there is none."""
        return None

    def retagging(self) -> "Parser | None":
        """Return the parser that uses its own tags, whatever UPOS sentences have; None: it has none."""
        return None


def is_plain(given: list[Given], *, decode: str, confidence: bool) -> bool:
    """Return whether sentences without known parts are parsed by ``mbr``, without probabilities."""
    return decode == "mbr" and not confidence and given == [None] * len(given)


def trees_of(trees: Sequence[TrainingTree]) -> list[Sentence]:
    return [tree.target if isinstance(tree, SentencePair) else tree for tree in trees]


class Wrapper(Parser, Generic[Base]):
    """A parser that delegates to another one, its ``base``, by default. Abstract."""

    __slots__ = ()
    base: Base

    def prepared(self, sentence: Sentence) -> Sentence:
        return sentence

    @property
    def refuses_training(self) -> str | None:  # type: ignore[override]
        return self.base.refuses_training

    @property
    def refuses_parts(self) -> str | None:  # type: ignore[override]
        return self.base.refuses_parts

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        *,
        decode: str = "mbr",
        confidence: bool = False,
        known: KnownPart | None = None,
    ) -> Iterator[Sentence]:
        prepared = map(self.prepared, sentences)
        return self.base.parse_all(prepared, decode=decode, confidence=confidence, known=known)

    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        return self.base.posterior(self.prepared(sentence), given)

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        return self.base.arc_probabilities(self.prepared(sentence))

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> Self:
        return self.over(self.base.fine_tuned(trees, rng=rng))

    def allowing_crossings(self) -> Parser | None:
        other = self.base.allowing_crossings()
        return None if other is None else self.over(other)

    def over(self, base: Any) -> Self:
        changed: Any = self
        return replace(changed, base=base)


def complete(
    parser: Parser, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False, retag: bool = False
) -> Sentence:
    """Parse a sentence given its known part.

    Known heads, relations, tags and spans (``Span=3-7`` in MISC) stay; all else is inferred given these.
    Unknown heads are -1, unknown relations and tags ``_``. ``parser`` is any model that parses, as
    :func:`qsproj.load_model` returns it; ``decode``, ``confidence``, ``retag``: as in its ``parse``.

    Raises SentenceError when no tree of the parser has that part, naming the heads that exclude each other;
    UsageError when the model, such as a converter, needs whole trees.
    """
    check_type(parser, Parser, "a parser")
    check_sentence(sentence)
    check_takes_parts(parser)
    parser = (parser.retagging() if retag else None) or parser
    parsed = parser.parse(sentence, decode=decode, confidence=confidence, given=known_part(sentence))
    return with_kept_deps(parsed, sentence)


def check_takes_parts(parser: Parser) -> None:
    if parser.refuses_parts is not None:
        raise UsageError(parser.refuses_parts)


def parser_in(kind: str, header: Any, arrays: Arrays, prefix: str) -> Parser:
    """Return the parser within a model; ValueError for a kind that does not parse."""
    parser = model_from(kind, header, unnested(prefix, arrays))
    if not isinstance(parser, Parser):
        raise ValueError(f"a model of kind {kind} does not parse")
    return parser


def load_parser(path: str | Path) -> Parser:
    model = load_model(path)
    if isinstance(model, Parser):
        return model
    found = f"a model of kind {kind_of(model)}, which does not parse"
    raise DataError(str(path), None, found=found, expected="a parser", remedy="train one: qsproj train")


def load_tags(path: str | Path) -> "Tagger":
    """Load a tagger, or that of a model that parses text; DataError for another kind."""
    model: Any = load_model(path)
    tagger: Tagger | None = model if is_of_kind(model, "tagger") else getattr(model, "word_tagger", None)
    if tagger is not None:
        return tagger
    remedy = "train one: qsproj train-tagger"
    raise DataError(str(path), None, f"a model of kind {kind_of(model)}", "a tagger", remedy)


def load_alone(path: str | Path) -> "tuple[Tagger | None, Parser | None]":
    """Load the tagger and the parser of a model of single sentences, one or both; DataError for another."""
    model: Any = load_model(path)
    if is_of_kind(model, "tagger"):
        return model, None
    if isinstance(model, Parser) and not model.parses_pairs and "heads" not in model.reads:
        return model.word_tagger, model
    expected = "one that tags or parses a sentence alone"
    remedy = "give a parser, a tagger, or both in one (qsproj bundle)"
    raise DataError(str(path), None, f"a model of kind {kind_of(model)}", expected, remedy)
