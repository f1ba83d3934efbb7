"""Groups of words that attachment scores are broken down by: sentence length, tag, relation, distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Grouping:
    """A way to put words into groups.

    Attributes
    ----------
    names : function of a Sentence
        Gives the group of each of its n words, or None for a word in no group.
    order : tuple of str
        The groups in the order to show them; empty: the largest first.
    of_tree : bool
        Whether the group depends on the tree, so that gold and system may differ in it.
    """

    names: Callable[[Sentence], Sequence[str | None]]
    order: tuple[str, ...] = ()
    of_tree: bool = False


# Upper limits of the bins, in words, each with its name; what is beyond the last limit has its own name.
_LENGTH_BINS = ((10, "1-10"), (20, "11-20"), (30, "21-30"), (40, "31-40"))
_LONGEST = "41+"
_DISTANCE_BINS = ((1, "1"), (2, "2"), (6, "3-6"))
_FARTHEST = "7+"
_DISTANCES = (*(name for _, name in _DISTANCE_BINS), _FARTHEST)


def _length_bins(sentence: Sentence) -> list[str | None]:
    name = next((name for limit, name in _LENGTH_BINS if len(sentence) <= limit), _LONGEST)
    return [name] * len(sentence)


def _distance_bins(sentence: Sentence) -> list[str | None]:
    return [_distance_bin(head, word) for word, head in enumerate(sentence.heads[1:].tolist(), start=1)]


def _distance_bin(head: int, word: int) -> str | None:
    if head == NO_HEAD:
        return None
    if head == ROOT:
        return "root"
    distance = next((name for limit, name in _DISTANCE_BINS if abs(head - word) <= limit), _FARTHEST)
    return f"{'left' if word < head else 'right'} {distance}"


#: ``length``: number of words of the sentence. ``tag``: UPOS. ``relation``: DEPREL with its subtype.
#: ``distance``: how many words from the head to its dependent, and on which side of the head that stands.
GROUPINGS: Mapping[str, Grouping] = MappingProxyType(
    {
        "length": Grouping(_length_bins, order=(*(name for _, name in _LENGTH_BINS), _LONGEST)),
        "tag": Grouping(lambda sentence: sentence.upos),
        "relation": Grouping(lambda sentence: sentence.deprels, of_tree=True),
        "distance": Grouping(
            _distance_bins,
            order=("root", *(f"{side} {distance}" for side in ("left", "right") for distance in _DISTANCES)),
            of_tree=True,
        ),
    }
)
