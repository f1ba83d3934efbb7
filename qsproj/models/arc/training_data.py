"""What is read off training sentences before anything is learned: which can be used, and for what parser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, UsageError, counted, unknown_name
from qsproj.features.arc_templates import TEMPLATE_SETS
from qsproj.models.arc.arc_examples import usable_sentences, why_unusable
from qsproj.models.tree_inference import TreeInference, choose_inference


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Sentences that can be learned from, and the parser that they ask for.

    Attributes
    ----------
    sentences : list of Sentence
        Those that are not too long and have a head.
    skipped : dict of str to int
        How many of the others there are, by the reason.
    template_set : str
        A name in :data:`qsproj.features.arc_templates.TEMPLATE_SETS`.
    inference : TreeInference
    weights : list of float
        How much each sentence counts.
    """

    sentences: list[Sentence]
    skipped: dict[str, int]
    template_set: str
    inference: TreeInference
    weights: list[float]


def training_data(
    sentences: Sequence[Sentence],
    *,
    template_set: str | None,
    projective: bool | None,
    single_root: bool | None,
    weights: Sequence[float] | None = None,
) -> TrainingData:
    """Choose sentences, and read off them what is None.

    Raises
    ------
    UsageError
        When the template set is unknown, or reads tags alone and finds none; when there are more or fewer
        weights than sentences, or one is below 0 or not finite.
    """
    usable, skipped = usable_sentences(sentences)
    given = checked_weights(weights, sentences)
    chosen = template_set or richest_template_set(usable)
    if chosen not in TEMPLATE_SETS:
        raise unknown_name("features", chosen, list(TEMPLATE_SETS))
    if chosen == "delexicalised" and all(set(sentence.upos) <= {UNSPECIFIED} for sentence in usable):
        raise NothingToLearnError(
            "no word of the training data has a UPOS tag, which is all that delexicalised features read; "
            "tag it first (qsproj tag)"
        )
    inference = choose_inference(
        [sentence.heads for sentence in usable], projective=projective, single_root=single_root
    )
    kept = [weight for weight, sentence in zip(given, sentences, strict=True) if not why_unusable(sentence)]
    return TrainingData(usable, skipped, chosen, inference, kept)


def checked_weights(weights: Sequence[float] | None, sentences: Sequence[Sentence]) -> list[float]:
    """Return the weight of each sentence, 1 unless given; UsageError as of :func:`training_data`."""
    if weights is None:
        return [1.0] * len(sentences)
    if len(weights) != len(sentences):
        raise UsageError(
            f"found {counted(len(weights), 'weight')} for {counted(len(sentences), 'sentence')}, "
            "expected one for each"
        )
    for number, weight in enumerate(weights, start=1):
        if not 0.0 <= weight < math.inf:
            raise UsageError(f"found {weight} as the weight of sentence {number}, expected 0 or more")
    return [float(weight) for weight in weights]


def richest_template_set(sentences: Sequence[Sentence]) -> str:
    """Return ``morphology`` when any word has a lemma, XPOS or FEATS, else ``words``."""
    for sentence in sentences:
        if any(cell != "_" for cell in (*sentence.lemmas, *sentence.xpos, *sentence.feats)):
            return "morphology"
    return "words"
