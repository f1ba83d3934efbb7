"""One model from text to trees: it cuts text into words, tags them and parses them.

Where tags are uncertain, arc scores are averaged over several tag sequences: the tagger sees a few words
around each word, the parser whole trees. Uncertain tags of the tagger's best sequence are changed one at a
time; a change stays where it raises the joint score of tagger and trees, by which sequences are weighted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, cast

import numpy as np

from qsproj.conventions import Floats, Numbers, Rng, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.messages import check_type
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.corpus.text import is_blank, lines_of
from qsproj.errors import UsageError, WrongTypeError, pluralise
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.constraints import Given
from qsproj.models.packing import joined, unnested
from qsproj.models.parser import (
    BLOCK,
    ArcPosterior,
    KnownPart,
    Parser,
    Posterior,
    TrainingTree,
    Wrapper,
    parser_in,
    trees_of,
)
from qsproj.models.schema import Archive, Arrays, anything, checked, text, whole
from qsproj.models.storage import described, kind_of, load_model_of
from qsproj.models.tagging.tagger import Tagger
from qsproj.parallel import blocks_of

Tags = tuple[str, ...]
TagNumbers = Numbers  # the tag of each word, by the tagger's numbers
# Tags with a lower tagger probability are not tried. The second number weights the expected score of a tree
# (log Z minus the entropy of the trees) against the tagger's log-potentials: a wrong tag, as of an auxiliary
# without a verb, leaves no tree that stands out. On dev files of three languages .2 to .35 were alike.
LEAST_TAG = 0.05
TRUST_IN_TREES = 0.2
# Where the tag of a word or of its head is wrong, probabilities are those of scores divided by this times the
# parser's temperature. On dev files of ten New Testaments 2.5 to 6 were alike.
FLATTER = 4.0
# Each tag tried costs O(n^3): sentences up to this length have all readings tried, longer ones as many as
# take the same time. 17 readings of 600 words took half a minute.
ALL_READINGS_WORDS = 150
MOST_READINGS = 1000  # limit of the tags tried in a sentence


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Scores of a sentence under several tag sequences."""

    scores: Scores  # float64[n+1, n+1]: mean arc scores, natural log, weighted by sequences' joint scores
    tags: Tags  # the most probable sequence
    doubts: Floats  # float64[n+1]: how probably each tag is wrong

    def arc_probabilities(self, parser: ArcParser) -> Scores:
        """Return arc probabilities float64[n+1, n+1], flattened where the tags are in doubt."""
        flatter = (parser.temperature, FLATTER * parser.temperature)
        right, wrong = (parser.inference.infer(self.scores / one)[1] for one in flatter)
        return right + 0.5 * (self.doubts + self.doubts @ right) * (wrong - right)


def readings_of(words: int, readings: int) -> int:
    """Return how many tag changes are tried in a sentence of ``words``, at most ``readings``."""
    if words <= ALL_READINGS_WORDS:
        return readings
    return readings * ALL_READINGS_WORDS**3 // words**3


def read_uncertain(
    parser: ArcParser, tagger: Tagger, sentence: Sentence, *, readings: int, retag: bool = False
) -> Readings:
    """Search tag sequences with the parser, from the tagger's best one on; average over all that were tried.

    ``sentence``: its tags stay, unless ``retag``. ``readings``: the largest number of single tag changes
    tried, the most probable first; fewer in long sentences, see :func:`readings_of`. O(readings n^3). The
    mean of log potentials is a product of experts.
    """
    places = np.arange(len(sentence))
    free = np.array([retag or tag == UNSPECIFIED for tag in sentence.upos], dtype=bool)
    emissions = tagger.emissions(sentence.forms)
    marginals = tagger.tag_distribution(sentence, emissions)

    def tags_of(numbers: TagNumbers) -> Tags:
        rows = zip(numbers.tolist(), free.tolist(), sentence.upos, strict=True)
        return tuple(tagger.tags[number] if changes else own for number, changes, own in rows)

    def read(numbers: TagNumbers) -> tuple[Scores, float]:
        """Return the arc scores under a tag sequence, and its joint log score up to a constant."""
        before = np.concatenate([[len(tagger.tags)], numbers[:-1]])
        of_tags = emissions[places, numbers] + tagger.transitions[before, numbers]
        scores = parser.scores(with_columns(sentence, upos=tags_of(numbers)))
        # The expected score of the trees, at the parser's temperature.
        tempered = scores / parser.temperature
        arcs = parser.inference.infer(tempered)[1]
        possible = arcs > 0.0
        of_trees = TRUST_IN_TREES * float(arcs[possible] @ tempered[possible])
        return scores, float(of_tags.sum()) + of_trees

    best = tagger.best_numbers(emissions)
    tried = [read(best)]
    most = tried[0][1]
    in_doubt = (marginals >= LEAST_TAG) & free[:, None]
    in_doubt[places, best] = False
    doubts = np.argwhere(in_doubt)
    order = np.argsort(-marginals[in_doubt], kind="stable")[: readings_of(len(sentence), readings)]
    for word, tag in doubts[order].tolist():
        numbers = best.copy()
        numbers[word] = tag
        tried.append(read(numbers))
        if tried[-1][1] > most:
            best, most = numbers, tried[-1][1]
    weights = np.exp(np.array([log_weight for _, log_weight in tried]) - most)
    mean: Scores = np.tensordot(weights / weights.sum(), [scores for scores, _ in tried], axes=1)
    tags = tags_of(best)
    mean = parser.with_marks(mean, with_columns(sentence, upos=tags), parser.inference)
    # The tagger's probability that its most probable tag is wrong; that of the root is 0.
    wrong = (1.0 - (1.0 - tagger.undoubted) * marginals.max(axis=1)) * free
    return Readings(mean, tags, np.concatenate([[0.0], wrong]))


@dataclass(frozen=True, kw_only=True, eq=False)
class TextParser(Wrapper[Parser]):
    """A tagger, which also cuts text into words, and a parser that reads its tags.

    The tagger's tokeniser or the rules of its language cut plain text; ``base`` is any model that parses.
    ``readings``: number of uncertain tags tried with a first-order parser where a sentence comes without
    tags; see :mod:`qsproj.models.text.text_parser`. 0: the best alone. ``retags``: replaces given tags.
    """

    tagger: Tagger
    base: Parser
    readings: int = 0
    retags: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        return ("forms",)

    @property
    def word_tagger(self) -> Tagger:
        return self.tagger

    def retagging(self) -> "TextParser":
        return replace(self, retags=True)

    def read(self, lines: Iterable[str], **options: Any) -> Iterator[Sentence]:
        """Yield one sentence for each line of text; ``options``: those of :meth:`Tagger.read`."""
        return self.tagger.read(lines, split_contractions=True, **options)

    def tag(self, sentence: Sentence, *, confidence: bool = False) -> Sentence:
        return self.tagger.tag(sentence, confidence=confidence)

    def parse(
        self,
        sentence: Sentence | str,
        *,
        decode: str = "mbr",
        confidence: bool = False,
        given: Given = None,
        retag: bool = False,
    ) -> Sentence:
        """Return the parsed sentence; words without UPOS are tagged first, with ``retag`` all words.

        ``sentence``: a text is one sentence, and cut into words; for several, see :meth:`parse_text`.
        Raises SentenceError, UsageError as the parser's own ``parse``; for a blank text, or several lines.
        """
        if isinstance(sentence, str):
            sentence = self._cut(sentence)
        parser = self.retagging() if retag else self
        return super(TextParser, parser).parse(sentence, decode=decode, confidence=confidence, given=given)

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        *,
        decode: str = "mbr",
        confidence: bool = False,
        known: KnownPart | None = None,
        retag: bool = False,
    ) -> Iterator[Sentence]:
        own = self.retagging() if retag else self
        how: dict[str, Any] = {"decode": decode, "confidence": confidence, "known": known}
        for uncertain, run in groupby(sentences, key=own._is_uncertain):
            if uncertain:
                yield from Parser.parse_all(own, run, **how)
            else:
                # As in other parsers, known parts are taken one by one.
                tagged = map(own._tagged, blocks_of(run, BLOCK if known is None else 1))
                yield from self.base.parse_all(chain.from_iterable(tagged), **how)

    def _is_uncertain(self, sentence: Sentence) -> bool:
        check_sentence(sentence)
        several = self.readings > 0 and isinstance(self.base, ArcParser)
        return several and (self.retags or UNSPECIFIED in sentence.upos)

    def readings_of(self, sentence: Sentence) -> tuple[int, int] | None:
        if not self._is_uncertain(sentence):
            return None
        return readings_of(len(sentence), self.readings), self.readings

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        parser, readings = self._readings(sentence, given)
        marginals = readings.arc_probabilities(parser) if confidence else None
        tagged = with_columns(sentence, upos=readings.tags)
        (tagged,) = self.tagger.with_morphology([tagged], anew=self.retags)
        heads = parser.heads(readings.scores, decode=decode)
        return parser.attached(tagged, heads, probabilities=marginals, given=given)

    def _readings(self, sentence: Sentence, given: Given) -> tuple[ArcParser, Readings]:
        (tagged,), parser = self._tagged([sentence]), cast(ArcParser, self.base)
        parser = replace(parser, inference=parser.constrained(tagged, given))
        # The parser reads features and lemmas of the best tags, whichever other tags are tried.
        if self.tagger.morphology is not None:
            sentence = with_columns(tagged, upos=sentence.upos)
        readings = self.readings
        return parser, read_uncertain(parser, self.tagger, sentence, readings=readings, retag=self.retags)

    def _cut(self, text: str) -> Sentence:
        lines = [line for line in lines_of(text) if not is_blank(line)]
        if len(lines) != 1:
            found = f"a text of {pluralise(len(lines), 'line')}"
            raise UsageError(f"found {found}, expected one sentence; for several: model(text)")
        (sentence,) = self.read(lines)
        return sentence

    def parse_text(self, text: str, *, paragraphs: bool = False, confidence: bool = False) -> list[Sentence]:
        """Return the parsed sentences of a text: one a line, or found in ``paragraphs``."""
        check_type(text, str, "a text")
        sentences = self.read(lines_of(text), paragraphs=paragraphs)
        return list(self.parse_all(sentences, confidence=confidence))

    # The tags of the sentence need no check, as they are filled in.
    arc_probabilities = Parser.arc_probabilities

    def check_input(self, sentence: Sentence | str) -> None:
        if not isinstance(sentence, str):
            check_sentence(sentence)

    def posterior(self, sentence: Sentence | str, given: Given = None) -> Posterior:
        if isinstance(sentence, str):
            sentence = self._cut(sentence)
        if self._is_uncertain(sentence):
            parser, readings = self._readings(sentence, given)
            return ArcPosterior(readings.arc_probabilities(parser))
        (tagged,) = self._tagged([sentence])
        return self.base.posterior(tagged, given)

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> "TextParser":
        from qsproj.models.tagging.tagger_training import fine_tuned_tagger

        tagger = fine_tuned_tagger(self.tagger, trees_of(trees), rng=rng)
        return replace(self, tagger=tagger, base=self.base.fine_tuned(trees, rng=rng))

    def _tagged(self, sentences: list[Sentence]) -> Iterable[Sentence]:
        """Return a block of sentences with UPOS on every word, their own kept unless the model ``retags``."""
        if self.base.word_tagger is not None:
            return sentences
        if self.retags or any(UNSPECIFIED in one.upos for one in sentences):
            rows = zip(sentences, self.tagger.tag_block(one.forms for one in sentences), strict=True)
            sentences = [with_columns(one, upos=map(self._tag, one.upos, tags)) for one, tags in rows]
        return self.tagger.with_morphology(sentences, anew=self.retags)

    def _tag(self, own: str, found: str) -> str:
        return found if self.retags or own == UNSPECIFIED else own

    def to_archive(self) -> Archive:
        header, arrays = joined({"tagger": ("tagger_", self.tagger), "parser": ("parser_", self.base)})
        header["parser"] = {"kind": kind_of(self.base), "model": header["parser"]}
        return header | {"readings": self.readings}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        part = header["parser"]
        return {
            "language": header["tagger"]["language"],
            "tagger": described("tagger", header["tagger"]),
            "parser": described(part["kind"], part["model"]),
        }

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "TextParser":
        checked(header, {"readings": whole(0, MOST_READINGS), "parser": anything, "tagger": anything})
        part = checked(header["parser"], {"kind": text, "model": anything})
        parser = parser_in(part["kind"], part["model"], arrays, "parser_")
        tagger = Tagger.from_archive(header["tagger"], unnested("tagger_", arrays))
        return TextParser(tagger=tagger, base=parser, readings=header["readings"])


def text_parser(tagger: Tagger, parser: Parser, *, readings: int = 0) -> TextParser:
    """Combine a tagger and a parser; of a text parser, its inner one is used.

    Raises UsageError when the parser does not read a sentence alone, needs its tree, or is to read several
    tags of a word and is not a first-order parser; for more than MOST_READINGS.
    """
    inner = parser.base if isinstance(parser, TextParser) else parser
    if not isinstance(inner, Parser) or "heads" in inner.reads:
        raise WrongTypeError(f"a model of kind {kind_of(inner)} does not parse; give a parser")
    if readings > MOST_READINGS:
        raise UsageError(f"found {readings:,} readings, expected {MOST_READINGS:,} at most")
    if readings and not isinstance(inner, ArcParser):
        found = f"found readings for a model of kind {kind_of(inner)}, which reads one tag of a word"
        remedy = "give a first-order parser without clusters or relations in its trees, or leave readings out"
        raise WrongTypeError(f"{found}; {remedy}")
    return TextParser(tagger=tagger, base=inner, readings=readings)


def load_text_parser(path: str | Path, *, remedy: str = "") -> TextParser:
    return load_model_of(path, TextParser, expected="a model that parses text", remedy=remedy)
