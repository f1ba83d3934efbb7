"""What a second-order parser learns from: pruned graphs of sentences with trees, whole or partial.

The graphs are pruned by first-order parsers that have not seen the sentence: one that has is too sure of its
tree and leaves nothing to learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import Sentence
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_examples import usable_sentences
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_factors import SentenceGraph, sentence_graph
from qsproj.models.graph.graph_inference import Expectations, candidate_arcs, expectations
from qsproj.models.graph.graph_parser import GraphOptions
from qsproj.models.tree_inference import agreeing_arcs, is_whole
from qsproj.progress import track

# Sentences are pruned by a parser trained on the other half, for so many epochs.
FOLDS = 2
PRUNING_EPOCHS = 5


@dataclass(frozen=True, slots=True, eq=False)
class GraphExample:
    """A sentence to learn from.

    ``graph``: over the candidate arcs and those that agree with the tree.
    ``agrees`` bool[E]: arcs that agree with the tree, which may be partial.
    ``observed`` (float64[E], list of float64[F]) or None: which arcs, and which factors of each family, the
        tree has; None where it is partial.
    """

    encoded: EncodedSentence
    graph: SentenceGraph
    agrees: NDArray[np.bool_]
    observed: Expectations | None


def graph_examples(
    sentences: Sequence[Sentence],
    base: ArcParser,
    pruners: Sequence[ArcParser],
    *,
    graph_options: GraphOptions,
) -> list[GraphExample]:
    """Lay out the graphs of sentences, those with too many factors left out."""
    examples = []
    for i, sentence in enumerate(track(sentences, "pruning", total=len(sentences))):
        encoded = base.scorer.encode(sentence)
        scores = pruners[i % len(pruners)].scores(sentence)
        example = _example(sentence, encoded, scores, base, graph_options)
        if example.graph.n_factors <= graph_options.max_factors:
            examples.append(example)
    return examples


def sentences_with_trees(sentences: Sequence[Sentence], base: ArcParser) -> list[Sentence]:
    """Return those sentences that can be learned from, by the rules of the first-order parser."""
    usable, _ = usable_sentences(sentences)
    return [s for s in usable if base.inference.admits(agreeing_arcs(s.heads, base.inference))]


def train_pruners(
    sentences: Sequence[Sentence], base: ArcParser, *, rng: np.random.Generator, options: TrainingOptions
) -> list[ArcParser]:
    """Train a parser for every FOLDS-th sentence on all others; labels are not needed."""
    if len(sentences) < 2 * FOLDS:
        return [base]
    bare = [replace(sentence, deprels=("_",) * len(sentence)) for sentence in sentences]
    shape = replace(
        options,
        template_set=base.scorer.template_set,
        epochs=min(options.epochs, PRUNING_EPOCHS),
        projective=base.inference.projective,
        single_root=base.inference.single_root,
    )
    folds = [[s for i, s in enumerate(bare) if i % FOLDS != fold] for fold in range(FOLDS)]
    return [train_arc_parser(fold, rng=rng, options=shape)[0] for fold in folds]


def _example(
    sentence: Sentence, encoded: EncodedSentence, scores: Scores, base: ArcParser, options: GraphOptions
) -> GraphExample:
    """Prune one sentence, keeping what agrees with its tree."""
    agreeing = agreeing_arcs(sentence.heads, base.inference)
    candidates = candidate_arcs(base.inference.infer(scores)[1], base.inference, threshold=options.threshold)
    partial = not is_whole(sentence.heads)
    if partial:
        # A partial tree agrees with many arcs; what fits it and is likely stands for them.
        within = base.inference.infer(np.where(agreeing, scores, -np.inf))[1]
        agreeing = candidate_arcs(within, base.inference, threshold=options.threshold)
    graph = sentence_graph(
        candidates | agreeing,
        base.inference,
        families=options.families_for(base.inference),
        constraint=options.constraint,
    )
    agrees = agreeing[graph.heads, graph.dependents]
    observed = None
    if not partial:
        nothing = [np.zeros(len(family.scored)) for family in graph.families]
        observed = expectations(graph, np.where(agrees, np.inf, -np.inf), nothing, iterations=1)[1]
    return GraphExample(encoded, graph, agrees, observed)
