"""Tags of the target side of pairs that a joint parser learns from: as given, or as a tagger has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.joint.tags.choices import TagChoices, tag_choices
from qsproj.models.tagging.link_tagger import LinkTagger, train_link_tagger, untagged


@dataclass(frozen=True, slots=True, eq=False)
class TargetTags:
    """What is known of the tags of target words in training.

    ``tagger``: which is stored with the parser; None: tags are those of the files.
    ``choices``: for each pair, its target words that have other likely tags, the true one among them; None:
        tags are not decided with the trees.
    ``states`` tuple of int8[U]: which of its possible tags each of these words has.
    ``true``: the targets with their true tags: the target's parser learns from these, too. None: tags are
        those of the files. On the dev file of LinES that gains .4 to .6 UAS.
    """

    tagger: LinkTagger | None = None
    choices: list[TagChoices | None] | None = None
    states: tuple[NDArray[np.int8], ...] = ()
    true: list[Sentence] | None = None

    def of(self, number: int) -> tuple[TagChoices | None, NDArray[np.int8] | None]:
        """Return the choices of a pair, and what is true of them."""
        if self.choices is None:
            return None, None
        return self.choices[number], self.states[number]


GIVEN = TargetTags()


def learned_tags(
    pairs: Sequence[SentencePair], *, rng: np.random.Generator, threshold: float | None
) -> tuple[TargetTags, list[SentencePair]]:
    """Learn to tag the target side of pairs."""
    tagger, tagged, scores = train_link_tagger(pairs, rng=rng)
    retagged = [replace(pair, target=own) for pair, own in zip(pairs, tagged, strict=True)]
    true = [pair.target for pair in pairs]
    if threshold is None:
        return TargetTags(tagger, true=true), retagged
    choices, states = [], []
    for pair, own in zip(pairs, scores, strict=True):
        _, found = tag_choices(tagger, untagged(pair), own, least_probability=threshold)
        left, state = (
            (None, np.zeros(0, dtype=np.int8)) if found is None else found.with_truth(pair.target.upos)
        )
        choices.append(left)
        states.append(state)
    return TargetTags(tagger, choices, tuple(states), true), retagged
