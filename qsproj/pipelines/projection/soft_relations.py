"""What parsed translations say of the relations of a target tree, and the labeller that learns from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.labeller import Labeller, start_above, train_on_evidence
from qsproj.pipelines.projection.soft_evidence import UNLABELLED, link_strengths, source_arcs
from qsproj.pipelines.translations import Translations


def relation_evidence(
    translations: Translations, heads: Heads, numbers: Mapping[str, int]
) -> NDArray[np.float64]:
    """Return how strongly the links carry a source arc of each relation over to each arc of a target tree.

    Parameters
    ----------
    heads : int32[n+1]
        The target tree; -1 where a head is missing.
    numbers : mapping of str to int
        The column of each relation; others say nothing.

    Returns
    -------
    float64[n+1, L]
        Between 0 and 1. Summed over relations, what :func:`.soft_evidence.pooled_evidence` gives the arc, but
        for relations without a column and for what it cuts off above 1.
    """
    evidence = np.zeros((len(heads), len(numbers)))
    for pair in translations:
        strengths, arcs = link_strengths(pair.alignment), source_arcs(pair.source)
        columns = np.array([-1, *(numbers.get(relation, -1) for relation in pair.source.deprels)])
        known = np.flatnonzero((pair.source.heads >= 0) & (columns >= 0))
        above = pair.source.heads[known]
        # [source word, target word]: the arc into the one carried over to the arc into the other.
        carried = strengths[known] * arcs[above, known][:, None] * strengths[above][:, heads]
        carried[:, heads < 0] = 0.0
        np.add.at(evidence.T, columns[known], carried)
    clipped: NDArray[np.float64] = np.minimum(evidence, 1.0)
    return clipped


def source_relations(corpus: Sequence[Translations]) -> set[str]:
    """Return the relations of all source words."""
    found = {relation for translations in corpus for pair in translations for relation in pair.source.deprels}
    return found - {UNLABELLED}


def learn_relations(
    trees: Sequence[Sentence],
    corpus: Sequence[Translations],
    *,
    prior: Labeller | None,
    template_set: str,
    rng: np.random.Generator,
    strength: float,
) -> tuple[Labeller | None, list[Sentence]]:
    """Learn relations from what links carry over to the arcs of target trees.

    On dev files of German, Spanish and Swedish, relations learned from one choice for each arc (the source's
    where links carry one over, else the prior's) were 3 points worse, in Spanish and Swedish worse than the
    prior's alone. A channel that tells how relations are translated (a compound becomes a nominal modifier),
    learned by EM from the prior's probabilities, was no better.

    Parameters
    ----------
    trees : sequence of Sentence
        One for each entry of ``corpus``.
    corpus : sequence of Translations
    prior : Labeller or None
        Of other languages.
    template_set : str
        Of arcs.
    strength : float
        Log of the likelihood ratio of a relation whose evidence is 1.

    Returns
    -------
    Labeller or None
        None where no relation is known.
    list of Sentence
        The trees with the best relations under the labeller and the evidence.
    """
    relations = source_relations(corpus)
    if not relations and prior is None:
        return None, list(trees)
    start = start_above(prior, template_set, relations)
    numbers = {relation: number for number, relation in enumerate(start.relations)}
    evidence = [
        strength * relation_evidence(translations, tree.heads, numbers)
        for tree, translations in zip(trees, corpus, strict=True)
    ]
    labeller = train_on_evidence(start, trees, evidence, rng=rng)
    labels = [
        labeller.label(labeller.encode(tree), tree.heads, known)
        for tree, known in zip(trees, evidence, strict=True)
    ]
    return labeller, [with_heads(tree, tree.heads, of) for tree, of in zip(trees, labels, strict=True)]
