"""One model from text to trees: it cuts text into words, tags them and parses them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, cast

from qsproj.conventions import Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.language.sentence_ends import cut_long_lines
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import UsageError, counted
from qsproj.models import storage
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.packing import nested, unnested
from qsproj.models.schema import Archive, Arrays, anything, checked, optional, text, whole
from qsproj.models.storage import Parser, Stored, is_of_kind, kind_of, parse_each
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.text.uncertain_tags import Readings, read_uncertain, readings_of

# Of tags that are tried in a sentence.
MOST_READINGS = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class TextParser(Stored):
    """A tagger, which also knows how text is cut into words, and a parser that reads its tags.

    The tagger's tokeniser or the rules of its language cut plain text; the parser is any model that parses.
    ``readings``: so many tags that the tagger doubts are tried with a first-order parser where a sentence
    comes without tags; see :mod:`qsproj.models.text.uncertain_tags`. 0: the best sequence alone.
    """

    tagger: Tagger
    parser: Parser
    readings: int = 0

    def read(
        self,
        lines: Iterable[str],
        *,
        language: str | None = None,
        paragraphs: bool = False,
        segmentations: int | None = None,
        name: str = "text",
    ) -> Iterator[Sentence]:
        """Yield one sentence for each line of plain text, cut into words; see :meth:`Tagger.read`."""
        return self.tagger.read(
            lines,
            language=language,
            name=name,
            paragraphs=paragraphs,
            segmentations=segmentations,
            split_contractions=True,
        )

    def tag(self, sentence: Sentence) -> Sentence:
        return self.tagger.tag(sentence)

    def parse(
        self, sentence: Sentence | str, *, decode: str = "mbr", confidence: bool = False, retag: bool = False
    ) -> Sentence:
        """Return the sentence parsed; words without UPOS are tagged first, with ``retag`` all words.

        ``sentence``: A text is one sentence, and cut into words; for several, see :meth:`parse_text`.

        Raises SentenceError, UsageError as the parser's own ``parse``; when a text is blank, or has several
        lines.
        """
        if isinstance(sentence, str):
            sentence = self._cut(sentence)
        return next(self.parse_all([sentence], decode=decode, confidence=confidence, retag=retag))

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        *,
        decode: str = "mbr",
        confidence: bool = False,
        retag: bool = False,
    ) -> Iterator[Sentence]:
        for uncertain, run in groupby(sentences, key=partial(self._is_uncertain, retag=retag)):
            if uncertain:
                for sentence in run:
                    yield self._parsed(sentence, decode=decode, confidence=confidence, retag=retag)
                continue
            tagged = (self.tagged(sentence, retag=retag) for sentence in run)
            yield from parse_each(self.parser, tagged, decode=decode, confidence=confidence)

    def _is_uncertain(self, sentence: Sentence, *, retag: bool = False) -> bool:
        """Tell whether the sentence is read by several tag sequences, not by one."""
        several = self.readings > 0 and isinstance(self.parser, ArcParser)
        return several and (retag or UNSPECIFIED in sentence.upos)

    def readings_of(self, sentence: Sentence, *, retag: bool = False) -> int | None:
        """Return how many other tags are tried in a sentence at most; None where none is in doubt."""
        in_doubt = self._is_uncertain(sentence, retag=retag)
        return readings_of(len(sentence), self.readings) if in_doubt else None

    def _parsed(self, sentence: Sentence, *, decode: str, confidence: bool, retag: bool) -> Sentence:
        parser = cast(ArcParser, self.parser)
        readings = self._readings(sentence, retag=retag)
        marginals = readings.arc_probabilities(parser) if confidence else None
        return parser.attached(
            self.tagger.with_morphology(with_columns(sentence, upos=readings.tags), anew=retag),
            parser.heads(readings.scores, decode=decode),
            probabilities=marginals,
        )

    def _readings(self, sentence: Sentence, *, retag: bool = False) -> Readings:
        check_sentence(sentence)
        parser = cast(ArcParser, self.parser)
        # What a parser reads of features and lemmas is that of the best tags, whichever others are tried.
        if self.tagger.morphology is not None:
            sentence = with_columns(self.tagged(sentence, retag=retag), upos=sentence.upos)
        return read_uncertain(parser, self.tagger, sentence, readings=self.readings, retag=retag)

    def _cut(self, text: str) -> Sentence:
        """Return a text of one sentence, cut into words."""
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) != 1:
            raise UsageError(
                f"found a text of {counted(len(lines), 'line')}, expected one sentence; for several, one a "
                "line: parse_text"
            )
        (sentence,) = self.read(lines)
        return sentence

    def parse_text(self, text: str, *, paragraphs: bool = False) -> list[Sentence]:
        """Return the sentences of a text, one a line, parsed; with ``paragraphs``, of running text."""
        return list(self.parse_all(cut_long_lines(self.read(text.splitlines(), paragraphs=paragraphs))))

    def arc_probabilities(self, sentence: Sentence | str) -> Scores:
        """Return the posterior probability of every arc, float64[n+1, n+1]; words without UPOS are tagged."""
        if isinstance(sentence, str):
            sentence = self._cut(sentence)
        if self._is_uncertain(sentence):
            return self._readings(sentence).arc_probabilities(cast(ArcParser, self.parser))
        return self.parser.arc_probabilities(self.tagged(sentence))

    def tagged(self, sentence: Sentence, *, retag: bool = False) -> Sentence:
        """Return the sentence with UPOS on every word, its own kept unless ``retag``."""
        if is_of_kind(self.parser, storage.TAGGING_PARSER):
            return sentence
        if not retag and UNSPECIFIED not in sentence.upos:
            return self.tagger.with_morphology(sentence, anew=False)
        tags = self.tagger.tag_words(sentence.forms)
        if not retag:
            pairs = zip(sentence.upos, tags, strict=True)
            tags = tuple(tag if own == UNSPECIFIED else own for own, tag in pairs)
        return self.tagger.with_morphology(with_columns(sentence, upos=tags), anew=retag)

    def to_archive(self) -> Archive:
        tagger_header, tagger_arrays = self.tagger.to_archive()
        parser_header, parser_arrays = cast(Stored, self.parser).to_archive()
        header = {
            "tagger": tagger_header,
            "parser": {"kind": kind_of(self.parser), "model": parser_header},
            "readings": self.readings,
        }
        return header, {**nested("tagger_", tagger_arrays), **nested("parser_", parser_arrays)}

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        part = header["parser"]
        return {
            "language": header["tagger"]["language"],
            "tagger": storage.described("tagger", header["tagger"]),
            "parser": storage.described(part["kind"], part["model"]),
        }

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "TextParser":
        readings = optional(whole(0, MOST_READINGS))
        checked(header, {"readings": readings, "parser": anything, "tagger": anything})
        part = checked(header["parser"], {"kind": text, "model": anything})
        parser = storage.model_from(part["kind"], part["model"], unnested("parser_", arrays))
        if not isinstance(parser, Parser):
            raise ValueError(f"a model of kind {part['kind']} does not parse")
        tagger = Tagger.from_archive(header["tagger"], unnested("tagger_", arrays))
        return TextParser(tagger=tagger, parser=parser, readings=header.get("readings") or 0)


def text_parser(tagger: Tagger, parser: Parser, *, readings: int = 0) -> TextParser:
    """Put a tagger and a parser together.

    A parser that is a text parser itself gives its parser, under the new tagger. ``readings`` is that of
    :class:`TextParser`.

    Raises UsageError when the parser is a model of pairs or trees, which does not read a sentence alone, or
    is to read several tags of a word and is not a first-order parser; for more than MOST_READINGS.
    """
    inner = parser.parser if isinstance(parser, TextParser) else parser
    if not isinstance(inner, Parser):
        raise UsageError(f"a model of kind {kind_of(inner)} does not parse; give a parser")
    if readings > MOST_READINGS:
        raise UsageError(f"found {readings:,} readings, expected {MOST_READINGS:,} at most")
    if readings and not isinstance(inner, ArcParser):
        raise UsageError(
            f"found readings for a model of kind {kind_of(inner)}, which reads one tag of a word; give a "
            "first-order parser without clusters or relations in its trees, or leave readings out"
        )
    return TextParser(tagger=tagger, parser=inner, readings=readings)
