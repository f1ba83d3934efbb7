"""Projection to a DMV: from tags alone, or with projected arcs given and the rest imputed by EM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError, counted, listed_reasons
from qsproj.models.checkpoint import LOCAL_RUN, EMRun
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.dmv.dmv_training import DmvReport, train_dmv
from qsproj.parallel import map_in_order
from qsproj.pipelines.projection.dmv_relations import FirstPairs, with_relations
from qsproj.pipelines.projection.hard_projection import project_tree
from qsproj.pipelines.projection.method_options import ProjectedArcs
from qsproj.pipelines.projection.project import ProjectedTrees
from qsproj.pipelines.projection.projected import BLOCK_SENTENCES, Projected
from qsproj.pipelines.projection.tree_selection import attached_share, none_dense_enough


def project_hard_em(
    pairs: Iterable[SentencePair],
    *,
    projection: ProjectedArcs,
    training: DmvOptions,
    rng: np.random.Generator,
    run: EMRun = LOCAL_RUN,
) -> Projected:
    """Train a DMV on projected arcs, the missing ones imputed (thesis 4.6.3.3, "hard projection with EM").

    The trees that come with it are projected arcs, completed by the model. ``training``: with ``keep_heads``,
    and no iteration for a DMV of whole projected trees alone. Raises UsageError when there is nothing to
    learn from, DataError when the checkpoint is of other data or options.
    """
    project = partial(ProjectedTrees, completion=projection.completion, min_weight=projection.min_weight)
    passed = FirstPairs(pairs)
    projected = project(passed)
    dense = (tree for tree in projected if len(tree) and attached_share(tree) >= projection.min_attached)
    first = next(dense, None)
    if first is None:
        raise none_dense_enough(projection.min_attached)
    unlabelled, report = train_dmv(chain([first], dense), options=training, run=run)
    carried = partial(project_tree, completion=projection.completion, min_weight=projection.min_weight)
    model = with_relations(
        unlabelled, passed.kept, lambda pair: unlabelled.complete(carried(pair)[0]), rng=rng
    )

    def completed() -> Iterator[Sentence]:
        again = _with_words(project(pairs))
        return map_in_order(model.complete, again, workers=run.workers, block=BLOCK_SENTENCES)

    return Projected(model, (*projected.counts.summary(), *_summary(report)), trees=completed)


def project_tags_only(
    pairs: Iterable[SentencePair],
    *,
    training: DmvOptions,
    rng: np.random.Generator,
    run: EMRun = LOCAL_RUN,
) -> Projected:
    """Train a DMV on the target's tags by EM, the source not looked at (thesis 4.6.3.2): a baseline.

    For relations alone the source's are carried over to the arcs that were found, where it has any.
    Parameters and errors as those of :func:`project_hard_em`; EM that starts from trees is an error, too.
    """
    if training.start == "trees":
        raise UsageError("--method em looks at no tree; choose --start harmonic or uniform")
    passed = FirstPairs(pairs)
    targets = (pair.target for pair in passed if len(pair.target))
    unlabelled, report = train_dmv(targets, options=training, run=run)
    model = with_relations(unlabelled, passed.kept, lambda pair: unlabelled.parse(pair.target), rng=rng)

    def parsed() -> Iterator[Sentence]:
        again = _with_words(pair.target for pair in pairs)
        return map_in_order(model.parse, again, workers=run.workers, block=BLOCK_SENTENCES)

    return Projected(model, _summary(report), trees=parsed)


def _with_words(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Pass sentences on; one without words, which an aligner passes over, has no tree."""
    for sentence in sentences:
        if not len(sentence):
            raise UsageError("a target sentence has no words, and so no tree; leave out --trees, or the pair")
        yield sentence


def _summary(report: DmvReport) -> tuple[str, ...]:
    whole = f", of which {report.whole} with all heads" if report.whole else ""
    what = f"trained on {counted(report.sentences, 'sentence')}{whole}"
    return (
        f"{what}; left out: {listed_reasons(report.skipped)}",
        *report.ending(),
    )
