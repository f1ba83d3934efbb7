"""Fine-tuning of a parser on reviewed sentences in a separate process, with its measured gain."""

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
from qsproj.serve.review.correction import Belief, belief_of
from qsproj.serve.review.draft import Named
from qsproj.training.cross_fitting import cross_fit, in_order

_MOST_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Gain:
    """Cross-validated scores before and after training on reviewed sentences."""

    before: AttachmentScores
    after: AttachmentScores
    folds: int


def tagged_itself(parser: Parser, sentence: Sentence) -> bool:
    """Return whether the tags of a sentence equal those that a text parser predicts.

    If so, the parser saw no tags and averaged several tag sequences; scoring and reparsing do the same.
    """
    retagging = parser.retagging()
    return retagging is not None and retagging.parse(sentence).upos == sentence.upos


def parsed_as_used(parser: Parser, lesson: Lesson, *, retag: bool, confidence: bool = False) -> Sentence:
    """Return the parsed sentence; ``retag`` predicts its tags, see :func:`tagged_itself`.

    A joint parser parses it together with its translation, with the links of the aligner.
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
    """Return the gain of training on trees by cross-validation; None for a single tree.

    The gain is rather underestimated: the trees are corrected output of the parser. ``done`` is called after
    each training.
    """
    folds = min(_MOST_FOLDS, len(lessons))
    if folds < 2:
        return None
    trees = trees_of(lessons)
    own = [tagged_itself(parser, tree) for tree in trees]

    def fit(others: list[int]) -> Parser:
        tuned = parser.fine_tuned([lessons[number] for number in others], rng=np.random.default_rng(seed))
        done()
        return tuned

    def predict(tuned: Parser, number: int) -> Sentence:
        return parsed_as_used(tuned, lessons[number], retag=own[number])

    parsed = in_order(cross_fit(len(lessons), fit, predict, folds=folds))
    before = [parsed_as_used(parser, one, retag=retag) for one, retag in zip(lessons, own, strict=True)]
    scores_before, scores_after = attachment_scores(trees, [before, parsed])
    return Gain(scores_before, scores_after, folds)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The content and name of a file, and the indices of reviewed and remaining sentences."""

    content: bytes
    name: str
    reviewed: Sequence[int]
    left: Sequence[int]
    # for a joint parser: by index; corrected links are gold links
    pairs: Mapping[int, SentencePair] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrained:
    """The result of training."""

    beliefs: Mapping[int, Belief]  # of the remaining sentences, by index
    summary: Mapping[str, Any]  # for the page, as JSON: cross-validated scores, number of changed heads
    model: str | None = None  # the file of the trained parser, if accepted
    order: Sequence[int] = ()  # the remaining sentences, most informative first; empty: to be ranked


def retrained(
    parsed: Mapping[int, Sentence],
    sentences: Sequence[Sentence],
    summary: Mapping[str, Any],
    *,
    model: str,
    order: Sequence[int] = (),
) -> Retrained:
    """Return the result of training from the new parses of ``sentences``, by index; count changed heads."""
    beliefs = {index: belief_of(one) for index, one in parsed.items()}
    changed = sum(int((one.heads != sentences[index].heads).sum()) for index, one in parsed.items())
    return Retrained(beliefs, {**summary, "changed": changed, "model": model}, model, order)


@dataclass(frozen=True, slots=True)
class Retraining:
    """Train the parser of a draft on its reviewed sentences: the work of a :class:`ComputePool`.

    ``progress``: number of finished steps, and of all, in memory shared with the server.
    """

    parser: Parser
    output: str  # path of the trained parser
    seed: int
    progress: Any = field(default_factory=lambda: RawArray("i", 2))

    def __call__(self, given: Reviewed) -> Retrained:
        """Train, measure the gain, and parse the remaining sentences; a worse parser is rejected."""
        sentences = list(read_sentences(Named(given.content, given.name)))
        lessons = [given.pairs.get(index, sentences[index]) for index in given.reviewed]
        self.progress[:] = 0, min(_MOST_FOLDS, len(lessons)) + 2
        gain = gain_of(self.parser, lessons, seed=self.seed, done=self._done)
        summary: dict[str, Any] = {"reviewed": len(lessons), "left": len(given.left)}
        if gain is not None:
            scores = {"before": gain.before, "after": gain.after}
            shown = {key: {"uas": round(one.uas, 1), "las": round(one.las, 1)} for key, one in scores.items()}
            summary |= {"parts": gain.folds, **shown}
        if gain is not None and gain.after.las < gain.before.las:
            return Retrained({}, summary | {"changed": 0, "worse": True})
        tuned = self.parser.fine_tuned(lessons, rng=np.random.default_rng(self.seed))
        self._done()
        made = {"command": "serve", "version": __version__, "reviewed": len(lessons), "seed": self.seed}
        tuned.save(self.output, made=made)
        parsed = {}
        for index in given.left:
            own = sentences[index]
            lesson = given.pairs.get(index, own)
            retag = tagged_itself(self.parser, own)
            parsed[index] = parsed_as_used(tuned, lesson, retag=retag, confidence=True)
        self._done()
        return retrained(parsed, sentences, summary, model=self.output)

    def _done(self) -> None:
        self.progress[0] += 1
