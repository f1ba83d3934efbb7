"""A second order above a first-order parser, learned from uncertain evidence for arcs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.hashed_weights import aligned_weights
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import FactorScorer, FactorTrainer, SentenceGraph, sentence_graph
from qsproj.models.graph.graph_inference import Array, candidate_arcs, expectations
from qsproj.models.graph.graph_parser import GraphOptions, GraphParser
from qsproj.models.graph.graph_training import L2_SHARE, RATE_SHARE
from qsproj.training.loop import Trainer, learn

EPOCHS = 2
# Graphs of all sentences are held: larger ones are left out.
MOST_FACTORS = 30_000
# Factors learn from what the arcs' scores have learned from: the sums are too sure by so much more. On
# German-GSD and Spanish-GSD, dev, ArcProb is then within a point as true as that of arcs alone, and trees are
# .2 to .4 UAS better than where scores are summed as learned.
SURER = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceGraph:
    """The pruned graph of a sentence, with evidence for its arcs.

    ``link_scores`` float64[E]: first-order scores of the arcs, natural log. ``evidence`` float64[E]: log of
    the likelihood ratio of each arc, 0 where nothing is known.
    """

    encoded: EncodedSentence
    graph: SentenceGraph
    link_scores: Array
    evidence: Array


class EvidenceTrainer(Trainer[EvidenceGraph, FactorScorer]):
    """Learns factors from evidence for arcs; scores of arcs stay. Mutable; final."""

    def __init__(self, template_set: str, *, iterations: int, options: TrainingOptions) -> None:
        rate, l2 = RATE_SHARE * options.rate, L2_SHARE * options.l2
        self._factors = FactorTrainer(template_set, rate=rate, l2=l2)
        self._iterations = iterations

    def step(self, example: EvidenceGraph) -> float:
        """Learn from one sentence; return how much of the evidence was expected, an arc, before the step."""
        factors = self._factors.live.features(example.encoded, example.graph.families)
        scores = self._factors.live.scores(factors)
        (chances, expected), (_, seen) = (
            expectations(example.graph, links, scores, iterations=self._iterations)[1]
            for links in (example.link_scores, example.link_scores + example.evidence)
        )
        self._factors.descend(
            factors, [fired - with_it for fired, with_it in zip(expected, seen, strict=True)]
        )
        return -float(chances @ example.evidence)

    def regularise(self) -> None:
        """Shrink the weights; once after each epoch."""
        self._factors.regularise()

    def averaged(self) -> FactorScorer:
        """Return a scorer with the mean of the weights after every step so far."""
        return self._factors.averaged()


def second_order_above(
    base: ArcParser,
    seen: Iterable[tuple[Sentence, Scores]],
    *,
    rng: np.random.Generator,
    options: GraphOptions | None = None,
) -> GraphParser:
    """Learn grandparents, sequences and numbers of dependents above a first-order parser.

    A tree is as much likelier as the evidence for its arcs says, and what evidence says nothing of is summed
    out, as for arcs (:class:`qsproj.training.objectives.EvidenceLikelihood`); beliefs stand for sums. The
    evidence of two arcs together is what teaches a factor over both.

    ``seen`` iterable of (Sentence, float64[n+1, n+1]): sentences with the log of the likelihood ratio of each
    arc. Arcs that the parser would prune say nothing.

    *Source*: gradient of Bethe log Z (thesis 2.7). First-order posteriors as targets, with or without the
    evidence, and best trees under it gained nothing on German-GSD, dev.
    """
    options = options or GraphOptions()
    options = replace(options, families=options.families_for(base.inference))
    examples = [
        example
        for sentence, evidence in seen
        if (example := _example(base, sentence, evidence, options)).graph.n_factors <= MOST_FACTORS
    ]
    training = TrainingOptions()
    trainer = EvidenceTrainer(base.scorer.template_set, iterations=options.iterations, options=training)
    factors, _ = learn(trainer, examples, epochs=EPOCHS, rng=rng, description="training factors")
    flatter = np.float32(1.0 / (SURER * base.temperature))
    return GraphParser(
        base,
        replace(base.scorer, weights=aligned_weights(flatter * base.scorer.weights)),
        replace(factors, weights=aligned_weights(flatter * factors.weights)),
        options,
    )


def _example(base: ArcParser, sentence: Sentence, evidence: Scores, options: GraphOptions) -> EvidenceGraph:
    """Prune one sentence as parsing does."""
    encoded = base.encode(sentence)
    scores = base.scorer.scores(base.scorer.features(encoded))
    candidates = candidate_arcs(base.inference.infer(scores)[1], base.inference, threshold=options.threshold)
    graph = sentence_graph(
        candidates,
        base.inference,
        families=options.families_for(base.inference),
        constraint=options.constraint,
    )
    at = graph.heads, graph.dependents
    return EvidenceGraph(encoded, graph, scores[at], evidence[at])
