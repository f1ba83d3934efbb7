"""Hard projection: a parsed source, a tagged target and word links in, a parser of the target out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import counted
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.pipelines.projection.hard_projection import ProjectionCounts, project_tree
from qsproj.pipelines.projection.method_options import MIN_WEIGHT, HardProjectionOptions
from qsproj.pipelines.projection.projected import Projected, with_trees_and_tags
from qsproj.pipelines.projection.tree_selection import densest_of_each_length, none_dense_enough
from qsproj.progress import track


class ProjectedTrees:
    """The target sentences of pairs with what is projected onto them, made once, and counts of them."""

    def __init__(
        self, pairs: Iterable[SentencePair], *, completion: str = "none", min_weight: float = MIN_WEIGHT
    ) -> None:
        self.counts = ProjectionCounts()
        self._pairs = pairs
        self._completion = completion
        self._min_weight = min_weight

    def __iter__(self) -> Iterator[Sentence]:
        """Yield the trees, whole, partial or empty; UsageError without source trees or target tags."""
        for pair in with_trees_and_tags(track(self._pairs, "projecting", unit="pair")):
            tree, more = project_tree(pair, completion=self._completion, min_weight=self._min_weight)
            self.counts += more
            yield tree


def train_on_projection(
    trees: Iterable[Sentence],
    *,
    rng: np.random.Generator,
    selection: HardProjectionOptions,
    training: TrainingOptions,
) -> tuple[ArcParser, TrainingReport, int]:
    """Train a parser on the projected trees that are dense enough; return also how many these were."""
    chosen = densest_of_each_length(
        trees, min_attached=selection.min_attached, max_sentences=selection.max_sentences
    )
    if not chosen:
        raise none_dense_enough(selection.min_attached)
    parser, report = train_arc_parser(chosen, rng=rng, options=training)
    return parser, report, len(chosen)


def project_hard(
    pairs: Iterable[SentencePair],
    *,
    rng: np.random.Generator,
    projection: HardProjectionOptions,
    training: TrainingOptions,
) -> Projected:
    """Project arcs through links and train a parser on what is dense enough.

    Raises UsageError when no source word has a head, no target word a tag, or no projected tree is dense
    enough.
    """
    project = partial(
        ProjectedTrees, pairs, completion=projection.completion, min_weight=projection.min_weight
    )
    projected = project()
    parser, report, used = train_on_projection(projected, rng=rng, selection=projection, training=training)
    trained = f"trained on {counted(used, 'sentence')}: {report.summary(parser.inference)}"
    return Projected(parser, (*projected.counts.summary(), trained), trees=project)
