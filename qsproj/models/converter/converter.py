"""The converter: from a tree in one annotation style to a tree in another over the same words.

An edge-factored conditional log-linear model of the target tree. The score of an arc is a prior for what the
source tree and its turned trees have, plus learned weights of features that say how the two words are related
in the source tree.

*Source*: thesis 4.1 and 4.4. Turned trees, path features and copied relations are ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Floats, Heads, Scores, frozen_heads
from qsproj.corpus.editing import ARC_PROBABILITY, with_predicted_heads, with_probabilities
from qsproj.corpus.sentence import Sentence, check_sentence, has_tree
from qsproj.errors import MissingTreeError
from qsproj.features.adaptation_templates import ARC_TEMPLATES, compile_templates, encode_source
from qsproj.kernels.adaptation import adaptation_features as kernels
from qsproj.kernels.adaptation.source_paths import SourceNodes
from qsproj.models.converter.converter_relations import RelationAdapter
from qsproj.models.converter.converter_turns import TurnModel
from qsproj.models.packing import nested, packed_weights, unnested, unpack_weights
from qsproj.models.schema import Archive, Arrays, anything, checked, flag, labels, number, one_of
from qsproj.models.storage import KINDS, Parser, Stored, described, kind_of, model_from
from qsproj.models.tree_inference import TreeInference, check_decoder, of_tree
from qsproj.trees import nonprojective
from qsproj.trees.crossings import crossing_arcs

HASH_BITS = 20
# Score of an arc that both turned trees of the source have, before anything is learned; and in a converter
# that has learned nothing, which returns its source.
PRIOR, UNTRAINED_PRIOR = 3.0, 30.0
# Of arc posteriors, so many trees are looked at, the most probable ones.
SOURCE_TREES = 8


class WeightedSource(NamedTuple):
    """A source tree and its probability."""

    share: float
    nodes: SourceNodes


@dataclass(frozen=True, slots=True)
class Conversion:
    """Read-only heads int32[n+1], relations, and the probability of the arc into each word, float64[n]."""

    heads: Heads
    relations: tuple[str, ...]
    probabilities: Floats


@dataclass(frozen=True)
class Converter(Stored):
    """Converts trees of one annotation style to another; learned from trees in both.

    ``weights`` float32[2**HASH_BITS]. ``inference``: which trees the target style has; where arcs of a source
    tree cross, those of the target tree may. ``prior``: log-odds of the arcs of the source tree where nothing
    was learned. ``source_relations``: those of the source trees that it has learned from, sorted; none where
    they were not kept.
    """

    turns: TurnModel
    weights: NDArray[np.float32]
    relations: RelationAdapter
    inference: TreeInference
    prior: float = PRIOR
    source_relations: tuple[str, ...] = ()

    @staticmethod
    def untrained() -> "Converter":
        """Return the converter that gives every source tree back."""
        return Converter(
            TurnModel.untrained(),
            np.zeros(1 << HASH_BITS, dtype=np.float32),
            RelationAdapter.untrained(),
            TreeInference(projective=False, single_root=False),
            UNTRAINED_PRIOR,
        )

    @cached_property
    def templates(self) -> kernels.Templates:
        return compile_templates(ARC_TEMPLATES, hash_bits=HASH_BITS)

    def encode(self, sentence: Sentence, source_posteriors: Scores | None = None) -> list[WeightedSource]:
        """Encode the source tree of a sentence, or its source trees; see :func:`encode_sources`."""
        return [
            WeightedSource(share, self.turns.turned(nodes))
            for share, nodes in encode_sources(sentence, source_posteriors)
        ]

    def scores(self, sources: Sequence[WeightedSource]) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log, up to a constant; expected over the sources."""
        scores = prior_scores(sources, self.prior)
        for source in sources:
            kernels.add_scores(source.nodes, self.templates, self.weights, source.share, scores)
        return scores

    def arc_probabilities(self, sentence: Sentence, source_posteriors: Scores | None = None) -> Scores:
        sources = self.encode(sentence, source_posteriors)
        return inference_for(self.inference, sources).infer(self.scores(sources))[1]

    def convert(
        self, sentence: Sentence, *, decode: str = "mbr", source_posteriors: Scores | None = None
    ) -> Conversion:
        """Find the target tree of a sentence whose heads and relations are its source tree.

        ``decode``: ``mbr``, the tree with the most expected right heads, or ``map``, the most probable one.
        ``source_posteriors`` float64[n+1, n+1] or None: see :func:`encode_sources`. Raises UsageError when
        ``decode`` is not one of DECODERS; SentenceLengthError when the sentence has more than MAX_WORDS
        words.
        """
        check_decoder(decode)
        sources = self.encode(sentence, source_posteriors)
        inference = inference_for(self.inference, sources)
        scores = self.scores(sources)
        marginals = inference.infer(scores)[1]
        heads = frozen_heads(inference.best(marginals if decode == "mbr" else scores))
        relations = self.relations.adapt(sentence, sources[0].nodes, heads)
        return Conversion(heads, relations, np.clip(of_tree(marginals, heads), 0.0, 1.0))

    def convert_sentence(
        self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False
    ) -> Sentence:
        """Return the sentence with its tree converted; with ``confidence``, ``ArcProb=`` in MISC.

        Raises MissingTreeError when the sentence has no head at all; else as :meth:`convert`.
        """
        check_sentence(sentence)
        if not has_tree(sentence):
            raise MissingTreeError
        return converted_sentence(sentence, self.convert(sentence, decode=decode), confidence=confidence)

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Do what :meth:`convert_sentence` does, under the name that every model answers to."""
        return self.convert_sentence(sentence, decode=decode, confidence=confidence)

    def to_archive(self) -> Archive:
        header, arrays = self.relations.to_archive()
        return {
            "relations": header,
            "projective": self.inference.projective,
            "single_root": self.inference.single_root,
            "prior": self.prior,
            "source_relations": list(self.source_relations),
        }, {**packed_weights("", self.weights), **arrays, **self.turns.to_archive()}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "Converter":
        header = {"source_relations": [], **header}
        checked(
            header,
            {
                "projective": flag,
                "single_root": flag,
                "prior": number(),
                "relations": anything,
                "source_relations": labels(0),
            },
        )
        weights = unpack_weights("", arrays, np.zeros(1 << HASH_BITS, dtype=np.float32))
        return Converter(
            TurnModel.from_archive(arrays),
            weights,
            RelationAdapter.from_archive(header["relations"], arrays),
            TreeInference(projective=header["projective"], single_root=header["single_root"]),
            header["prior"],
            tuple(header["source_relations"]),
        )


def encode_sources(sentence: Sentence, source_posteriors: Scores | None = None) -> list[WeightedSource]:
    """Encode the source tree of a sentence, or its most probable source trees, the best first.

    ``source_posteriors`` float64[n+1, n+1] or None: probability of each source arc; columns 1..n sum to one.
    The sentence's heads are read where there are none, its relations always.
    """
    check_sentence(sentence)
    if source_posteriors is None:
        return [WeightedSource(1.0, encode_source(sentence))]
    return [
        WeightedSource(share, encode_source(replace(sentence, heads=heads)))
        for share, heads in probable_trees(source_posteriors, SOURCE_TREES)
    ]


def converted_sentence(sentence: Sentence, conversion: Conversion, *, confidence: bool) -> Sentence:
    result = with_predicted_heads(sentence, conversion.heads, conversion.relations)
    if not confidence:
        return result
    return with_probabilities(result, ARC_PROBABILITY, conversion.probabilities)


def prior_scores(sources: Sequence[WeightedSource], prior: float) -> Scores:
    """Return float64[n+1, n+1]: ``prior`` for each arc of the sources, shared by their two turned trees."""
    size = len(sources[0].nodes.heads)
    scores = np.zeros((size, size))
    for share, nodes in sources:
        kernels.add_prior(nodes, 0.5 * prior * share, scores)
    return scores


def inference_for(inference: TreeInference, sources: Sequence[WeightedSource]) -> TreeInference:
    """Allow crossing arcs where the arcs of the best source tree cross."""
    if inference.projective and crossing_arcs(sources[0].nodes.heads).any():
        return replace(inference, projective=False)
    return inference


def probable_trees(posteriors: Scores, k: int) -> list[tuple[float, Heads]]:
    """Return the ``k`` best trees of a product of arc posteriors, each with its probability among them."""
    with np.errstate(divide="ignore"):
        ranked = nonprojective.k_best(np.log(posteriors), k)
    shares = np.exp(np.array([score for _, score in ranked]) - ranked[0][1])
    return [
        (float(share), frozen_heads(heads))
        for share, (heads, _) in zip(shares / shares.sum(), ranked, strict=True)
    ]


SOURCE_PREFIX = "source_"


@runtime_checkable
class StoredParser(Parser, Protocol):
    """A parser that can be part of another model file."""

    def to_archive(self) -> Archive: ...


@dataclass(frozen=True)
class AdaptedParser(Stored):
    """Parses in the source style and converts the tree."""

    source_parser: StoredParser
    converter: Converter

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC.

        Probabilities are those of the converter, given the best tree of the source parser.
        """
        source = self.source_parser.parse(sentence, decode=decode)
        return converted_sentence(
            sentence, self.converter.convert(source, decode=decode), confidence=confidence
        )

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        return self.converter.arc_probabilities(self.source_parser.parse(sentence))

    def to_archive(self) -> Archive:
        source_header, source_arrays = self.source_parser.to_archive()
        header, arrays = self.converter.to_archive()
        return {"source_kind": kind_of(self.source_parser), "source": source_header, "converter": header}, {
            **arrays,
            **nested(SOURCE_PREFIX, source_arrays),
        }

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {"parser": described(header["source_kind"], header["source"])}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "AdaptedParser":
        checked(header, {"source_kind": one_of(KINDS), "source": anything, "converter": anything})
        source = model_from(header["source_kind"], header["source"], unnested(SOURCE_PREFIX, arrays))
        return AdaptedParser(cast(StoredParser, source), Converter.from_archive(header["converter"], arrays))
