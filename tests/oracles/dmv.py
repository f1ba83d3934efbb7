"""Every derivation of the DMV, one by one: slow, obvious, for n <= 4. Imports nothing of qsproj.

Parameters are nested lists as Klein and Manning (2004) index them: ``stop[tag][direction][valence]``,
``child[head tag][direction][dependent tag]``, ``root[tag]``. Left is 0, right is 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.oracles.trees import Tree, all_trees

# ("stop" | "go", tag, direction, valence), ("child", head tag, direction, tag), ("root", tag)
Event = tuple


def events(tags: Sequence[int], heads: Tree) -> list[Event]:
    """List the decisions that generate a tree over the words 1..n: each has one derivation."""
    found: list[Event] = []
    for head in range(1, len(heads)):
        tag = tags[head - 1]
        for direction in (0, 1):
            dependents = [
                word for word in range(1, len(heads)) if heads[word] == head and (word > head) == direction
            ]
            for number, dependent in enumerate(sorted(dependents, key=lambda word: abs(word - head))):
                found.append(("go", tag, direction, min(number, 1)))
                found.append(("child", tag, direction, tags[dependent - 1]))
            found.append(("stop", tag, direction, min(len(dependents), 1)))
    found.append(("root", tags[heads.index(0) - 1]))
    return found


def probability(event: Event, stop, child, root) -> float:
    kind, *where = event
    if kind == "root":
        return root[where[0]]
    if kind == "child":
        return child[where[0]][where[1]][where[2]]
    stopping = stop[where[0]][where[1]][where[2]]
    return stopping if kind == "stop" else 1 - stopping


def derivations(tags, stop, child, root, known=None) -> Iterator[tuple[Tree, float, list[Event]]]:
    """Yield every tree that keeps the ``known`` heads (-1: free) with its probability and decisions."""
    for heads in all_trees(len(tags), projective=True, single_root=True):
        if known and any(fixed not in (-1, head) for fixed, head in zip(known, heads[1:], strict=True)):
            continue
        found = events(tags, heads)
        yield heads, math.prod(probability(event, stop, child, root) for event in found), found


def likelihood(tags, stop, child, root, known=None) -> float:
    return math.fsum(p for _, p, _ in derivations(tags, stop, child, root, known))


def expected_counts(tags, stop, child, root, known=None) -> Counter:
    """Expected number of times that each decision is taken."""
    total = likelihood(tags, stop, child, root, known)
    counts: Counter = Counter()
    for _, p, found in derivations(tags, stop, child, root, known):
        for event in found:
            counts[event] += p / total
    return counts


def best(tags, stop, child, root, known=None) -> tuple[Tree, float]:
    heads, p, _ = max(derivations(tags, stop, child, root, known), key=lambda item: item[1])
    return heads, p
