"""Which target words have several likely tags: each becomes a TAG variable of the pair's graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.tagging.link_tagger import LinkTagger

# Tags that a word may choose from, at most: the most probable ones.
MOST_TAGS = 4


@dataclass(frozen=True, slots=True, eq=False)
class TagChoices:
    """The words of a target sentence whose tags are uncertain.

    ``words`` int32[U]: ascending, one at least.
    ``tags``: the likely tags of each, two at least; the first is the one that the sentence has.
    ``scores`` float64[U, K]: what the tagger alone says of each tag against the first one, natural log; -inf
        where there is none.
    """

    words: NDArray[np.int32]
    tags: tuple[tuple[str, ...], ...]
    scores: NDArray[np.float64]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Tell which tags there are, bool[U, K]."""
        possible: NDArray[np.bool_] = self.scores > -np.inf
        return possible

    def applied(self, sentence: Sentence, states: NDArray[np.integer]) -> Sentence:
        """Return the sentence with the chosen tags, int[U]."""
        upos = list(sentence.upos)
        for word, names, state in zip(self.words.tolist(), self.tags, states.tolist(), strict=True):
            upos[word - 1] = names[min(state, len(names) - 1)]
        return with_columns(sentence, upos=upos)

    def with_truth(self, upos: Sequence[str]) -> tuple[TagChoices | None, NDArray[np.int8]]:
        """Return the words whose true tag can be chosen, and which one that is, int8[U].

        The others keep the tag that the sentence has: a truth that cannot be reached teaches nothing. None:
        no word is left.
        """
        true = [upos[word - 1] for word in self.words.tolist()]
        left = [u for u, (tag, names) in enumerate(zip(true, self.tags, strict=True)) if tag in names]
        states = np.array([self.tags[u].index(true[u]) for u in left], dtype=np.int8)
        if not left:
            return None, states
        return TagChoices(self.words[left], tuple(self.tags[u] for u in left), self.scores[left]), states


def tag_choices(
    tagger: LinkTagger, pair: SentencePair, scores: Scores, *, least_probability: float
) -> tuple[Sentence, TagChoices | None]:
    """Tag the target of a pair, and say which of its words have other likely tags.

    ``scores`` float64[n+1, T]: the tagger's, natural log.
    """
    sentence = tagger.decided(pair, scores)
    chances = tagger.chances(pair, scores)
    likely = np.minimum((chances >= least_probability).sum(axis=1), MOST_TAGS)
    likely[[0, *(i for i, tag in enumerate(pair.target.upos, start=1) if tag != UNSPECIFIED)]] = 0
    words = np.flatnonzero(likely > 1).astype(np.int32)
    if not len(words):
        return sentence, None
    counts = likely[words]
    ranked = np.argsort(-chances[words], axis=1, kind="stable")[:, : counts.max()]
    own = tagger.table.scale * np.take_along_axis(scores[words], ranked, axis=1)
    relative = np.where(np.arange(counts.max()) < counts[:, None], own - own[:, :1], -np.inf)
    tags = tuple(
        tuple(tagger.tagger.tags[number] for number in row[:count])
        for row, count in zip(ranked.tolist(), counts.tolist(), strict=True)
    )
    return sentence, TagChoices(words, tags, relative)
