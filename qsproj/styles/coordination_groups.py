"""Finding coordinations in a tree whose style is known: heads, conjuncts, and what links them.

Families are told apart by geometry alone: where the words of relation conj stand as seen from their heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from qsproj.styles.relations import CONJUNCT, base_relation, is_separator
from qsproj.styles.style import Style
from qsproj.styles.working_tree import WorkingTree


@dataclass(frozen=True, slots=True)
class Group:
    """A coordination as it stands in a tree.

    ``top``: the word that heads it: a conjunct, or in the Prague family a coordinator. ``conjuncts``: the
    words that stand for its conjuncts, from left to right. ``links``: words between conjuncts on the path
    from one to the next: of a chain, or the coordinator.
    """

    top: int
    conjuncts: tuple[int, ...]
    links: tuple[int, ...] = ()


def find_groups(tree: WorkingTree, style: Style) -> list[Group]:
    """Return the coordinations of a tree in a style, outer ones before those that they hold."""
    if CONJUNCT not in map(base_relation, tree.relations):
        return []
    if style.coordination == "prague":
        groups = _prague_groups(tree)
    elif style.coordination in ("moscow", "reverse-moscow"):
        groups = _chains(tree, linking_relations(style), rightward=style.coordination == "moscow")
    else:
        groups = _fans(tree, rightward=style.coordination == "stanford")
    return sorted(groups, key=lambda group: tree.depth(group.top)) if len(groups) > 1 else groups


def is_coordinator(tree: WorkingTree, node: int) -> bool:
    """Tell whether a word has conjuncts on both sides: it heads a coordination of the Prague family."""
    conjuncts = conjuncts_of(tree, node)
    return bool(conjuncts) and conjuncts[0] < node < conjuncts[-1]


def conjuncts_of(tree: WorkingTree, node: int) -> list[int]:
    """Return the children by the relation conj from left to right."""
    return sorted(child for child in tree.children[node] if base_relation(tree.relations[child]) == CONJUNCT)


def separators(tree: WorkingTree, group: Group, style: Style) -> list[int]:
    """Return the conjunctions and separating punctuation of a coordination that hang as the style says."""
    first, last = group.conjuncts[0], group.conjuncts[-1]
    found = list(group.links)
    for holder in {*group.conjuncts, group.top}:
        for child in tree.children[holder]:
            if first < child < last and child not in group.links:
                attachment = _attachment(tree, child, style)
                if (
                    (attachment == "between" and holder == group.top)
                    or (attachment == "following" and child < holder and holder in group.conjuncts)
                    or (attachment == "previous" and child > holder and holder in group.conjuncts)
                ):
                    found.append(child)
    return found


def linking_relations(style: Style) -> frozenset[str]:
    """Return the relations of the words that a style puts between conjuncts."""
    places = {"cc": style.conjunctions, "punct": style.punctuation}
    return frozenset(relation for relation, place in places.items() if place == "between")


def is_separating(tree: WorkingTree, node: int) -> bool:
    """Tell whether a word is a conjunction, or a punctuation mark that can separate conjuncts."""
    base = base_relation(tree.relations[node])
    return (base == "cc" and tree.relations[node] != "cc:preconj") or (
        base == "punct" and is_separator(tree.form(node))
    )


def _attachment(tree: WorkingTree, node: int, style: Style) -> str:
    """Return where the style hangs this word if it separates conjuncts; empty if it does not."""
    if not is_separating(tree, node):
        return ""
    return style.conjunctions if base_relation(tree.relations[node]) == "cc" else style.punctuation


def _fans(tree: WorkingTree, *, rightward: bool) -> list[Group]:
    """Find the words that head all other conjuncts, which stand on one side of them."""
    groups = []
    for top in range(1, tree.n_words + 1):
        others = [child for child in conjuncts_of(tree, top) if (child > top) == rightward]
        if others:
            groups.append(Group(top, tuple(sorted([top, *others]))))
    return groups


def _prague_groups(tree: WorkingTree) -> list[Group]:
    """Find coordinators, with conjuncts on both sides, and conjuncts that head others for lack of one."""
    groups = []
    for group in _fans(tree, rightward=True):
        if is_coordinator(tree, group.top):
            groups.append(Group(group.top, tuple(conjuncts_of(tree, group.top)), (group.top,)))
        else:
            groups.append(group)
    return groups


def _chains(tree: WorkingTree, linking: frozenset[str], *, rightward: bool) -> list[Group]:
    """Find conjuncts that each head the next in one direction, conjunctions and punctuation linking them."""
    groups = []
    inside: set[int] = set()
    words = range(1, tree.n_words + 1)
    for top in words if rightward else reversed(words):
        if top in inside or base_relation(tree.relations[top]) in linking:
            continue
        conjuncts, links = [top], list[int]()
        for conjunct in conjuncts:
            for step in _next_conjuncts(tree, conjunct, linking, rightward=rightward):
                conjuncts.append(step[-1])
                links += step[:-1]
        if len(conjuncts) > 1:
            inside.update(conjuncts)
            groups.append(Group(top, tuple(sorted(conjuncts)), tuple(links)))
    return groups


def _next_conjuncts(
    tree: WorkingTree, node: int, linking: frozenset[str], *, rightward: bool
) -> list[list[int]]:
    """Return each path from a word over linking words to the next conjunct, without the word itself."""
    paths = []
    for child in tree.children[node]:
        if (child > node) != rightward:
            continue
        base = base_relation(tree.relations[child])
        if base == CONJUNCT:
            paths.append([child])
        elif base in linking:
            paths += [[child, *path] for path in _next_conjuncts(tree, child, linking, rightward=rightward)]
    return paths
