"""The second-order parser: first-order pruning, a factor graph over the remaining arcs, belief propagation.

Training is by stochastic gradient through belief propagation: the gradient of Bethe log Z is the expectation
under the factors' beliefs after some iterations. *Source*: thesis chapters 2 and 3.4; training: 2.7.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from qsproj.bp.factors.trees import Tree
from qsproj.bp.run import Status, probability
from qsproj.conventions import Floats, Heads, Mask, Rng, Scores, is_whole
from qsproj.corpus.editing import with_misc, with_tree
from qsproj.corpus.sentence import Sentence
from qsproj.errors import UsageError, pluralise
from qsproj.features.atoms import EncodedBlock, EncodedSentence
from qsproj.kernels.features.second_order_features import gather_factors
from qsproj.kernels.trees.eisner_block import decode_block, possible_arcs
from qsproj.models.arc.arc_learners import check_finite, dev_score, usable_sentences
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer, ArcTrainer
from qsproj.models.arc.arc_training import cross_fitted_parsers, train_arc_parser, training_like
from qsproj.models.arc.labeller import LABEL_EPOCHS, unlabelled
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport, margin_of
from qsproj.models.constraints import ConstrainedInference, Given, candidate_arcs
from qsproj.models.graph import graph_factors
from qsproj.models.packing import joined, unnested
from qsproj.models.parser import BLOCK, ArcPosterior, Parser, Posterior, Wrapper, is_plain
from qsproj.models.schema import Archive, Arrays
from qsproj.models.spec import check, option_field, restored
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, check_decoder, reachable
from qsproj.progress import track
from qsproj.training.cross_fitting import in_order
from qsproj.training.loop import EpochRecord, Steps, learn
from qsproj.training.optimiser import AdaGrad

TEMPERATURE = 1.5  # of second-order beliefs; on development data of four languages 1.5 and 2 were alike
CERTAIN = 1e6  # clipping of log-odds to practical certainty; the tree kernels need finite numbers


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

    ``probabilities`` float64[n+1, n+1]: [head, dependent]; columns 1..n sum to one where a tree is required;
    after max-product, exp of the differences of max-marginals. ``order``: 2, or 1 where the graph was too
    large or messages ended in a contradiction: then they are those of the first-order parser at its
    temperature. ``status``: of message passing; None where it did not start. ``inference``: possible trees.
    ``calibrated`` returns the probabilities to report: loopy beliefs are overconfident, but the mean of both
    orders, each at its temperature, is as calibrated as the first order alone.
    """

    probabilities: Scores
    order: int
    status: Status | None
    inference: TreeDecoder
    calibrated: Callable[[], Scores]


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
        return ArcPosterior(self.arc_beliefs(sentence, given=given).calibrated())

    def arc_beliefs(self, sentence: Sentence, *, given: Given = None, maximise: bool = False) -> ArcBeliefs:
        """Return beliefs about the arcs; raise SentenceLengthError, or SentenceError for a known part."""
        options, inference = self.options, self.base.constrained(sentence, given)
        encoded = self.base.encode(sentence)
        features = self.base.scorer.features(encoded)
        first_order = self.base.scorer.scores(features)
        marginals = inference.infer(first_order)[1]
        candidates = candidate_arcs(marginals, inference, threshold=options.threshold)
        graph = options.layout(candidates, inference, spans=() if given is None else given.spans)

        def first_order_marginals() -> Scores:
            return inference.infer(first_order / self.base.temperature)[1]

        def second_order(temperature: float, *, maximise: bool = False) -> tuple[Scores, Status]:
            links = self.links.scores_of(features, graph.heads, graph.dependents) / temperature
            if isinstance(inference, ConstrainedInference):
                links = links + inference.evidence[graph.heads, graph.dependents]
            scores = [one / temperature for one in of_factors]
            most = options.iterations
            beliefs = graph_factors.propagate(graph, links, scores, iterations=most, maximise=maximise)
            probabilities = np.zeros_like(marginals)
            if beliefs.status is Status.CONTRADICTION:
                return probabilities, beliefs.status
            chances = probability(np.clip(graph_factors.arc_log_odds(beliefs), -CERTAIN, CERTAIN))
            probabilities[graph.heads, graph.dependents] = chances
            return probabilities, beliefs.status

        status = None
        if graph.n_factors <= options.max_factors:
            of_factors = self.factors.scores(self.factors.features(encoded, graph.families))
            probabilities, status = second_order(1.0, maximise=maximise)
        if status is None or status is Status.CONTRADICTION:
            return ArcBeliefs(first_order_marginals(), 1, status, inference, first_order_marginals)

        def calibrated() -> Scores:
            (tempered, outcome), marginals = second_order(TEMPERATURE), first_order_marginals()
            return marginals if outcome is Status.CONTRADICTION else 0.5 * (marginals + tempered)

        return ArcBeliefs(probabilities, 2, status, inference, calibrated)

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
        heads_in_block, dependents, counts, exact = found
        if not exact:
            return None
        sentence_of = np.searchsorted(block.starts[1:], np.arange(len(block.words) + 1), side="right")
        bounds = (ends.astype(np.int32)[sentence_of] for ends in (block.starts - 1, block.starts + sizes))
        arcs = graph_factors.Arcs(heads_in_block, dependents, *bounds)
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
        probabilities = believed.calibrated() if confidence else None
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


# Sentences are pruned by a parser trained on the other folds, for this number of epochs.
FOLDS, PRUNING_EPOCHS = 2, 5


@dataclass(frozen=True, slots=True, eq=False)
class GraphExample:
    """A training sentence.

    ``graph``: over the candidate arcs and those that agree with the tree, ``agrees`` bool[E]. ``observed``:
    the tree's arcs float64[E] and factors of each family float64[F]; None where the tree is partial.
    """

    encoded: EncodedSentence
    graph: graph_factors.SentenceGraph
    agrees: Mask
    observed: graph_factors.Expectations | None


def graph_examples(
    sentences: Sequence[Sentence], base: ArcParser, pruners: Sequence[ArcParser], graph_options: GraphOptions
) -> list[GraphExample]:
    inference, threshold = base.inference, graph_options.threshold
    examples = []
    for sentence, pruner in zip(track(sentences, "pruning", total=len(sentences)), pruners, strict=True):
        scores = pruner.scores(sentence)
        agreeing = arcs_in(reachable(sentence.heads, inference))
        candidates = candidate_arcs(inference.infer(scores)[1], inference, threshold=threshold)
        whole = is_whole(sentence.heads)
        if not whole:
            # A partial tree agrees with many arcs; they are reduced to the likely ones.
            within = inference.infer(np.where(agreeing, scores, -np.inf))[1]
            agreeing = candidate_arcs(within, inference, threshold=threshold)
        graph = graph_options.layout(candidates | agreeing, inference)
        agrees = agreeing[graph.heads, graph.dependents]
        observed = None
        if whole:
            nothing = [np.zeros(len(family.scored)) for family in graph.families]
            certain = np.where(agrees, np.inf, -np.inf)
            observed = graph_factors.expectations(graph, certain, nothing, iterations=1)[1]
        if graph.n_factors <= graph_options.max_factors:
            examples.append(GraphExample(base.scorer.encode(sentence), graph, agrees, observed))
    return examples


def sentences_with_trees(sentences: Sequence[Sentence], base: ArcParser) -> list[Sentence]:
    usable, _ = usable_sentences(sentences)
    return [s for s in usable if base.inference.admits(arcs_in(reachable(s.heads, base.inference)))]


def train_pruners(
    sentences: Sequence[Sentence], base: ArcParser, *, rng: Rng, options: TrainingOptions
) -> list[ArcParser]:
    """Return the pruner of each sentence, trained on the other folds; of few sentences, ``base``."""
    if len(sentences) < 2 * FOLDS:
        return [base] * len(sentences)
    train = training_like(base, replace(options, epochs=min(options.epochs, PRUNING_EPOCHS)), rng)
    return in_order(cross_fitted_parsers(train, sentences, folds=FOLDS))


KIND = "a second-order parser"

# Half the first-order step size, as inaccurate beliefs give wrong gradients; a quarter lost up to 0.4 UAS.
RATE_SHARE = 0.5
# Factors start from a trained first-order model and converge sooner: the share of its epochs, and the limit
# of iterations. On dev files of English, Hungarian and Turkish as good as all epochs and five iterations.
EPOCH_SHARE, ITERATIONS = 0.6, 3
# The factors' share of the penalty on arcs; half as strong penalties on both lost 0.4 UAS in English.
L2_SHARE = 1 / 3
# Initial squared gradients: full first steps of a factor's dozens of new features make messages diverge.
INITIAL_SQUARES = 1.0


def train_graph_parser(
    sentences: Sequence[Sentence],
    *,
    rng: Rng,
    dev: Sequence[Sentence] = (),
    options: TrainingOptions | None = None,
    graph_options: GraphOptions | None = None,
    label_epochs: int = LABEL_EPOCHS,
) -> tuple[GraphParser, TrainingReport]:
    options = options or TrainingOptions()
    graph_options = graph_options or GraphOptions()
    margin_of(options.objective, KIND)
    base, first_report = train_arc_parser(
        sentences, rng=rng, dev=dev, options=options, label_epochs=label_epochs
    )
    usable = sentences_with_trees(sentences, base)
    pruners = train_pruners(usable, base, rng=rng, options=options)
    parser, records = train_factors(
        usable, base, pruners, rng=rng, dev=dev, options=options, graph_options=graph_options
    )
    remark = f"these train the factors, after {pluralise(len(first_report.epochs), 'epoch')} of arcs alone"
    return parser, TrainingReport(tuple(records), first_report.skipped, (remark,))


def train_factors(
    sentences: Sequence[Sentence],
    base: ArcParser,
    pruners: Sequence[ArcParser],
    *,
    rng: Rng,
    options: TrainingOptions,
    graph_options: GraphOptions,
    dev: Sequence[Sentence] = (),
) -> tuple[GraphParser, list[EpochRecord]]:
    graph_options = replace(graph_options, families=graph_options.families_for(base.inference))
    examples = graph_examples(sentences, base, pruners, graph_options)
    trainer, epochs = _trainer(base, options, graph_options), round(EPOCH_SHARE * options.epochs)
    score, what = dev_score(dev), "training factors"
    return learn(trainer, examples, epochs=epochs, rng=rng, score=score, description=what)


def graph_loss(
    example: GraphExample, link_scores: Floats, scores: Sequence[Floats], *, iterations: int, margin: float
) -> tuple[float, graph_factors.Expectations]:
    """Return minus the sum of log-beliefs of the tree's arcs, and the gradients of minus log F by scores."""
    check_finite(link_scores, *scores)
    expected = partial(graph_factors.expectations, example.graph, scores=scores, iterations=iterations)
    log_odds, (chances, fired) = expected(link_scores + margin * ~example.agrees)
    observed = example.observed
    if observed is None:
        observed = expected(np.where(example.agrees, link_scores, -np.inf))[1]
    slopes = [expected - seen for expected, seen in zip(fired, observed[1], strict=True)]
    # The belief about an unobserved arc may be 0, and its logarithm infinite.
    missed = np.where(observed[0] > 0.0, np.logaddexp(0.0, -log_odds), 0.0)
    return float(observed[0] @ missed), (chances - observed[0], slopes)


def _trainer(
    base: ArcParser, options: TrainingOptions, graph_options: GraphOptions
) -> Steps[GraphExample, GraphParser]:
    # LINK starts from the first-order weights: from zero, bad beliefs of the first epoch have lasting effects
    # on the factors. L2 shrinks initial weights that no step confirms. Worth 0.2 to 0.4 UAS on the dev file
    # of English, with small first steps like those of the factors.
    squares, rate, l2 = INITIAL_SQUARES, RATE_SHARE * options.rate, L2_SHARE * options.l2
    rule = options.rule(share=RATE_SHARE, first_squares=squares)
    arcs = ArcTrainer(replace(base.scorer, ignored=()), rule=rule)
    factors = graph_factors.FactorScorer.untrained(base.scorer.template_set)
    descent = AdaGrad(factors.weights, rate=rate, l2=l2, capacity=1 << 18, first_squares=squares)
    margin, most = margin_of(options.objective, KIND), min(graph_options.iterations, ITERATIONS)

    def step(example: GraphExample) -> float:
        graph = example.graph
        of_arcs = arcs.live.features(example.encoded)
        of_factors = factors.features(example.encoded, graph.families)
        links = arcs.live.scores_of(of_arcs, graph.heads, graph.dependents)
        scores = factors.scores(of_factors)
        loss, slopes = graph_loss(example, links, scores, iterations=most, margin=margin)
        arc_slopes = np.zeros((len(of_arcs.tags), len(of_arcs.tags)))
        arc_slopes[graph.heads, graph.dependents] = slopes[0]
        arcs.descend(of_arcs, arc_slopes)
        for family, own in zip(of_factors, slopes[1], strict=True):
            descent.gather(gather_factors, family, own)
            descent.move()
        descent.step()
        return loss

    def averaged() -> GraphParser:
        mean = replace(factors, weights=descent.mean())
        return GraphParser(base, arcs.averaged(), mean, graph_options)

    return Steps(step, averaged, [arcs, descent])
