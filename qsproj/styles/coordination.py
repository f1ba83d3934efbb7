"""Coordinations, read from any style into nodes of their own, and written from those in any style.

What stays the same in all styles: the topmost word of a coordination has the relation of the whole to its
head, conjuncts below it are conj, conjunctions cc and punctuation punct. Lost is what a style cannot say:
a coordination that is the first conjunct of another where the first heads all, the last one where the last
does, and in chains both; and dependents that hang where private ones hang.

A tree with a conjunct for a head does not say whether "he" in "he came and saw" is of both verbs. Position
tells where the dependent stands on the far side of the last conjunct; else the rules below guess. The guess
decides where a dependent hangs in another style, and matters little for the way back: see ``docs/styles.md``.
"""

from __future__ import annotations

from qsproj.styles.coordination_groups import Group, conjuncts_of, find_groups, is_separating, separators
from qsproj.styles.relations import COMPLEMENT, CONJUNCT, SUBJECTS, base_relation, is_terminal
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


_VERBAL = frozenset({"aux", "cop"})
_OWN_COMPLEMENT = frozenset({COMPLEMENT})
# The subject of a clause whose verb is left out may stand for the verb itself, with orphans below it.
_OWN_CLAUSE = SUBJECTS | {"orphan"}
# What is shared unless another conjunct has its own, by relation: what counts as its own.
_OWN = {
    "nsubj": _OWN_CLAUSE,
    "csubj": _OWN_CLAUSE,
    "aux": _OWN_CLAUSE | {"aux"},
    "cop": _OWN_CLAUSE | {"cop"},
    "expl": _OWN_CLAUSE | {"expl"},
    "case": frozenset({"case"}),
    "mark": frozenset({"mark"}),
    "det": frozenset({"det"}),
}


def shared_dependents(tree: WorkingTree, group: Group, style: Style) -> list[int]:
    """Return the dependents of a coordination's top and of its outer conjuncts that belong to all of it.

    ``tree``: still in its style; its separators may already have been taken from the conjuncts. ``group``:
    the coordination. ``style``: says who heads coordinations, and where shared dependents hang.
    """
    first = group.conjuncts[0]
    has_coordinator = group.top not in group.conjuncts
    found = outside_dependents(tree, group.top, group) if has_coordinator else []
    if style.shared == "head":
        if has_coordinator:
            return found
        far = [
            child
            for child in outside_dependents(tree, group.top, group)
            if (child < first) != (group.top == first)
        ]
        near = guess_left(tree, group) if group.top == first else guess_right(tree, group)
        return far + near
    return found + guess_left(tree, group) + guess_right(tree, group)


def outside_dependents(tree: WorkingTree, word: int, group: Group) -> list[int]:
    """Return a word's dependents before the first and after the last conjunct, conjuncts aside."""
    first, last = group.conjuncts[0], group.conjuncts[-1]
    return [
        child
        for child in tree.children[word]
        if not first <= tree.starts[child] <= last and base_relation(tree.relations[child]) != CONJUNCT
    ]


def guess_left(tree: WorkingTree, group: Group) -> list[int]:
    """Guess which dependents of the first conjunct, on its left, are shared.

    If one is, so are those farther out, and if one is private, so are those farther in: else arcs would
    cross. What speaks for neither goes with the nearest of which something is known.
    """
    first = group.conjuncts[0]
    children = sorted(child for child in outside_dependents(tree, first, group) if tree.starts[child] < first)
    shared = 0
    for i, child in enumerate(children, start=1):
        verdict = _verdict(tree, child, group)
        if verdict:
            shared = i
        elif verdict is not None:
            break
    return children[:shared]


def _verdict(tree: WorkingTree, child: int, group: Group) -> bool | None:
    """Tell whether a dependent on the left of the first conjunct is shared; None where nothing speaks."""
    first, *others = group.conjuncts
    base = base_relation(tree.relations[child])
    if base == "cc":
        return True
    if base == COMPLEMENT:
        return _complement_verdict(tree, first, others)
    own = _OWN.get(base)
    # Reflexive pronouns (expl:pv) are of their verb alone; plain expletives are like subjects.
    if own is None or tree.relations[child].startswith("expl:"):
        return None
    if any(tree.has(other, own) for other in others):
        return False
    if base in _VERBAL and any("VerbForm=Fin" in tree.feats[other - 1] for other in others):
        return False
    return True if base != "det" or _same_tags(tree, first, others) else None


def guess_right(tree: WorkingTree, group: Group) -> list[int]:
    """Guess which dependents of the last conjunct, on its right, are shared: full stops."""
    *others, last = group.conjuncts
    return [
        child
        for child in outside_dependents(tree, last, group)
        if tree.starts[child] > last
        and (
            (base_relation(tree.relations[child]) == "punct" and is_terminal(tree.form(child)))
            or (
                base_relation(tree.relations[child]) == COMPLEMENT and _complement_verdict(tree, last, others)
            )
        )
    ]


def _complement_verdict(tree: WorkingTree, holder: int, others: list[int]) -> bool | None:
    """Tell whether what a function word heads is shared: by function words alike that have none."""
    if any(tree.has(other, _OWN_COMPLEMENT) for other in others):
        return False
    return True if _same_tags(tree, holder, others) else None


def _same_tags(tree: WorkingTree, one: int, others: list[int]) -> bool:
    return all(tree.tag(other) == tree.tag(one) for other in others)
