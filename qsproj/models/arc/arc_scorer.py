"""Scores of arcs from hashed features: weights, the choice of features, and the trainer."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Floats, Hashes, Heads, Mask, Numbers, Scores, Weights
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError, pluralise
from qsproj.features.arc_templates import TEMPLATE_SETS, CompiledTemplates, arc_features, compile_templates
from qsproj.features.atoms import EncodedBlock, EncodedSentence, encode, encode_block, without_columns
from qsproj.kernels.features import arc_features as kernels
from qsproj.kernels.features.arc_features import NEGLIGIBLE, ArcFeatures, count_features, gather_arcs
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.parser import Parser
from qsproj.models.schema import Archive, Arrays, buckets, checked, one_of, optional, some_of
from qsproj.models.tree_decoder import arcs_in
from qsproj.training.loop import Trainer
from qsproj.training.margins import DualTree, Margins
from qsproj.training.objectives import Annealed, Objective
from qsproj.training.optimiser import SparseOptimiser

HASH_BITS = 22
CACHE_LINE = 64  # bytes


def zero_weights(*shape: int) -> Weights:
    """Return zeros float32, aligned to a cache line, as blocks of 16 buckets should be."""
    size = prod(shape)
    room = np.zeros(size + CACHE_LINE // 4, dtype=np.float32)
    first = -room.ctypes.data % CACHE_LINE // 4
    return room[first : first + size].reshape(shape)


@dataclass(frozen=True)
class HashedWeights:
    """A linear model over the features of a set of templates. Abstract.

    ``weights`` float32[buckets]: one for each hash bucket, a power of two of them; single precision halves
    the memory read at random. ``prefix``: of the names of its arrays in a model file.
    """

    template_set: str
    weights: Weights
    prefix: ClassVar[str]

    @classmethod
    def untrained(cls, template_set: str, *, hash_bits: int = HASH_BITS) -> Self:
        return cls(template_set, zero_weights(1 << hash_bits))

    def with_weights(self, weights: NDArray[Any]) -> Self:
        aligned = zero_weights(*weights.shape)
        aligned[:] = weights
        return replace(self, weights=aligned)

    def to_archive(self) -> Archive:
        header = {"template_set": self.template_set, "buckets": len(self.weights)}
        return header, packed_weights(self.prefix, self.weights)

    @classmethod
    def from_archive(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        checked(header, {"template_set": one_of(TEMPLATE_SETS), "buckets": buckets})
        return cls(header["template_set"], unpack_weights(cls.prefix, arrays, cls.zeros(header)))

    @classmethod
    def zeros(cls, header: dict[str, Any]) -> Weights:
        return zero_weights(header["buckets"])


# The attributes of a sentence that templates read, apart from the words, with their names in CoNLL-U.
IGNORABLE = {"upos": "UPOS", "xpos": "XPOS", "lemmas": "LEMMA", "feats": "FEATS"}


@dataclass(frozen=True)
class ArcWeights(HashedWeights):
    """Weights of the features of arcs; ``ignored``: columns empty in all training data, not read."""

    ignored: tuple[str, ...] = ()
    prefix = "arc_"

    @cached_property
    def templates(self) -> CompiledTemplates:
        return compile_templates(TEMPLATE_SETS[self.template_set])

    def encode(self, sentence: Sentence) -> EncodedSentence:
        return encode(without_columns(sentence, self.ignored), self.templates.attributes)

    def features(self, encoded: EncodedSentence) -> ArcFeatures:
        return arc_features(encoded, self.templates, len(self.weights))

    @abstractmethod
    def scores(self, features: ArcFeatures) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log, up to a constant."""

    def to_archive(self) -> Archive:
        header, arrays = super().to_archive()
        return ({**header, "ignored": list(self.ignored)} if self.ignored else header), arrays

    @classmethod
    def from_archive(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        checked(header, {"ignored": optional(some_of(IGNORABLE))})
        return replace(super().from_archive(header, arrays), ignored=tuple(header.get("ignored") or ()))


@dataclass(frozen=True)
class ArcScorer(ArcWeights):
    """The score of an arc is the sum of the weights of its features."""

    def scores(self, features: ArcFeatures) -> Scores:
        scores = np.zeros((len(features.tags), len(features.tags)))
        kernels.score_arcs(features, self.weights, 0, scores)
        return scores

    def scores_of(self, features: ArcFeatures, heads: Numbers, dependents: Numbers) -> Floats:
        """Return the :meth:`scores` of some arcs, float64[A], given their heads and dependents int32[A]."""
        return kernels.score_chosen_arcs(features, self.weights, heads, dependents)

    def encode_block(self, sentences: Sequence[Sentence]) -> EncodedBlock:
        read = [without_columns(sentence, self.ignored) for sentence in sentences]
        return encode_block(read, self.templates.attributes)

    def score_block(self, block: EncodedBlock) -> Floats:
        scores = np.zeros(int(np.sum(block.sizes**2)))
        kernels.score_block(self.features(block.words), self.weights, block.starts, block.sizes, scores)
        return scores


def bit_mask(chosen: Mask) -> Hashes:
    """Pack bool[buckets] into uint64[buckets / 64]; bucket b is bit b % 64 of word b // 64."""
    return np.packbits(chosen, bitorder="little").view(np.uint64)


Loss = TypeVar("Loss", bound=Objective | Margins | DualTree)
LossCo = TypeVar("LossCo", bound=Objective | Margins | DualTree, covariant=True)
Scorer = TypeVar("Scorer", bound=ArcWeights)
Stepper = TypeVar("Stepper", bound=SparseOptimiser)


# Without slots: the alias sets an attribute, and only a frozen class without slots refuses it as expected.
@dataclass(frozen=True, eq=False)
class LossExample(Generic[LossCo]):
    """A training sentence: its encoded words, and the objective of its arc scores."""

    encoded: EncodedSentence
    objective: LossCo


ArcExample = LossExample[Objective]


class ArcLearner(Trainer[LossExample[Loss], Scorer], Generic[Loss, Scorer, Stepper]):
    """Training from the weights of ``start``, for features in ``support`` uint64[buckets / 64]; None: all."""

    def __init__(
        self, start: Scorer, support: Hashes | None = None, *, rule: Callable[[Weights], Stepper]
    ) -> None:
        self.support = bit_mask(np.ones(len(start.weights), np.bool_)) if support is None else support
        self.live = start.with_weights(start.weights)
        self.rule = rule(self.live.weights.reshape(-1))
        self.epoch = 0

    def regularise(self) -> None:
        self.rule.regularise()
        self.epoch += 1

    def averaged(self) -> Scorer:
        return self.live.with_weights(self.rule.mean().reshape(self.live.weights.shape))


class ArcTrainer(ArcLearner[Objective, ArcScorer, SparseOptimiser]):
    """Learns the weights of an arc scorer by gradients, one sentence a step. Mutable."""

    def descend(self, features: ArcFeatures, slopes: Scores) -> None:
        """Take a step down the gradient of one sentence, float64[n+1, n+1] by its arc scores."""
        self.rule.gather(gather_arcs, features, slopes, self.support, NEGLIGIBLE)
        self.rule.step()

    def step(self, example: ArcExample) -> float:
        features = self.live.features(example.encoded)
        objective = example.objective
        if isinstance(objective, Annealed):
            objective = objective.in_epoch(self.epoch)
        loss, slopes = objective.value_and_gradient(self.live.scores(features))
        self.descend(features, slopes)
        return loss


SHORT = 5  # longer distances share features


def short_arcs(heads: Heads, most: float) -> Mask:
    places = np.arange(len(heads))
    short: Mask = np.abs(places[:, None] - places) <= most
    short[ROOT] = True
    return short


# The arcs that each criterion counts.
SUPPORTS: Mapping[str, Callable[[Heads], Mask]] = {
    "trees": arcs_in,
    "links": partial(short_arcs, most=np.inf),
    "short": partial(short_arcs, most=SHORT),
    "sentences": partial(short_arcs, most=np.inf),
}


def supported_by(
    template_set: str, examples: Iterable[tuple[EncodedSentence, Heads]], *, cutoff: int, criterion: str
) -> Hashes:
    """Find the buckets, uint64[buckets / 64], of features that occur at least ``cutoff`` times; 0: all.

    Examples are sentences with their heads int32[n+1], whole or partial. The criterion is a key of SUPPORTS:
    ``trees`` counts gold arcs, which makes small and accurate models; ``links`` all candidate arcs;
    ``short`` those of at most SHORT words; ``sentences`` the sentences that have a candidate arc with the
    feature, for use with few or no trees. *Source*: thesis 2.8.3 (supported features, count cut-off).
    """
    counts = np.zeros(1 << HASH_BITS, dtype=np.uint16)
    if cutoff:
        arcs_of, templates = SUPPORTS[criterion], compile_templates(TEMPLATE_SETS[template_set])
        last = np.full(len(counts), -1, dtype=np.int32)
        for number, (encoded, heads) in enumerate(examples):
            features = arc_features(encoded, templates, len(counts))
            once_each = number if criterion == "sentences" else -1
            count_features(features, arcs_of(heads), counts, last, once_each)
    supported = counts >= cutoff
    if cutoff > 1 and not supported.any():
        raise NothingToLearnError(f"no feature has {pluralise(cutoff, 'occurrence')}; lower the cutoff")
    return bit_mask(supported)


# Tags that no treebank has: their features have weights only by hash collisions.
_NO_TAGS = tuple(f"<no tag {number}>" for number in range(32))
# A tag counts as known if, beside one of the commonest tags, the mean absolute weight of its features is this
# many standard deviations above the mean of unknown tags. Two of the same tag may never be linked.
_MORE_KNOWN, _COMPANY = 5.0, 5
_ARCS = ~np.eye(4, dtype=bool) & (np.arange(4) > 0)  # the arcs of a three-word sentence


def share_of_known_tags(parser: Parser, sentences: Sequence[Sentence], *, fewest_words: int) -> float | None:
    """Return the share of words whose UPOS has weights, so that the parser knows it; None for fewer words."""
    scorer = getattr(parser.layers()[-1], "scorer", None)
    if not isinstance(scorer, ArcScorer) or "upos" in parser.ignored:
        return None
    counts = Counter(tag for one in sentences for tag in one.upos if tag != UNSPECIFIED)
    if counts.total() < fewest_words:
        return None
    # The number of features is the same for all tags, so that sums of scores are compared.
    sizes = scorer.with_weights(np.abs(scorer.weights))

    def weighted(tag: str, other: str) -> float:
        features = scorer.features(scorer.encode(Sentence.from_words(["_"] * 3, upos=[tag, other, tag])))
        return float(sizes.scores(features)[_ARCS].sum())

    least = dict[str, float]()
    for other, _ in counts.most_common(_COMPANY):
        unseen = [weighted(none, other) for none in _NO_TAGS]
        least[other] = max(*unseen, float(np.mean(unseen) + _MORE_KNOWN * np.std(unseen)))
    known = {tag for tag in counts if any(weighted(tag, other) > least[other] for other in least)}
    return sum(counts[tag] for tag in known) / counts.total()
