"""The configurations of thesis 4.3, from definitions over paths, pair by pair. Imports nothing of qsproj."""

from __future__ import annotations

from collections.abc import Sequence


def ancestors(heads: Sequence[int], node: int) -> list[int]:
    """List the nodes above, nearest first; heads of -1 end the path."""
    above = []
    while heads[node] != -1:
        node = heads[node]
        above.append(node)
    return above


def matching(heads: Sequence[int], head: int, dependent: int) -> set[str]:
    """Name every relation that holds; ``None`` stands for NULL."""
    if head is None or dependent is None:
        return {"null"}
    above_head, above_dependent = ancestors(heads, head), ancestors(heads, dependent)
    found = {"other"}
    if head == dependent:
        found.add("same-node")
    if above_dependent[:1] == [head]:
        found.add("parent-child")
    if above_head[:1] == [dependent]:
        found.add("child-parent")
    if head != dependent and above_head and above_head[:1] == above_dependent[:1]:
        found.add("siblings")
    if above_dependent[1:2] == [head]:
        found.add("grandparent-grandchild")
    unrelated = head != dependent and head not in above_dependent and dependent not in above_head
    if unrelated and above_head and above_head[0] in above_dependent:
        found.add("c-command")
    return found


ORDER = (
    "parent-child",
    "child-parent",
    "same-node",
    "siblings",
    "grandparent-grandchild",
    "c-command",
    "other",
    "null",
)


def configuration(heads: Sequence[int], head: int | None, dependent: int | None) -> str:
    found = matching(heads, head, dependent)
    return next(name for name in ORDER if name in found)
