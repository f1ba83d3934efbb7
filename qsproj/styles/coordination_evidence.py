"""What a tree tells of the style of its coordinations."""

from __future__ import annotations

from collections.abc import Iterator

from qsproj.styles.coordination_groups import Group, conjuncts_of, find_groups, is_separating
from qsproj.styles.relations import CONJUNCT, base_relation
from qsproj.styles.shared_dependents import guess_left, guess_right, outside_dependents
from qsproj.styles.style import DIMENSIONS, style_of
from qsproj.styles.working_tree import WorkingTree

#: A vote: the dimension, and the choices that one place in a tree agrees with.
Vote = tuple[str, frozenset[str]]

# Each family as detection reads it: words on the way from conjunct to conjunct are links wherever they occur.
_FAMILIES = {
    family: style_of({"coordination": family, "conjunctions": "between", "punctuation": "between"})
    for family in DIMENSIONS["coordination"]
}
_LEFTWARD = ("conll", "reverse-moscow")
_CHAINED = ("moscow", "reverse-moscow")


def family_votes(tree: WorkingTree) -> Iterator[frozenset[str]]:
    """Yield for each word with conjuncts the families of coordination that it agrees with."""
    for node in range(1, tree.n_words + 1):
        conjuncts = conjuncts_of(tree, node)
        if not conjuncts:
            continue
        if conjuncts[0] < node < conjuncts[-1]:
            yield frozenset({"prague"})
            continue
        rightward = conjuncts[0] > node
        fan, chain = ("stanford", "moscow") if rightward else ("conll", "reverse-moscow")
        if len(conjuncts) > 1:
            yield frozenset({fan})
        elif _is_in_chain(tree, node, rightward=rightward):
            yield frozenset({chain})
        else:
            yield frozenset({fan, chain})


def detail_votes(tree: WorkingTree, family: str) -> Iterator[Vote]:
    """Yield what a tree tells of conjunctions, punctuation and shared dependents, given the family."""
    for group in find_groups(tree, _FAMILIES[family]):
        yield from _separator_votes(tree, group, family)
        yield from _shared_votes(tree, group, family)


def _is_in_chain(tree: WorkingTree, node: int, *, rightward: bool) -> bool:
    """Tell whether a word with one conjunct links it to another, or is itself a conjunct on that side."""
    base, head = base_relation(tree.relations[node]), tree.heads[node]
    return base in ("cc", "punct") or (base == CONJUNCT and head > 0 and (head < node) == rightward)


def _separator_votes(tree: WorkingTree, group: Group, family: str) -> Iterator[Vote]:
    first, last = group.conjuncts[0], group.conjuncts[-1]
    for holder in {*group.conjuncts, *group.links, group.top}:
        for word in tree.children[holder]:
            if word == group.top or not (first < word < last and is_separating(tree, word)):
                continue
            following = min(conjunct for conjunct in group.conjuncts if conjunct > word)
            previous = max(conjunct for conjunct in group.conjuncts if conjunct < word)
            in_between = word in group.links if family in _CHAINED else holder == group.top
            agrees = {
                "following": holder == following,
                "previous": holder == previous and word not in group.links,
                "between": in_between,
            }
            dimension = "conjunctions" if base_relation(tree.relations[word]) == "cc" else "punctuation"
            if any(agrees.values()):
                yield dimension, frozenset(choice for choice, agreed in agrees.items() if agreed)


def _shared_votes(tree: WorkingTree, group: Group, family: str) -> Iterator[Vote]:
    """Yield a vote for each dependent of a whole coordination whose place depends on the choice."""
    first, last = group.conjuncts[0], group.conjuncts[-1]
    outside = outside_dependents(tree, group.top, group)
    if group.top not in group.conjuncts:
        on_head, on_nearest = outside, guess_left(tree, group) + guess_right(tree, group)
    elif family in _LEFTWARD:
        on_head, on_nearest = [word for word in outside if word < first], guess_left(tree, group)
    else:
        on_head, on_nearest = [word for word in outside if word > last], guess_right(tree, group)
    yield from [("shared", frozenset({"head"}))] * len(on_head)
    yield from [("shared", frozenset({"nearest"}))] * len(on_nearest)
