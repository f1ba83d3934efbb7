"""Projection through a quasi-synchronous grammar: conditional EM over trees and alignments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.conventions import NO_HEAD
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import counted, listed_reasons, unknown_name
from qsproj.models.checkpoint import LOCAL_RUN, EMRun
from qsproj.models.dmv.dmv import TREES, Dmv, kept_words, strip_heads
from qsproj.models.dmv.dmv_options import DmvOptions
from qsproj.models.dmv.dmv_training import train_dmv
from qsproj.models.qg_dmv.qg_dmv import QgDmv
from qsproj.models.qg_dmv.qg_dmv_options import STARTS, QgOptions
from qsproj.models.qg_dmv.qg_dmv_training import train_qg_dmv
from qsproj.parallel import map_in_order
from qsproj.pipelines.projection.dmv_relations import FirstPairs, with_relations
from qsproj.pipelines.projection.hard_projection import project_tree
from qsproj.pipelines.projection.projected import BLOCK_SENTENCES, Projected, with_trees_and_tags

# The counts of a DMV over tags are full by then.
MOST_WHOLE_TREES = 10_000


def project_qg(
    pairs: Iterable[SentencePair],
    *,
    training: QgOptions,
    rng: np.random.Generator,
    run: EMRun = LOCAL_RUN,
) -> Projected:
    """Train a QG-DMV on the pairs (thesis 4.6.3.4), by default from the counts of trees that project whole.

    The trees that come with it are those of most expected right heads given the source tree and the links;
    where the source has no whole tree, given the target's tags alone. Raises UsageError when there is nothing
    to learn from, DataError when the checkpoint is of other data or options.
    """
    if training.start not in STARTS:
        raise unknown_name("start", training.start, list(STARTS))
    passed = FirstPairs(pairs)
    projected = _WholeTrees(passed, training)
    unlabelled, report = train_qg_dmv(projected, start=projected.counted, options=training, run=run)
    given_source = partial(tree_given_source, unlabelled)
    labelled = with_relations(unlabelled.monolingual, passed.kept, given_source, rng=rng)
    model = replace(unlabelled, monolingual=labelled)
    what = f"trained on {counted(report.pairs, 'pair')}"
    learned = ", ".join(f"{name} {share:.3f}" for name, share in report.configurations.items())
    return Projected(
        model,
        (
            f"{what}; left out: {listed_reasons(report.skipped)}",
            *report.ending(),
            f"configurations: {learned}",
        ),
        trees=lambda: map_in_order(
            partial(tree_given_source, model), pairs, workers=run.workers, block=BLOCK_SENTENCES
        ),
    )


class _WholeTrees:
    """Sentence pairs, passed on; the first target sentences onto which a whole tree is projected are kept.

    None is kept where EM starts from something else.
    """

    def __init__(self, pairs: Iterable[SentencePair], options: QgOptions) -> None:
        self._pairs = pairs
        self._punctuation = options.punctuation
        self._most = MOST_WHOLE_TREES if options.start == "trees" else 0
        self._trees: list[Sentence] = []

    def __iter__(self) -> Iterator[SentencePair]:
        for pair in with_trees_and_tags(self._pairs):
            if len(self._trees) < self._most and len(pair.target):
                tree, _ = project_tree(pair)
                kept = kept_words(tree.upos, punctuation=self._punctuation)
                if np.all(strip_heads(tree.heads, kept)[1:] != NO_HEAD):
                    self._trees.append(tree)
            yield pair

    def counted(self) -> Dmv | None:
        """Return the DMV of the trees' relative frequencies; None where there is no tree."""
        if not self._trees:
            return None
        options = DmvOptions(start="trees", keep_heads=True, iterations=0, punctuation=self._punctuation)
        return train_dmv(self._trees, options=options)[0]


def tree_given_source(model: QgDmv, pair: SentencePair) -> Sentence:
    """Return the target sentence with its tree of most expected right heads, given source and links."""
    if not len(pair.source) or np.any(pair.source.heads[1:] == NO_HEAD):
        return model.parse(pair.target)
    heads = TREES.best(model.arc_probabilities_given_source(pair))
    return with_heads(pair.target, heads, model.monolingual.relations(pair.target, heads))
