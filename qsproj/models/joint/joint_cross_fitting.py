"""What second-order parsers say of training sentences that they were not trained on.

As for the first order (:mod:`qsproj.models.arc.cross_fitting`): a parser is surer of its own training trees
than of any others, and joint weights that were learned beside it would find nothing left to explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.graph.graph_training import train_graph_parser
from qsproj.models.joint.joint_trees import TreeScores, tree_scores
from qsproj.models.joint.tags.choices import TagChoices
from qsproj.models.tree_inference import reachable
from qsproj.progress import track

FOLDS = 5


def cross_fitted_trees(
    sentences: Sequence[Sentence],
    parser: GraphParser,
    *,
    rng: np.random.Generator,
    options: TrainingOptions,
    folds: int = FOLDS,
    again: Sequence[Sentence] = (),
    choices: Sequence[TagChoices | None] | None = None,
) -> list[TreeScores]:
    """Ask of each sentence a parser that was trained on the others; its tree is kept possible."""
    inference = parser.inference
    shape = replace(
        options,
        template_set=parser.base.scorer.template_set,
        projective=inference.projective,
        single_root=inference.single_root,
    )
    # Labels are not asked for.
    bare = [replace(sentence, deprels=("_",) * len(sentence)) for sentence in (*sentences, *again)]
    fold_of = rng.permutation(len(sentences)) % min(folds, len(sentences))
    found: dict[int, TreeScores] = {}
    for fold in track(range(fold_of.max() + 1), "training on other folds", unit="fold"):
        others = np.flatnonzero(fold_of != fold).tolist()
        rest = [bare[i] for i in (*others, *(len(sentences) + i for i in others if again))]
        other, _ = train_graph_parser(rest, rng=rng, options=shape, graph_options=parser.options)
        for i in np.flatnonzero(fold_of == fold).tolist():
            tree = reachable(sentences[i].heads, inference)
            own = None if choices is None else choices[i]
            found[i] = tree_scores(other, sentences[i], required=tree, choices=own)
    return [found[i] for i in range(len(sentences))]
