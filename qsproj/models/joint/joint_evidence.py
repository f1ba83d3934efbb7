"""What hand alignments say of candidate links, which training takes as observed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.errors import counted
from qsproj.features.joint_templates import ALIGN_HMMS, ALIGN_ITG
from qsproj.models.joint.joint_structure import FALSE_STATE, TRUE_STATE, UNKNOWN

# Which ends of a link belong to words that a factor links once at most.
_ENDS = {**dict(zip(ALIGN_HMMS, ((1,), (0,)), strict=True)), ALIGN_ITG: (0, 1)}


def observed_links(
    candidates: Alignment, hand: Alignment, families: tuple[str, ...] = ()
) -> NDArray[np.int8]:
    """Return what is known of each candidate, int8[k]: UNKNOWN, FALSE_STATE or TRUE_STATE.

    Sure links are true and links that are not even possible are false; those that annotators only called
    possible stay hidden. Where ALIGNHMM or ALIGNITG among ``families`` allows a word one link and it has
    several sure ones, which of them it is stays hidden, too. Hand links that are no candidates teach nothing
    (:func:`count_hand_links` counts them): they have no posterior, and no false link would be like them.
    """
    judged = dict(zip(map(tuple, hand.links.tolist()), hand.sure.tolist()))
    known = [judged.get(tuple(link)) for link in candidates.links.tolist()]
    by_judgement = {None: FALSE_STATE, True: TRUE_STATE, False: UNKNOWN}
    states = np.array([by_judgement[sure] for sure in known], dtype=np.int8)
    for family in families:
        sure = states == TRUE_STATE
        for end in _ENDS.get(family, ()):
            words = candidates.links[:, end]
            states[sure & (np.bincount(words[sure], minlength=words.max(initial=0) + 1)[words] > 1)] = UNKNOWN
    return states


@dataclass(frozen=True, slots=True)
class HandLinkCounts:
    """How hand alignments met candidate links.

    ``pairs``: pairs that have a hand alignment. ``sure``, ``missed``: their sure hand links, and those of
    them that are no candidates.
    """

    pairs: int
    sure: int
    missed: int

    def summary(self) -> str:
        """Say it in a line."""
        return (
            f"hand alignments of {counted(self.pairs, 'pair')}; {self.missed:,} of "
            f"{counted(self.sure, 'sure link')} not among the candidates"
        )


def count_hand_links(pairs: Iterable[SentencePair]) -> HandLinkCounts | None:
    """Count the sure hand links of some pairs, and those that are no candidates; None: there are none."""
    by_hand = sure = missed = 0
    for pair in pairs:
        if pair.hand is None:
            continue
        links = set(map(tuple, pair.hand.links[pair.hand.sure].tolist()))
        by_hand += 1
        sure += len(links)
        missed += len(links - set(map(tuple, pair.alignment.links.tolist())))
    return HandLinkCounts(by_hand, sure, missed) if by_hand else None
