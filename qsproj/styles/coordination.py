"""Coordinations, read from any style into nodes of their own, and written from those in any style.

What stays the same in all styles: the topmost word of a coordination has the relation of the whole to its
head, conjuncts below it are conj, conjunctions cc and punctuation punct. Lost is what a style cannot say:
a coordination that is the first conjunct of another where the first heads all, the last one where the last
does, and in chains both; and dependents that hang where private ones hang.
"""

from __future__ import annotations

from qsproj.styles.coordination_groups import (
    Group,
    conjuncts_of,
    find_groups,
    is_separating,
    separators,
)
from qsproj.styles.relations import CONJUNCT, base_relation
from qsproj.styles.shared_dependents import shared_dependents
from qsproj.styles.style import Style
from qsproj.styles.working_tree import WorkingTree


def coordinations_to_core(tree: WorkingTree, style: Style) -> None:
    """Give every coordination a node of its own, reading it as the style has it. Changes ``tree``."""
    for group in find_groups(tree, style):
        _wrap(tree, group, style)


def coordinations_to_style(tree: WorkingTree, style: Style) -> None:
    """Write every coordination as the style has it; its node is left out of the tree. Changes ``tree``."""
    nodes = range(tree.n_words + 1, len(tree.heads))
    for node in sorted(nodes, key=tree.depth, reverse=True):
        _unwrap(tree, node, style)


def _wrap(tree: WorkingTree, group: Group, style: Style) -> None:
    between = separators(tree, group, style)
    outside = shared_dependents(tree, group, style)
    node = tree.add_coordination(group.conjuncts[0], group.conjuncts[-1])
    tree.substitute(group.top, node)
    for conjunct in group.conjuncts:
        relation = tree.relations[conjunct]
        tree.attach(conjunct, node, CONJUNCT if conjunct == group.top else relation)
    for separator in between:
        # The coordinator has the relation of the coordination; what its own was, its tag tells.
        own = tree.relations[separator]
        if separator == group.top:
            own = "punct" if tree.tag(separator) == "PUNCT" else "cc"
        tree.attach(separator, node, own)
    for child in outside:
        tree.attach(child, node, tree.relations[child])


def _unwrap(tree: WorkingTree, node: int, style: Style) -> None:
    children = sorted(tree.children[node])
    conjuncts = [child for child in children if base_relation(tree.relations[child]) == CONJUNCT]
    first, last = conjuncts[0], conjuncts[-1]
    between = [child for child in children if first < child < last and is_separating(tree, child)]
    top = _top(tree, conjuncts, between, style)
    tree.substitute(node, top)
    _link(tree, conjuncts, [child for child in between if child != top], top, style)
    for child in tree.children[node].copy():
        holder = top if style.shared == "head" else min(conjuncts, key=lambda word: abs(word - child))
        tree.attach(child, holder, tree.relations[child])


def _top(tree: WorkingTree, conjuncts: list[int], between: list[int], style: Style) -> int:
    """Return the word that heads a coordination in a style."""
    if style.coordination in ("conll", "reverse-moscow"):
        return conjuncts[-1]
    if style.coordination == "prague":
        # One that has conjuncts of its own ("and/or") could not be told from the head of all of them.
        able = [word for word in between if not conjuncts_of(tree, word)]
        conjunctions = [word for word in able if base_relation(tree.relations[word]) == "cc"]
        return (conjunctions or able or conjuncts[:1])[-1]
    return conjuncts[0]


def _link(tree: WorkingTree, conjuncts: list[int], between: list[int], top: int, style: Style) -> None:
    """Hang conjuncts and separators on each other, or on the top, which has its place already."""
    chained = style.coordination in ("moscow", "reverse-moscow")
    order = conjuncts if top != conjuncts[-1] else conjuncts[::-1]
    links = list[int]()
    for separator in between:
        relation = tree.relations[separator]
        where = style.conjunctions if base_relation(relation) == "cc" else style.punctuation
        if where == "between" and chained:
            links.append(separator)
        elif where == "between":
            tree.attach(separator, top, relation)
        elif where == "following":
            tree.attach(separator, next(word for word in conjuncts if word > separator), relation)
        else:
            tree.attach(separator, next(word for word in reversed(conjuncts) if word < separator), relation)
    above = top
    for word in sorted([*conjuncts, *links], reverse=order != conjuncts):
        if word != top:
            tree.attach(word, above if chained else top, tree.relations[word])
        above = word
