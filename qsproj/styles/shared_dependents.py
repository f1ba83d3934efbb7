"""Which dependents belong to a coordination as a whole.

A tree with a conjunct for a head does not say whether "he" in "he came and saw" is of both verbs. Position
tells where the dependent stands on the far side of the last conjunct; else the rules below guess. The guess
decides where a dependent hangs in another style, and matters little for the way back: see ``docs/styles.md``.
"""

from __future__ import annotations

from qsproj.styles.coordination_groups import Group
from qsproj.styles.relations import (
    COMPLEMENT,
    CONJUNCT,
    SUBJECTS,
    base_relation,
    is_terminal,
)
from qsproj.styles.style import Style
from qsproj.styles.working_tree import WorkingTree

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
