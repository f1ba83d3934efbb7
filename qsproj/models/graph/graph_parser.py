"""The second-order parser: first-order pruning, a factor graph over what is left, belief propagation.

*Source*: thesis chapters 2 and 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from qsproj.bp.beliefs import Beliefs, probability
from qsproj.bp.links import arcs_of, chosen_links
from qsproj.bp.status import Status
from qsproj.conventions import Floats, Mask, Scores
from qsproj.corpus.editing import with_misc
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.graph.graph_factors import (
    CONSTRAINTS,
    FAMILIES,
    Doubts,
    FactorScorer,
    SentenceGraph,
    arc_log_odds,
    candidate_arcs,
    propagate,
    relax,
    sentence_graph,
)
from qsproj.models.packing import joined, unnested
from qsproj.models.schema import Archive, Arrays
from qsproj.models.spec import check, restored, told
from qsproj.models.storage import Stored
from qsproj.models.tree_inference import TreeInference, check_decoder

# Log-odds beyond this are as good as certain; the tree kernels want finite numbers.
CERTAIN = 1e6
# The largest number below a half.
MOST_DOUBT = math.nextafter(0.5, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """The shape of the graphs, and how long messages are passed.

    ``families``: of ``FAMILIES``; None: GRAND, CHILDSEQ, VALENCE, and NOCROSS where arcs may cross; training
    fills it in. ``iterations``: of belief propagation, as many in training as in parsing. ``threshold``: an
    arc whose first-order probability is below it is no candidate, unless the best tree has it.
    ``max_factors``: a sentence with more is parsed first-order. ``constraint``: of ``CONSTRAINTS``: what is
    required of the arcs. ``doubt``: in parsing, a factor is left out unless all of its arcs have at least
    this probability and one of them at most 1 minus it (:func:`qsproj.models.graph.graph_factors.relax`); 0:
    all factors are there. UsageError when a name is unknown or a number is out of range.
    """

    families: tuple[str, ...] | None = told(None, known=("factors", FAMILIES))
    iterations: int = told(5, least=1)
    threshold: float = told(3e-3, least=0.0, most=1.0, within=True)
    max_factors: int = 200_000
    constraint: str = told("tree", known=("constraint", CONSTRAINTS))
    doubt: float = told(0.0, least=0.0, most=MOST_DOUBT, expected="a probability below 0.5")

    def __post_init__(self) -> None:
        check(self)
        families = self.families or ()
        if len(set(families)) < len(families):
            raise UsageError(f"found {','.join(families)} as factors, expected each once")

    def families_for(self, inference: TreeInference) -> tuple[str, ...]:
        if self.families is not None:
            return self.families
        return ("grand", "childseq", "valence", *(() if inference.projective else ("nocross",)))

    def layout(
        self, candidates: Mask, inference: TreeInference, doubts: Doubts | None = None
    ) -> SentenceGraph:
        """Return the graph over the candidate arcs bool[n+1, n+1] of a sentence."""
        families, constraint = self.families_for(inference), self.constraint
        return sentence_graph(candidates, inference, families=families, constraint=constraint, doubts=doubts)


@dataclass(frozen=True, slots=True, eq=False)
class ArcBeliefs:
    """Beliefs about the arcs of a sentence.

    ``probabilities`` float64[n+1, n+1]: [head, dependent]; columns 1..n sum to one where a tree is required.
        After max-product: exp of the differences of max-marginals. Where ``order`` is 1, by the first order
        at its temperature.
    ``order``: 2, or 1 where the graph was too large or messages ended in a contradiction.
    ``status``: how message passing ended; None where it did not start.
    ``n_factors``: number of scores beside those of LINK; 0 where messages were not passed to the end.
    """

    probabilities: Scores
    order: int
    status: Status | None
    n_factors: int = 0


@dataclass(frozen=True)
class GraphParser(Stored):
    """A trained second-order dependency parser.

    Attributes
    ----------
    base : ArcParser
        The first-order parser that prunes, labels, and parses what is beyond the limit. It prunes by its
        scores as learned, whatever its temperature: so were the graphs that the factors were learned on.
    links : ArcScorer
        Scores of LINK, learned together with those of the other factors.
    factors : FactorScorer
    options : GraphOptions
    """

    base: ArcParser
    links: ArcScorer
    factors: FactorScorer
    options: GraphOptions

    @property
    def inference(self) -> TreeInference:
        return self.base.inference

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the believed probability of every arc, float64[n+1, n+1]; see :meth:`arc_beliefs`."""
        self.base.scorer.check_tagged(sentence)
        return self.arc_beliefs(sentence).probabilities

    def arc_beliefs(
        self, sentence: Sentence, *, allowed: Mask | None = None, decode: str = "mbr"
    ) -> ArcBeliefs:
        """Return what is believed of the arcs of a sentence.

        Parameters
        ----------
        allowed : bool[n+1, n+1], optional
            Arcs that may be in the tree; all by default.
        decode : str
            ``map``: max-product instead of sum-product.

        Raises
        ------
        SentenceLengthError
            When the sentence has more words than the first-order parser takes.
        NoTreeError
            When no tree lies within ``allowed``.
        UsageError
            When ``decode`` is not one of DECODERS.
        """
        check_decoder(decode)
        return self._beliefs(self.base.encode(sentence), allowed, maximise=decode == "map")

    def _beliefs(self, encoded: EncodedSentence, allowed: Mask | None, *, maximise: bool) -> ArcBeliefs:
        """Prune, build the graph, pass messages; fall back to first order where that cannot be done."""
        features = self.base.scorer.features(encoded)
        first_order = self.base.scorer.scores(features)
        if allowed is not None:
            first_order = np.where(allowed, first_order, -np.inf)
        marginals = self.inference.infer(first_order)[1]
        candidates = candidate_arcs(marginals, self.inference, threshold=self.options.threshold)
        graph, beliefs = self._relaxed(encoded, features, marginals, candidates, maximise=maximise)
        if beliefs is None or beliefs.status is Status.CONTRADICTION:
            reported = self.inference.infer(first_order / self.base.temperature)[1]
            return ArcBeliefs(reported, 1, None if beliefs is None else beliefs.status)
        probabilities = np.zeros_like(marginals)
        chances = probability(np.clip(arc_log_odds(beliefs), -CERTAIN, CERTAIN))
        probabilities[graph.heads, graph.dependents] = chances
        return ArcBeliefs(probabilities, 2, beliefs.status, graph.n_factors)

    def _relaxed(
        self,
        encoded: EncodedSentence,
        features: ArcFeatures,
        marginals: Scores,
        candidates: Mask,
        *,
        maximise: bool,
    ) -> tuple[SentenceGraph, Beliefs | None]:
        """Pass messages in the graph over the candidates, or as much of it as is called for."""
        options = self.options

        def score(graph: SentenceGraph) -> list[Floats]:
            return self.factors.scores(self.factors.features(encoded, graph.families))

        heads, dependents, _ = arcs_of(chosen_links(candidates))
        link_scores = self.links.scores_of(features, heads, dependents)
        if options.doubt > 0.0:
            return relax(
                marginals[heads, dependents],
                lambda doubts: options.layout(candidates, self.inference, doubts),
                link_scores,
                score,
                doubt=options.doubt,
                iterations=options.iterations,
                max_factors=options.max_factors,
                maximise=maximise,
            )
        graph = options.layout(candidates, self.inference)
        if graph.n_factors > options.max_factors:
            return graph, None
        iterations = options.iterations
        return graph, propagate(graph, link_scores, score(graph), iterations=iterations, maximise=maximise)

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC.

        A sentence that the first order parses instead has ``Order=1`` there. ``map`` maximises approximately.
        Raises what :meth:`arc_beliefs` does.
        """
        self.base.scorer.check_tagged(sentence)
        return next(self.parse_all([sentence], decode=decode, confidence=confidence))

    def parse_all(
        self, sentences: Iterable[Sentence], *, decode: str = "mbr", confidence: bool = False
    ) -> Iterator[Sentence]:
        check_decoder(decode)
        for sentence in sentences:
            yield self._parsed(sentence, decode=decode, confidence=confidence)

    def _parsed(self, sentence: Sentence, *, decode: str, confidence: bool) -> Sentence:
        encoded = self.base.encode(sentence)
        believed = self._beliefs(encoded, None, maximise=False)
        if believed.order == 1:
            told = with_misc(sentence, "Order", ["1"] * len(sentence))
            return next(self.base.parse_all([told], decode=decode, confidence=confidence))
        if decode == "map":
            highest = self._beliefs(encoded, None, maximise=True)
            heads = self.inference.most_right(highest.probabilities)
        else:
            heads = self.inference.most_right(believed.probabilities)
        probabilities = believed.probabilities if confidence else None
        return self.base.attached(sentence, heads, encoded=encoded, probabilities=probabilities)

    def to_archive(self) -> Archive:
        parts = {"base": ("", self.base), "links": ("link_", self.links), "factors": ("", self.factors)}
        header, arrays = joined(parts)
        return {**header, "options": asdict(self.options)}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {**ArcParser.described(header["base"]), "factors": header["options"].get("families") or "all"}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> GraphParser:
        return GraphParser(
            ArcParser.from_archive(header["base"], arrays),
            ArcScorer.from_archive(header["links"], unnested("link_", arrays)),
            FactorScorer.from_archive(header["factors"], arrays),
            restored(GraphOptions(), header["options"]),
        )
