"""The second-order parser: first-order pruning, a factor graph over the remaining arcs, belief propagation.

*Source*: thesis chapters 2 and 3.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.trees import Tree
from qsproj.bp.run import Status, probability
from qsproj.conventions import Heads, Mask, Scores
from qsproj.corpus.editing import with_misc, with_tree
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError
from qsproj.features.atoms import EncodedBlock
from qsproj.kernels.trees.eisner_block import decode_block, possible_arcs
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.labeller import unlabelled
from qsproj.models.constraints import ConstrainedInference, Given, candidate_arcs
from qsproj.models.graph import graph_factors
from qsproj.models.packing import joined, unnested
from qsproj.models.parser import BLOCK, ArcPosterior, Parser, Posterior, Wrapper, is_plain
from qsproj.models.schema import Archive, Arrays
from qsproj.models.spec import check, option_field, restored
from qsproj.models.tree_decoder import TreeDecoder, check_decoder

# Clipping of log-odds to practical certainty; the tree kernels need finite numbers.
CERTAIN = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """The structure of the graphs, and the number of iterations.

    ``families``: None: GRAND, CHILDSEQ, VALENCE, and NOCROSS where arcs may cross. ``iterations``: in
    training, four at most. ``threshold``: minimum first-order probability of a candidate arc outside the best
    tree. ``max_factors``: a sentence with more is parsed first-order. Raises UsageError.
    """

    families: tuple[str, ...] | None = option_field(None, known=("factors", graph_factors.FAMILIES))
    iterations: int = option_field(5, least=1)
    threshold: float = option_field(3e-3, least=0.0, most=1.0, within=True)
    max_factors: int = 200_000
    constraint: str = option_field("tree", known=("constraint", graph_factors.CONSTRAINTS))

    def __post_init__(self) -> None:
        check(self)
        families = self.families or ()
        if len(set(families)) < len(families):
            raise UsageError(f"found {','.join(families)} as factors, expected each once")

    def families_for(self, inference: TreeDecoder) -> tuple[str, ...]:
        if self.families is not None:
            return self.families
        return ("grand", "childseq", "valence", *(() if inference.projective else ("nocross",)))

    def layout(
        self, candidates: Mask, inference: TreeDecoder, *, spans: Sequence[tuple[int, int]] = ()
    ) -> graph_factors.SentenceGraph:
        families = self.families_for(inference)
        return graph_factors.sentence_graph(
            candidates, inference, families=families, constraint=self.constraint, spans=spans
        )


@dataclass(frozen=True, slots=True, eq=False)
class ArcBeliefs:
    """Beliefs about the arcs of a sentence.

    ``probabilities`` float64[n+1, n+1]: [head, dependent]; columns 1..n sum to one where a tree is required.
        After max-product: exp of the differences of max-marginals. Where ``order`` is 1, those of the
        first-order parser at its temperature.
    ``order``: 2, or 1 where the graph was too large or messages ended in a contradiction.
    ``status``: how message passing ended; None where it did not start. ``inference``: the possible trees.
    """

    probabilities: Scores
    order: int
    status: Status | None
    inference: TreeDecoder


@dataclass(frozen=True)
class GraphParser(Wrapper[ArcParser]):
    """A trained second-order dependency parser.

    ``base`` prunes, labels, and parses sentences beyond the limit. It prunes by its unscaled scores, whatever
    its temperature, as in training. ``links``: scores of LINK, learned together with ``factors``.
    """

    base: ArcParser
    links: ArcScorer
    factors: graph_factors.FactorScorer
    options: GraphOptions
    block = BLOCK
    parse_all = Parser.parse_all
    arc_probabilities = Parser.arc_probabilities

    @property
    def inference(self) -> TreeDecoder:
        return self.base.inference

    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        return ArcPosterior(self.arc_beliefs(sentence, given=given).probabilities)

    def check_input(self, sentence: Sentence) -> None:
        self.base.scorer.check_tagged(sentence)

    def arc_beliefs(self, sentence: Sentence, *, given: Given = None, maximise: bool = False) -> ArcBeliefs:
        """Return beliefs about the arcs; raise SentenceLengthError, or SentenceError for a known part."""
        options, inference = self.options, self.base.constrained(sentence, given)
        encoded = self.base.encode(sentence)
        features = self.base.scorer.features(encoded)
        first_order = self.base.scorer.scores(features)
        marginals = inference.infer(first_order)[1]
        candidates = candidate_arcs(marginals, inference, threshold=options.threshold)
        graph = options.layout(candidates, inference, spans=() if given is None else given.spans)
        beliefs = None
        if graph.n_factors <= options.max_factors:
            scores = self.factors.scores(self.factors.features(encoded, graph.families))
            links = self.links.scores_of(features, graph.heads, graph.dependents)
            if isinstance(inference, ConstrainedInference):
                links = links + inference.evidence[graph.heads, graph.dependents]
            most = options.iterations
            beliefs = graph_factors.propagate(graph, links, scores, iterations=most, maximise=maximise)
        if beliefs is None or beliefs.status is Status.CONTRADICTION:
            reported = inference.infer(first_order / self.base.temperature)[1]
            return ArcBeliefs(reported, 1, beliefs.status if beliefs else None, inference)
        probabilities = np.zeros_like(marginals)
        chances = probability(np.clip(graph_factors.arc_log_odds(beliefs), -CERTAIN, CERTAIN))
        probabilities[graph.heads, graph.dependents] = chances
        return ArcBeliefs(probabilities, 2, beliefs.status, inference)

    def parsed_block(
        self, sentences: list[Sentence], given: list[Given], *, decode: str, confidence: bool
    ) -> Iterator[Sentence]:
        """Parse several sentences, all for ``iterations``; where that fails, each by itself."""
        plain = is_plain(given, decode=decode, confidence=confidence)
        block = self.base.scorer.encode_block(sentences)
        heads = self._block_heads(block) if plain else None
        if heads is None:
            one_by_one = self.parsed_block if plain and len(sentences) > 1 else super().parsed_block
            for sentence, known in zip(sentences, given, strict=True):
                yield from one_by_one([sentence], [known], decode=decode, confidence=confidence)
            return
        labeller, trees = self.base.labeller, np.split(heads, np.cumsum(block.sizes)[:-1])
        labels = labeller.label_block(block, heads) if labeller else map(unlabelled, trees)
        for sentence, own, relations in zip(sentences, trees, labels, strict=True):
            yield with_tree(sentence, own, relations)

    def _block_heads(self, block: EncodedBlock) -> Heads | None:
        options, sizes, single_root = self.options, block.sizes, self.inference.single_root
        families = options.families_for(self.inference)
        if not self.inference.projective or options.constraint != "tree" or "nocross" in families:
            return None
        scores = self.base.scorer.score_block(block)
        found = possible_arcs(scores, block.starts, sizes, single_root, options.threshold)
        heads_in_block, dependents, _, counts, exact = found
        if not exact:
            return None
        arcs, sentence_of = _arcs_of_block(block, heads_in_block, dependents)
        first = np.repeat(block.starts, counts).astype(np.int32)
        variables, own_heads, own_dependents = arcs.ends[2], heads_in_block - first, dependents - first
        parts = (np.split(ends, np.cumsum(counts)[:-1]) for ends in (variables, own_heads, own_dependents))
        rows = zip(*parts, sizes.tolist(), strict=True)
        trees = [Tree(links, heads, ends, size, True, single_root) for links, heads, ends, size in rows]
        graph = graph_factors.block_graph(arcs, trees, families=families)
        owners = [sentence_of[family.members[:, 0] - 1] for family in graph.families]
        if (np.bincount(np.concatenate([[0], *owners])) > options.max_factors).any():
            return None
        factors = self.factors.scores(self.factors.features(block.words, graph.families))
        links = self.links.scores_of(self.links.features(block.words), arcs.heads, arcs.dependents)
        beliefs = graph_factors.propagate(graph, links, factors, iterations=options.iterations, tolerance=0.0)
        if beliefs.status is Status.CONTRADICTION:
            return None
        believed = probability(np.clip(graph_factors.arc_log_odds(beliefs), -CERTAIN, CERTAIN))
        cells = np.full(len(scores), -np.inf)
        begins = np.repeat(np.cumsum(sizes**2) - sizes**2, counts)
        at = begins + own_heads.astype(np.int64) * np.repeat(sizes, counts) + own_dependents
        cells[at] = np.where(believed > 0.0, believed, -np.inf)
        heads = np.empty(int(sizes.sum()), dtype=np.int32)
        done = np.zeros(len(sizes), dtype=np.bool_)
        decode_block(cells, sizes, single_root, False, heads, np.empty(0), done)
        return heads if done.all() else None

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        check_decoder(decode)
        believed = self.arc_beliefs(sentence, given=given)
        if believed.order == 1:
            noted = with_misc(sentence, "Order", ["1"] * len(sentence))
            known = None if given is None else lambda _: given
            return next(self.base.parse_all([noted], decode=decode, confidence=confidence, known=known))
        decoded = self.arc_beliefs(sentence, given=given, maximise=True) if decode == "map" else believed
        heads = believed.inference.most_right(decoded.probabilities)
        probabilities = believed.probabilities if confidence else None
        return self.base.attached(sentence, heads, probabilities=probabilities, given=given)

    def allowing_crossings(self) -> ArcParser | None:
        return self.base.allowing_crossings()

    def to_archive(self) -> Archive:
        parts = {"base": ("", self.base), "links": ("link_", self.links), "factors": ("", self.factors)}
        header, arrays = joined(parts)
        return {**header, "options": asdict(self.options)}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {**ArcParser.described(header["base"]), "factors": header["options"].get("families") or "all"}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "GraphParser":
        base = ArcParser.from_archive(header["base"], arrays)
        links = ArcScorer.from_archive(header["links"], unnested("link_", arrays))
        factors = graph_factors.FactorScorer.from_archive(header["factors"], arrays)
        # Criteria for leaving out factors.
        options = restored(GraphOptions(), header["options"], former=("doubt", "gain"))
        return GraphParser(base, links, factors, options)


def _arcs_of_block(
    block: EncodedBlock, heads: NDArray[np.int32], dependents: NDArray[np.int32]
) -> tuple[graph_factors.Arcs, NDArray[np.int64]]:
    sentence_of = np.searchsorted(block.starts[1:], np.arange(len(block.words) + 1), side="right")
    before, after = (
        ends.astype(np.int32)[sentence_of] for ends in (block.starts - 1, block.starts + block.sizes)
    )
    return graph_factors.Arcs(heads, dependents, before, after), sentence_of
