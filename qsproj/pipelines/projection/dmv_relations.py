"""Relations for parsers learned by EM: the labeller of soft projection, above one of the source's trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.features.arc_templates import IN_TREE
from qsproj.models.arc.labeller import train_labeller
from qsproj.models.dmv.dmv import Dmv
from qsproj.pipelines.projection.method_options import SoftProjectionOptions
from qsproj.pipelines.projection.soft_prior import PRIOR_TEMPLATE_SET, TEMPLATE_SET
from qsproj.pipelines.projection.soft_relations import learn_relations

# Relations are learned from so many pairs at most.
LABELLED_PAIRS = 5000
# Longer sentences have trees that are worse, and take longer.
LONGEST = 40


class FirstPairs:
    """Sentence pairs, passed on; the first whose links may carry relations over are kept.

    Attributes
    ----------
    kept : list of SentencePair
        Of the pairs so far, LABELLED_PAIRS at most.
    """

    def __init__(self, pairs: Iterable[SentencePair]) -> None:
        self.kept: list[SentencePair] = []
        self._pairs = pairs

    def __iter__(self) -> Iterator[SentencePair]:
        """Pass the pairs on; what was kept of an earlier pass is kept no more."""
        self.kept = []
        for pair in self._pairs:
            if (
                len(self.kept) < LABELLED_PAIRS
                and 0 < len(pair.target) <= LONGEST
                and len(pair.alignment.links)
            ):
                self.kept.append(pair)
            yield pair


def with_relations(
    model: Dmv,
    pairs: list[SentencePair],
    tree_of: Callable[[SentencePair], Sentence],
    *,
    rng: np.random.Generator,
) -> Dmv:
    """Return the model with a labeller of what links carry over to its trees of some pairs.

    Parameters
    ----------
    model : Dmv
        Not changed.
    pairs : list of SentencePair
        Where no source word has a relation, none is learned.
    tree_of : callable
        Gives the target sentence of a pair with its tree; its relations are not read.
    rng : numpy.random.Generator
        Orders the sentences; the same seed gives the same labeller.
    """
    sources = [pair.source for pair in pairs]
    prior = train_labeller(sources, rng=rng, template_set=f"{PRIOR_TEMPLATE_SET}{IN_TREE}")
    if prior is None:
        return model
    labeller, _ = learn_relations(
        [tree_of(pair) for pair in pairs],
        [(pair,) for pair in pairs],
        prior=prior,
        template_set=TEMPLATE_SET,
        rng=rng,
        strength=SoftProjectionOptions().strength,
    )
    return replace(model, labeller=labeller)
