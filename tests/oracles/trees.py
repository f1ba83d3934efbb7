"""Every tree over n words, one by one: slow, obvious, for n <= 6. Imports nothing of qsproj."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache

Tree = tuple[int, ...]  # heads of the words 0..n; heads[0] is -1


def reaches_root(heads: Sequence[int], word: int) -> bool:
    """Follow heads upwards from ``word``; a path of more than n steps is a cycle."""
    for _ in heads:
        if word == 0:
            return True
        word = heads[word]
    return False


def is_tree(heads: Sequence[int]) -> bool:
    return all(reaches_root(heads, word) for word in range(1, len(heads)))


def is_projective(heads: Sequence[int]) -> bool:
    """Say whether every word strictly between a head and its dependent is below that head."""
    for dependent in range(1, len(heads)):
        head = heads[dependent]
        for between in range(min(head, dependent) + 1, max(head, dependent)):
            above = between
            while above not in (head, 0):
                above = heads[above]
            if above != head:
                return False
    return True


@cache
def all_trees(n: int, *, projective: bool, single_root: bool) -> tuple[Tree, ...]:
    """List every tree over n words as a tuple of heads."""
    trees = []
    for choice in itertools.product(range(n + 1), repeat=n):
        heads = (-1, *choice)
        if single_root and choice.count(0) != 1:
            continue
        if is_tree(heads) and (not projective or is_projective(heads)):
            trees.append(heads)
    return tuple(trees)


def number_of_trees(n: int, *, projective: bool, single_root: bool) -> int:
    """Give the closed form for the number of trees over n words."""
    if projective:
        return math.comb(3 * n - 2, n - 1) // n if single_root else math.comb(3 * n, n) // (2 * n + 1)
    return n ** (n - 1) if single_root else (n + 1) ** (n - 1)


def tree_score(scores: Sequence[Sequence[float]], heads: Sequence[int]) -> float:
    return math.fsum(scores[heads[d]][d] for d in range(1, len(heads)))


class Enumeration:
    """All trees of a score matrix with their scores, -inf trees left out, best first."""

    def __init__(self, scores: Sequence[Sequence[float]], *, projective: bool, single_root: bool) -> None:
        n = len(scores) - 1
        scored = [
            (heads, tree_score(scores, heads))
            for heads in all_trees(n, projective=projective, single_root=single_root)
            if all(scores[heads[d]][d] > -math.inf for d in range(1, n + 1))
        ]
        self.trees = sorted(scored, key=lambda pair: -pair[1])
        self.n = n

    @property
    def log_z(self) -> float:
        top = self.trees[0][1]
        return top + math.log(math.fsum(math.exp(score - top) for _, score in self.trees))

    @property
    def probabilities(self) -> list[float]:
        log_z = self.log_z
        return [math.exp(score - log_z) for _, score in self.trees]

    def log_marginal(self, head: int, dependent: int) -> float:
        """Sum in log space over the trees with the arc: exact even where the probability is tiny."""
        with_arc = [score for heads, score in self.trees if heads[dependent] == head]
        if not with_arc:
            return -math.inf
        return (
            with_arc[0]
            + math.log(math.fsum(math.exp(score - with_arc[0]) for score in with_arc))
            - self.log_z
        )

    def max_marginal(self, head: int, dependent: int) -> float:
        return max((score for heads, score in self.trees if heads[dependent] == head), default=-math.inf)

    def expect(self, value: Callable[[Tree, float], float]) -> float:
        """Expectation of a function of (tree, score)."""
        return math.fsum(p * value(*tree) for p, tree in zip(self.probabilities, self.trees, strict=True))
