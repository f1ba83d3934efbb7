"""Every labelled tree over n words, one by one: slow, obvious, for n <= 4. Imports nothing of qsproj."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from tests.oracles.trees import all_trees

# The head and the relation of each word 1..n.
LabelledTree = tuple[tuple[int, int], ...]


def all_labelled_trees(
    n: int, relations: int, *, projective: bool, single_root: bool
) -> Iterator[LabelledTree]:
    """Yield every tree with every relation on every arc."""
    for heads in all_trees(n, projective=projective, single_root=single_root):
        for chosen in itertools.product(range(relations), repeat=n):
            yield tuple(zip(heads[1:], chosen, strict=True))


def score_of(tree: LabelledTree, scores: Sequence[Sequence[Sequence[float]]]) -> float:
    """Add up ``scores[head][dependent][relation]``."""
    return sum(scores[head][word][relation] for word, (head, relation) in enumerate(tree, start=1))


def log_sum(values: Sequence[float]) -> float:
    """Return the log of the sum of exponentials."""
    top = max(values)
    return top if top == -math.inf else top + math.log(math.fsum(math.exp(value - top) for value in values))


def disagreements(tree: LabelledTree, other: LabelledTree) -> int:
    """Count the words whose head or relation differs."""
    return sum(one != two for one, two in zip(tree, other, strict=True))
