"""Projection through a quasi-synchronous grammar: conditional EM over trees and alignments."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.conllu import with_heads, write_conllu
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.dmv import TREES
from qsproj.models.em_checkpoint import Checkpoint
from qsproj.models.qg_dmv import QgDmv
from qsproj.models.qg_dmv_training import QgOptions, train_qg_dmv
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.projected import Projected, em_summary


def project_qg(
    pairs: Iterable[SentencePair],
    *,
    training: QgOptions,
    workers: Workers = THIS_PROCESS,
    checkpoint: Checkpoint | None = None,
    trees: str | None = None,
) -> Projected:
    """Train a QG-DMV on the pairs (thesis 4.6.3.4).

    Parameters
    ----------
    pairs : iterable of SentencePair
        The source with trees, the target with tags. Iterated a second time where ``trees`` are asked for.
    trees : path or None
        Where to write the target sentences, each with its tree of most expected right heads given the source
        tree and the links; where the source has no whole tree, given the target's tags alone.

    Raises
    ------
    UsageError
        When no pair can be learned from.
    DataError
        When the checkpoint is of other data or options.
    """
    model, report = train_qg_dmv(pairs, options=training, workers=workers, checkpoint=checkpoint)
    if trees:
        write_conllu(map_in_order(partial(tree_given_source, model), pairs, workers=workers), trees)
    learned = ", ".join(f"{name} {share:.3f}" for name, share in report.configurations.items())
    return Projected(
        model,
        (
            *em_summary(
                f"trained on {report.pairs} pairs", report.iterations, report.converged, report.skipped
            ),
            f"configurations: {learned}",
        ),
    )


def tree_given_source(model: QgDmv, pair: SentencePair) -> Sentence:
    """Return the target sentence with its tree of most expected right heads, given the source and the links.

    Raises
    ------
    UsageError
        When the target has no words or too many.
    """
    if not len(pair.source) or np.any(pair.source.heads[1:] == NO_HEAD):
        return model.parse(pair.target)
    heads = TREES.best(model.arc_probabilities(pair))
    return with_heads(pair.target, heads, ["root" if head == ROOT else "dep" for head in heads[1:]])
