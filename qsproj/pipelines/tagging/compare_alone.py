"""Whether links help at all: where there are many tagged sentences, these alone teach more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.errors import counted
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import TaggerOptions, accuracy, train_tagger
from qsproj.pipelines.tagging.few_tagged import FewTagged
from qsproj.pipelines.tagging.linked_text import LinkedText

# In percent. A tagger that is worse by more than this without word classes is worse with them.
WORTH_OF_CLASSES = 2.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What tagged sentences that were set aside say.

    Attributes
    ----------
    alone_wins : bool
        Whether a tagger of tagged sentences alone is better.
    report : tuple of str
        Lines for the user; none where no sentence was set aside.
    """

    alone_wins: bool
    report: tuple[str, ...] = ()


def compare_with_tagged_alone(
    tagger: Tagger,
    text: LinkedText,
    learned_from: FewTagged,
    aside: Sequence[Sentence],
    *,
    rng: np.random.Generator,
) -> Verdict:
    """Compare a tagger that learned from links and tagged sentences with one of these alone.

    Parameters
    ----------
    tagger : Tagger
    text : LinkedText
        Of which the other tagger has word classes, where it may win by them.
    learned_from : FewTagged
        What both learn from.
    aside : sequence of Sentence
        What both are tested on; none: links win.
    """
    if not aside:
        return Verdict(alone_wins=False)
    with_links = accuracy(tagger, aside)
    options = TaggerOptions(self_training=0)
    alone = accuracy(train_tagger(learned_from.sentences, rng=rng, options=options), aside)
    if alone > with_links - WORTH_OF_CLASSES:
        richer = train_tagger(learned_from.sentences, rng=rng, raw=text.sentences, options=options)
        alone = max(alone, accuracy(richer, aside))
    wins = alone > with_links
    lines = [
        f"{counted(len(aside), 'tagged sentence')} set aside: {with_links:.1f}% of words right with links, "
        f"{alone:.1f}% without"
    ]
    if wins:
        lines.append("links do not help: learned from the tagged sentences and the raw text alone")
    return Verdict(wins, tuple(lines))
