"""Relations learned from uncertain evidence, above a labeller of another language.

What soft projection does for arcs, for their relations: the weights start at those of a labeller that reads
tags and trees alone, weights of words are learned with them, so that what links carry over becomes more
probable, and part of what was learned is added. Where evidence says nothing, nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence
from qsproj.features.label_templates import IN_TREE
from qsproj.kernels.features.label_features import step_label_evidence
from qsproj.models.arc.labeller import Labeller, LabelTrainer, grown, untrained
from qsproj.training.loop import learn

# Of rates .03 and .1, and 2 to 8 passes, none was better by more than .2 on dev files of three languages.
RATE = 0.1
EPOCHS = 3


def start_above(prior: Labeller | None, template_set: str, relations: Iterable[str]) -> Labeller:
    """Return where learning starts: the prior's weights under templates that read words as well.

    All templates of the prior are among those of the set, and a feature of the same name has the same bucket
    in both.

    Parameters
    ----------
    prior : Labeller or None
        None: all relations are equally likely.
    template_set : str
        Of arcs: ``words``, say. The labeller reads the tree where the prior does.
    relations : iterable of str
        Those to be known beside the prior's.
    """
    if prior is None:
        return untrained(f"{template_set}{IN_TREE}", relations)
    in_tree = IN_TREE if prior.template_set.endswith(IN_TREE) else ""
    return replace(grown(prior, relations), template_set=f"{template_set}{in_tree}")


def train_on_evidence(
    start: Labeller,
    trees: Sequence[Sentence],
    evidence: Sequence[NDArray[np.float64]],
    *,
    rng: np.random.Generator,
    share: float,
) -> Labeller:
    """Learn relations from evidence for them.

    Parameters
    ----------
    start : Labeller
        Where learning starts; not changed.
    trees : sequence of Sentence
        Whose arcs the evidence is about; their relations are not read.
    evidence : sequence of float64[n+1, L]
        Log of how much likelier what was seen is under each relation of ``start``; 0 where nothing is known.
    rng : numpy.random.Generator
        Orders the trees; the same seed gives the same labeller.
    share : float
        Of what was learned this much is added to the weights of ``start``.
    """
    examples = [
        (start.encode_tree(tree), tree.heads, known) for tree, known in zip(trees, evidence, strict=True)
    ]
    trainer = LabelTrainer(start, step_label_evidence, rate=RATE)
    learned, _ = learn(trainer, examples, epochs=EPOCHS, rng=rng, description="training labels")
    moved = start.weights + np.float32(share) * (learned.weights - start.weights)
    return replace(learned, weights=moved)
