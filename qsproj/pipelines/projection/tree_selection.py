"""Choice of the projected trees to train on: dense ones, of all lengths."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable

import numpy as np

from qsproj.conventions import NO_HEAD
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError

# The most words of each band but the last.
BANDS = (5, 10, 15, 20, 25, 30, 40, 60)


def attached_share(tree: Sentence) -> float:
    """Return the share of the words that have a head; 0 where there are no words."""
    return float(np.mean(tree.heads[1:] != NO_HEAD)) if len(tree) else 0.0


def none_dense_enough(min_attached: float) -> NothingToLearnError:
    """Build the error for when there is no tree to train on."""
    return NothingToLearnError(
        f"no projected tree has heads for {100 * min_attached:g}% of its words; "
        "lower --min-attached, or align with --symmetrize grow-diag for more links"
    )


def densest_of_each_length(
    trees: Iterable[Sentence], *, min_attached: float, max_sentences: int
) -> list[Sentence]:
    """Choose the trees in which most words have a head, as many of each length as the corpus has.

    Short sentences are attached more densely than long ones: who chooses by density alone teaches a parser
    what short sentences look like. So each band of lengths gets its share of the places; where it has too few
    trees that are dense enough, places stay empty. Trees, whole, partial or empty, are consumed one at a
    time, and come in the order of the input; of equals in a band, the earlier are chosen.
    """
    seen = [0] * (len(BANDS) + 1)
    bands: list[list[tuple[float, int, Sentence]]] = [[] for _ in seen]
    for number, tree in enumerate(trees):
        band = bisect_left(BANDS, len(tree))
        seen[band] += 1
        share = attached_share(tree)
        if share == 0.0 or share < min_attached:
            continue
        push = heapq.heappush if len(bands[band]) < max_sentences else heapq.heappushpop
        push(bands[band], (share, -number, tree))
    chosen: list[tuple[int, Sentence]] = []
    for heap, size in zip(bands, seen, strict=True):
        places = -(-max_sentences * size // max(sum(seen), 1))
        chosen += [(-number, tree) for _, number, tree in heapq.nlargest(places, heap)]
    return [tree for _, tree in sorted(chosen, key=lambda entry: entry[0])]
