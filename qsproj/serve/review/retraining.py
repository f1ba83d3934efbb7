"""Training a parser on what was reviewed, in a process of its own, and what that gains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import RawArray
from typing import Any

import numpy as np

from qsproj import __version__
from qsproj.corpus.formats import read_sentences
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.models.parser import Lesson, Parser, trees_of
from qsproj.serve.review.correction import arc_chances
from qsproj.serve.review.draft import Named

_MOST_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Gain:
    """Scores before and after training on reviewed sentences, each fold of these parsed without it."""

    before: AttachmentScores
    after: AttachmentScores
    folds: int


def trained_again(parser: Parser, lessons: Sequence[Lesson], *, seed: int) -> Parser:
    """Return a parser that has learned from some trees more, as by ``qsproj project --annotated``.

    Raises UsageError for a model that does not learn so, as a converter.
    """
    return parser.fine_tuned(lessons, rng=np.random.default_rng(seed))


def tagged_itself(parser: Parser, sentence: Sentence) -> bool:
    """Tell whether the tags of a sentence are those that a parser of text gives to it.

    Then it parsed the sentence without tags, and by several readings: so it is measured, and parses again.
    """
    retagging = parser.retagging()
    return retagging is not None and retagging.parse(sentence).upos == sentence.upos


def parsed_as_used(parser: Parser, lesson: Lesson, *, retag: bool, confidence: bool = False) -> Sentence:
    """Return a sentence parsed, as from plain text where ``retag``, see :func:`tagged_itself`.

    A joint parser parses it together with its translation, by the links of the aligner.
    """
    if isinstance(lesson, SentencePair):
        of_pairs: Any = parser
        target: Sentence = of_pairs.parse_pair(lesson.source, lesson.target, lesson.alignment).target
        return target
    parser = (parser.retagging() if retag else None) or parser
    return parser.parse(lesson, confidence=confidence)


def gain_of(
    parser: Parser, lessons: Sequence[Lesson], *, seed: int, done: Callable[[], None] = lambda: None
) -> Gain | None:
    """Return what it gains to train on trees, each part of them held out in turn; None for a single tree.

    The trees began as the parser's own output: the gain is rather too small than too large. ``done`` is
    called after each part.
    """
    folds = min(_MOST_FOLDS, len(lessons))
    if folds < 2:
        return None
    trees = trees_of(lessons)
    own = [tagged_itself(parser, tree) for tree in trees]
    parsed = list[Sentence](trees)
    for fold in range(folds):
        rest = [lesson for number, lesson in enumerate(lessons) if number % folds != fold]
        tuned = trained_again(parser, rest, seed=seed)
        for number in range(fold, len(trees), folds):
            parsed[number] = parsed_as_used(tuned, lessons[number], retag=own[number])
        done()
    before = [parsed_as_used(parser, one, retag=retag) for one, retag in zip(lessons, own, strict=True)]
    scores_before, scores_after = attachment_scores(trees, [before, parsed])
    return Gain(scores_before, scores_after, folds)


NewTree = tuple[tuple[int, ...], tuple[str, ...], tuple[float | None, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A file with its name, and which of its sentences are reviewed, and which are left."""

    content: bytes
    name: str
    reviewed: Sequence[int]
    left: Sequence[int]
    # for a joint parser: by index, with the links that were corrected as links by hand
    pairs: Mapping[int, SentencePair] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrained:
    """The result of training."""

    # (heads, relations, chances, upos) of the sentences that are left, by their index
    beliefs: Mapping[int, NewTree]
    told: Mapping[str, Any]  # for the page, as JSON: scores on held-out sentences, how many heads changed
    model: str | None = None  # the file of the trained parser, where it is taken


@dataclass(frozen=True, slots=True)
class Retraining:
    """Trains the parser that made a draft on what was reviewed: the work of a :class:`ComputePool`.

    ``progress``: parts that are done, and all parts, which the server sees as they change.
    """

    parser: Parser
    output: str  # where the trained parser is written
    seed: int
    progress: Any = field(default_factory=lambda: RawArray("i", 2))

    def __call__(self, given: Reviewed) -> Retrained:
        """Train, measure what it gains, and parse what is left; a parser that became worse is not taken."""
        sentences = list(read_sentences(Named(given.content, given.name)))
        lessons = [given.pairs.get(index, sentences[index]) for index in given.reviewed]
        self.progress[:] = 0, min(_MOST_FOLDS, len(lessons)) + 2
        gain = gain_of(self.parser, lessons, seed=self.seed, done=self._done)
        told: dict[str, Any] = {"reviewed": len(lessons), "left": len(given.left)}
        if gain is not None:
            told |= {"parts": gain.folds, "before": _scores(gain.before), "after": _scores(gain.after)}
        if gain is not None and gain.after.las < gain.before.las:
            return Retrained({}, told | {"changed": 0, "worse": True})
        tuned = trained_again(self.parser, lessons, seed=self.seed)
        self._done()
        made = {"command": "serve", "version": __version__, "reviewed": len(lessons), "seed": self.seed}
        tuned.save(self.output, made=made)
        parsed = {
            index: parsed_as_used(
                tuned,
                given.pairs.get(index, sentences[index]),
                retag=tagged_itself(self.parser, sentences[index]),
                confidence=True,
            )
            for index in given.left
        }
        beliefs = {
            index: (tuple(one.heads.tolist()[1:]), one.deprels, arc_chances(one), one.upos)
            for index, one in parsed.items()
        }
        changed = sum(int((parsed[index].heads != sentences[index].heads).sum()) for index in given.left)
        self._done()
        return Retrained(beliefs, told | {"changed": changed, "model": self.output}, self.output)

    def _done(self) -> None:
        self.progress[0] += 1


def _scores(scores: AttachmentScores) -> dict[str, float]:
    return {"uas": round(scores.uas, 1), "las": round(scores.las, 1)}
