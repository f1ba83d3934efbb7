"""Conversion of sentences between annotation styles by rule, and its round-trip loss.

Function words (determiners, prepositions, copulas, auxiliaries): each entry of :data:`FUNCTION_WORDS` is one
dimension. A reversed arc keeps its relation: ``Paris -case-> in`` becomes ``in -comp:case-> Paris``.

Coordinations are converted from any style to core nodes, and from core nodes to any style. In all styles the
topmost word of a coordination has the relation of the whole to its head; conjuncts below it are conj,
conjunctions cc and punctuation punct. Distinctions that a style cannot express are lost: nested coordinations
as first conjunct in styles headed by the first conjunct, as last conjunct in styles headed by the last, both
in chains; and shared dependents attached like private ones. Whether "he" in "he came and saw" is shared
follows from its position only beyond the last conjunct; else rules guess (``docs/guides/styles.md``).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.editing import with_predicted_heads
from qsproj.corpus.sentence import Sentence
from qsproj.styles import working_tree
from qsproj.styles.style import UD, Style
from qsproj.styles.working_tree import COMPLEMENT, CONJUNCT, SUBJECTS, WorkingTree, base_relation

_OUTER_SUBJECT = ":outer"
_CLAUSE = SUBJECTS | {"mark", "vocative", "dislocated"}
_VERBAL = frozenset({"aux", "cop"})
_OWN_COMPLEMENT = frozenset({COMPLEMENT})
# In a clause without its verb, the subject may represent the verb, with orphans below it.
_OWN_CLAUSE = SUBJECTS | {"orphan"}
# Relations shared unless another conjunct has such a dependent of its own, with the relations that count.
_OWN = {
    **dict.fromkeys(("nsubj", "csubj"), _OWN_CLAUSE),
    **{relation: _OWN_CLAUSE | {relation} for relation in ("aux", "cop", "expl")},
    **{relation: frozenset({relation}) for relation in ("case", "mark", "det")},
}


@dataclass(frozen=True, slots=True)
class FunctionWordRule:
    """Reversal of arcs of function words with one relation, including subtypes; one for each dimension."""

    dimension: str
    relation: str
    # Relations of dependents that belong to the phrase of the function word rather than to its complement:
    # they move along when it becomes the head, at any position.
    outer: frozenset[str]

    def to_head(self, tree: WorkingTree) -> None:
        """Make every such function word the head of its head. Changes ``tree``.

        Of several, those on the right are the innermost, then the nearer ones ("has been built": has heads
        been, and been heads built). Dependents beyond it, with outer relations, and full stops move along.
        """
        own = (node for node in range(len(tree.heads)) if tree.base(node) == self.relation)
        for content in dict.fromkeys(tree.heads[node] for node in own if tree.heads[node] > 0):
            words = [child for child in tree.children[content] if tree.base(child) == self.relation]
            here = tree.starts[content]
            words.sort(key=lambda word: (tree.starts[word] < here, abs(tree.starts[word] - here)))
            for top, word in zip([content, *words], words):
                self._raise(tree, word, top)

    def to_child(self, tree: WorkingTree) -> None:
        """Make every such function word a child again: the inverse of :meth:`to_head`. Changes ``tree``."""
        contents = [node for node, relation in enumerate(tree.relations) if self._is_turned(relation)]
        for content in contents:
            while tree.heads[content] > 0 and self._is_turned(tree.relations[content]):
                self._lower(tree, tree.heads[content], content)

    def counts(self, relations: Sequence[str]) -> dict[str, int]:
        children = sum(base_relation(relation) == self.relation for relation in relations)
        return {"child": children, "head": sum(map(self._is_turned, relations))}

    def _is_turned(self, relation: str) -> bool:
        return base_relation(working_tree.turned_relation(relation)) == self.relation

    def _raise(self, tree: WorkingTree, word: int, content: int) -> None:
        relation, siblings = tree.relations[word], tree.children[content]
        # In "is that he left" the clause keeps its subject; only the outer subject belongs to the copula.
        marked = any(tree.relations[child].endswith(_OUTER_SUBJECT) for child in siblings)

        def moves(child: int) -> bool:
            if child == word or tree.is_bound(child):
                return False
            is_outer = not marked or tree.relations[child].endswith(_OUTER_SUBJECT)
            moves_along = tree.is_terminal(child) or (tree.base(child) in self.outer and is_outer)
            return moves_along or _is_between(tree, word, child, content)

        movers = list(filter(moves, siblings))
        tree.substitute(content, word)
        tree.attach(content, word, f"{COMPLEMENT}:{relation}")
        tree.move(movers, word)

    def _lower(self, tree: WorkingTree, word: int, content: int) -> None:
        def returns(child: int) -> bool:
            is_own = tree.base(child) in self.outer or not _is_between(tree, child, word, content)
            return child != content and is_own and not tree.is_bound(child)

        returning = list(filter(returns, tree.children[word]))
        relation = working_tree.turned_relation(tree.relations[content])
        tree.substitute(word, content)
        tree.attach(word, content, relation)
        tree.move(returning, content)


def _is_between(tree: WorkingTree, middle: int, one: int, other: int) -> bool:
    low, high = sorted((tree.starts[one], tree.starts[other]))
    return low < tree.starts[middle] < high


#: Ordered from the innermost layer of a phrase: "has [been [in [the house]]]".
FUNCTION_WORDS: tuple[FunctionWordRule, ...] = (
    FunctionWordRule("determiners", "det", _CLAUSE | {"case", "cop", "aux"}),
    FunctionWordRule("prepositions", "case", _CLAUSE | {"cop", "aux"}),
    FunctionWordRule("copula", "cop", _CLAUSE | {"aux"}),
    FunctionWordRule("auxiliaries", "aux", _CLAUSE),
)


@dataclass(frozen=True, slots=True)
class Group:
    """A coordination in a tree."""

    top: int  # its head word: a conjunct, or in the Prague family a coordinator
    conjuncts: tuple[int, ...]
    links: tuple[int, ...] = ()  # words on the path between conjuncts: those of a chain, or the coordinator


def find_groups(tree: WorkingTree, style: Style) -> list[Group]:
    if CONJUNCT not in map(base_relation, tree.relations):
        return []
    if style.coordination == "prague":
        groups = _prague_groups(tree)
    elif style.coordination in ("moscow", "reverse-moscow"):
        linking = frozenset(name for name in ("cc", "punct") if _attachment(style, name) == "between")
        groups = _chains(tree, linking, rightward=style.coordination == "moscow")
    else:
        groups = _fans(tree, rightward=style.coordination == "stanford")
    return sorted(groups, key=lambda group: tree.depth(group.top)) if len(groups) > 1 else groups


def _attachment(style: Style, relation: str) -> str:
    return style.conjunctions if base_relation(relation) == "cc" else style.punctuation


def conjuncts_of(tree: WorkingTree, node: int) -> list[int]:
    return sorted(child for child in tree.children[node] if tree.base(child) == CONJUNCT)


def separators(tree: WorkingTree, group: Group, style: Style) -> list[int]:
    """Return the conjunctions and separating punctuation of a coordination attached as in the style."""
    first, last = group.conjuncts[0], group.conjuncts[-1]
    found = list(group.links)
    for holder in {*group.conjuncts, group.top}:
        for child in tree.children[holder]:
            if first < child < last and child not in group.links and tree.is_separating(child):
                attachment = _attachment(style, tree.relations[child])
                attached = holder in group.conjuncts and (child < holder) == (attachment == "following")
                if attachment == "between":
                    attached = holder == group.top
                if attached:
                    found.append(child)
    return found


def _fans(tree: WorkingTree, *, rightward: bool) -> list[Group]:
    groups = []
    for top in range(1, tree.n_words + 1):
        others = [child for child in conjuncts_of(tree, top) if (child > top) == rightward]
        if others:
            groups.append(Group(top, tuple(sorted([top, *others]))))
    return groups


def _prague_groups(tree: WorkingTree) -> list[Group]:
    """Find coordinators with conjuncts on both sides, and conjuncts that head others without coordinator."""
    groups = []
    for group in _fans(tree, rightward=True):
        conjuncts = tuple(conjuncts_of(tree, group.top))
        is_coordinator = conjuncts[0] < group.top < conjuncts[-1]
        groups.append(Group(group.top, conjuncts, (group.top,)) if is_coordinator else group)
    return groups


def _chains(tree: WorkingTree, linking: frozenset[str], *, rightward: bool) -> list[Group]:
    groups = []
    inside: set[int] = set()
    words = range(1, tree.n_words + 1)
    for top in words if rightward else reversed(words):
        if top in inside or tree.base(top) in linking:
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
    """Return the paths from a word over linking words to a next conjunct, excluding the word."""
    paths, pending = list[list[int]](), [[node]]
    while pending:
        path = pending.pop()
        last = path[-1]
        if last != node and tree.base(last) == CONJUNCT:
            paths.append(path[1:])
        elif last == node or tree.base(last) in linking:
            below = [child for child in tree.children[last] if (child > last) == rightward]
            pending += [[*path, child] for child in reversed(below)]
    return paths


def coordinations_to_core(tree: WorkingTree, style: Style) -> None:
    for group in find_groups(tree, style):
        between = separators(tree, group, style)
        outside = shared_dependents(tree, group, style)
        node = tree.add_coordination(group.conjuncts[0], group.conjuncts[-1])
        tree.substitute(group.top, node)
        for conjunct in group.conjuncts:
            tree.attach(conjunct, node, CONJUNCT if conjunct == group.top else tree.relations[conjunct])
        for separator in between:
            # The coordinator has the relation of the coordination; its own relation follows from its tag.
            own = tree.relations[separator]
            if separator == group.top:
                own = "punct" if tree.tag(separator) == "PUNCT" else "cc"
            tree.attach(separator, node, own)
        tree.move(outside, node)


def coordinations_to_style(tree: WorkingTree, style: Style) -> None:
    nodes = range(tree.n_words + 1, len(tree.heads))
    for node in sorted(nodes, key=tree.depth, reverse=True):
        children = sorted(tree.children[node])
        conjuncts = [child for child in children if tree.base(child) == CONJUNCT]
        first, last = conjuncts[0], conjuncts[-1]
        between = [child for child in children if first < child < last and tree.is_separating(child)]
        top = _top(tree, conjuncts, between, style)
        tree.substitute(node, top)
        _link(tree, conjuncts, [child for child in between if child != top], top, style)
        for child in tree.children[node].copy():
            holder = top if style.shared == "head" else min(conjuncts, key=lambda word: abs(word - child))
            tree.move([child], holder)


def _top(tree: WorkingTree, conjuncts: list[int], between: list[int], style: Style) -> int:
    if style.coordination in ("conll", "reverse-moscow"):
        return conjuncts[-1]
    if style.coordination == "prague":
        # One with conjuncts of its own ("and/or") is indistinguishable from the head of the coordination.
        able = [word for word in between if not conjuncts_of(tree, word)]
        conjunctions = [word for word in able if tree.base(word) == "cc"]
        return (conjunctions or able or conjuncts[:1])[-1]
    return conjuncts[0]


def _link(tree: WorkingTree, conjuncts: list[int], between: list[int], top: int, style: Style) -> None:
    chained = style.coordination in ("moscow", "reverse-moscow")
    links = list[int]()
    for separator in between:
        where = _attachment(style, tree.relations[separator])
        if where == "between" and chained:
            links.append(separator)
        elif where == "between":
            tree.move([separator], top)
        elif where == "following":
            tree.move([separator], min(word for word in conjuncts if word > separator))
        else:
            tree.move([separator], max(word for word in conjuncts if word < separator))
    ordered = sorted([*conjuncts, *links], reverse=top == conjuncts[-1])
    for above, word in zip([top, *ordered], ordered):
        if word != top:
            tree.move([word], above if chained else top)


def shared_dependents(tree: WorkingTree, group: Group, style: Style) -> list[int]:
    """Return the dependents of the top and of the outer conjuncts that belong to the whole coordination."""
    first = group.conjuncts[0]
    has_coordinator = group.top not in group.conjuncts
    outside = outside_dependents(tree, group.top, group)
    if style.shared == "head":
        if has_coordinator:
            return outside
        far = [child for child in outside if (child < first) != (group.top == first)]
        near = guess_left(tree, group) if group.top == first else guess_right(tree, group)
        return far + near
    return (outside if has_coordinator else []) + guess_left(tree, group) + guess_right(tree, group)


def outside_dependents(tree: WorkingTree, word: int, group: Group) -> list[int]:
    """Return the dependents of a word before the first and after the last conjunct, excluding conjuncts."""
    first, last = group.conjuncts[0], group.conjuncts[-1]
    found = (child for child in tree.children[word] if not first <= tree.starts[child] <= last)
    return [child for child in found if tree.base(child) != CONJUNCT]


def guess_left(tree: WorkingTree, group: Group) -> list[int]:
    """Guess which dependents on the left of the first conjunct are shared.

    If one is shared, so are those farther out; if one is private, so are those farther in; otherwise arcs
    would cross. Undecided dependents follow the nearest decided one.
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
    """Return whether a dependent on the left of the first conjunct is shared, None if undecided."""
    first, *others = group.conjuncts
    base = tree.base(child)
    if base == "cc":
        return True
    if base == COMPLEMENT:
        return _complement_verdict(tree, first, others)
    own = _OWN.get(base)
    # Reflexive pronouns (expl:pv) belong to one verb; plain expletives are like subjects.
    if own is None or tree.relations[child].startswith("expl:"):
        return None
    if any(tree.has(other, own) for other in others):
        return False
    if base in _VERBAL and any("VerbForm=Fin" in tree.feats[other - 1] for other in others):
        return False
    return True if base != "det" or _same_tags(tree, first, others) else None


def guess_right(tree: WorkingTree, group: Group) -> list[int]:
    """Guess which dependents on the right of the last conjunct are shared, such as full stops."""
    *others, last = group.conjuncts

    def is_shared(child: int) -> bool:
        if tree.base(child) == COMPLEMENT:
            return _complement_verdict(tree, last, others) is True
        return tree.is_terminal(child)

    outside = (child for child in outside_dependents(tree, last, group) if tree.starts[child] > last)
    return list(filter(is_shared, outside))


def _complement_verdict(tree: WorkingTree, holder: int, others: list[int]) -> bool | None:
    if any(tree.has(other, _OWN_COMPLEMENT) for other in others):
        return False
    return True if _same_tags(tree, holder, others) else None


def _same_tags(tree: WorkingTree, one: int, others: list[int]) -> bool:
    return all(tree.tag(other) == tree.tag(one) for other in others)


def convert(sentence: Sentence, target: Style, *, source: Style = UD) -> Sentence:
    if source == target:
        return sentence
    tree = WorkingTree(sentence)
    coordinations_to_core(tree, source)
    for rule in reversed(FUNCTION_WORDS):
        if getattr(source, rule.dimension) == "head":
            rule.to_child(tree)
    for rule in FUNCTION_WORDS:
        if getattr(target, rule.dimension) == "head":
            rule.to_head(tree)
    coordinations_to_style(tree, target)
    size = tree.n_words + 1
    return with_predicted_heads(sentence, tree.heads[:size], tree.relations[1:size])


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """Counts of changes after converting a treebank to a style and back."""

    sentences: int = 0
    words: int = 0
    changed_heads: int = 0
    lost_heads: int = 0
    lost_relations: int = 0
    lost_sentences: int = 0
    lost_by_relation: Mapping[str, int]


def measure_round_trip(sentences: Iterable[Sentence], target: Style, *, source: Style = UD) -> RoundTrip:
    totals, by_relation = Counter[str](), Counter[str]()
    for sentence in sentences:
        converted = convert(sentence, target, source=source)
        restored = convert(converted, source, source=target)
        lost = np.flatnonzero(restored.heads != sentence.heads).tolist()
        relabelled = sum(one != other for one, other in zip(restored.deprels, sentence.deprels))
        by_relation.update(base_relation(sentence.deprels[word - 1]) for word in lost)
        totals.update(
            sentences=1,
            words=len(sentence),
            changed_heads=int((converted.heads != sentence.heads).sum()),
            lost_heads=len(lost),
            lost_relations=relabelled,
            lost_sentences=int(bool(lost or relabelled)),
        )
    return RoundTrip(**totals, lost_by_relation=dict(by_relation.most_common()))
