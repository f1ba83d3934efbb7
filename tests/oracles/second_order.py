"""Trees scored by siblings and grandparents: slow, obvious, by the definition. Imports nothing of qsproj."""

from __future__ import annotations

import math

from tests.oracles.trees import Tree, all_trees


def tree_parts(heads: Tree) -> list[tuple]:
    """List the parts of a tree, projective or not, as (name, index)."""
    parts = []
    for head in range(len(heads)):
        dependents = [d for d in range(1, len(heads)) if heads[d] == head]
        for d in dependents:
            parts.append(("arcs", (head, d)))
            if head > 0:
                parts.append(("grandparents", (heads[head], head, d)))
        for side in (0, 1):
            if (head, side) == (0, 0):
                continue
            sequence = [d for d in dependents if (d > head) == side]
            sequence.sort(key=lambda d: abs(d - head))
            for previous, d in zip([head, *sequence], sequence):
                parts.append(("siblings", (head, d, previous)))
            parts.append(("stops", (head, sequence[-1])) if sequence else ("childless", (head, side)))
    return parts


def tree_score(scores: dict, heads: Tree) -> float:
    """Sum the scores of a tree's parts; ``scores`` maps names to nested sequences or arrays, or to None."""
    return sum(float(scores[name][index]) for name, index in tree_parts(heads) if scores[name] is not None)


class SecondOrderEnumeration:
    """All projective trees with their scores, -inf left out, best first."""

    def __init__(self, scores: dict, *, single_root: bool, projective: bool = True) -> None:
        n = len(scores["arcs"]) - 1
        trees = all_trees(n, projective=projective, single_root=single_root)
        scored = [(heads, tree_score(scores, heads)) for heads in trees]
        self.trees = sorted((pair for pair in scored if pair[1] > -math.inf), key=lambda pair: -pair[1])

    @property
    def log_z(self) -> float:
        top = self.trees[0][1]
        return top + math.log(math.fsum(math.exp(score - top) for _, score in self.trees))

    def probabilities(self) -> dict:
        """Map every (name, index) that some tree has to its probability."""
        log_z = self.log_z
        found: dict = {}
        for heads, score in self.trees:
            for part in tree_parts(heads):
                found[part] = found.get(part, 0.0) + math.exp(score - log_z)
        return found
