"""Function words as heads or as children: determiners, prepositions, copulas, auxiliaries.

Each entry of :data:`FUNCTION_WORDS` is one dimension. Reversing an arc keeps its relation in the label:
``Paris -case-> in`` becomes ``in -comp:case-> Paris``, and ``in`` takes the place of ``Paris``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from qsproj.styles import working_tree

_OUTER_SUBJECT = ":outer"
_CLAUSE = working_tree.SUBJECTS | {"mark", "vocative", "dislocated"}


@dataclass(frozen=True, slots=True)
class FunctionWordRule:
    """Reversal of the arcs of function words with one relation, including subtypes; one for each dimension.

    ``outer``: relations of dependents that belong to the phrase of the function word rather than to its
    complement: they move along when it becomes the head, at any position.
    """

    dimension: str
    relation: str
    outer: frozenset[str]

    def to_head(self, tree: working_tree.WorkingTree) -> None:
        """Make every such function word the head of its head. Changes ``tree``.

        Of several, those on the right are the innermost, then the nearer ones ("has been built": has heads
        been, and been heads built). Dependents beyond it, with outer relations, and full stops move along.
        """
        own = (node for node in range(len(tree.heads)) if tree.base(node) == self.relation)
        contents = dict.fromkeys(tree.heads[node] for node in own if tree.heads[node] > 0)
        for content in contents:
            words = [child for child in tree.children[content] if tree.base(child) == self.relation]
            here = tree.starts[content]
            words.sort(key=lambda word: (tree.starts[word] < here, abs(tree.starts[word] - here)))
            top = content
            for word in words:
                self._raise(tree, word, top)
                top = word

    def to_child(self, tree: working_tree.WorkingTree) -> None:
        """Make every such function word a child again: the inverse of :meth:`to_head`. Changes ``tree``."""
        contents = [node for node, relation in enumerate(tree.relations) if self._is_turned(relation)]
        for content in contents:
            while tree.heads[content] > 0 and self._is_turned(tree.relations[content]):
                self._lower(tree, tree.heads[content], content)

    def counts(self, relations: Sequence[str]) -> dict[str, int]:
        children = sum(working_tree.base_relation(relation) == self.relation for relation in relations)
        return {"child": children, "head": sum(map(self._is_turned, relations))}

    def _is_turned(self, relation: str) -> bool:
        return working_tree.base_relation(working_tree.turned_relation(relation)) == self.relation

    def _raise(self, tree: working_tree.WorkingTree, word: int, content: int) -> None:
        relation = tree.relations[word]
        below = [tree.relations[child] for child in tree.children[content]]
        outer_subject = any(one.endswith(_OUTER_SUBJECT) for one in below)
        goes = partial(self._goes_along, tree, word=word, content=content, outer_subject=outer_subject)
        movers = [child for child in tree.children[content] if child != word and goes(child)]
        tree.substitute(content, word)
        tree.attach(content, word, f"{working_tree.COMPLEMENT}:{relation}")
        for child in movers:
            tree.attach(child, word, tree.relations[child])

    def _goes_along(
        self, tree: working_tree.WorkingTree, child: int, word: int, content: int, *, outer_subject: bool
    ) -> bool:
        if _is_bound(tree, child):
            return False
        base = tree.base(child)
        if base == "punct" and working_tree.is_terminal(tree.form(child)):
            return True
        # In "is that he left" the clause keeps its subject; only the outer subject belongs to the copula.
        is_outer = not outer_subject or tree.relations[child].endswith(_OUTER_SUBJECT)
        return (base in self.outer and is_outer) or _is_between(tree, word, child, content)

    def _lower(self, tree: working_tree.WorkingTree, word: int, content: int) -> None:
        relation = working_tree.turned_relation(tree.relations[content])
        others = [child for child in tree.children[word] if child != content]
        returning = [child for child in others if self._returns(tree, child, content)]
        tree.substitute(word, content)
        tree.attach(word, content, relation)
        for child in returning:
            tree.attach(child, content, tree.relations[child])

    def _returns(self, tree: working_tree.WorkingTree, child: int, content: int) -> bool:
        if _is_bound(tree, child):
            return False
        base = tree.base(child)
        return base in self.outer or not _is_between(tree, child, tree.heads[child], content)


def _is_bound(tree: working_tree.WorkingTree, child: int) -> bool:
    base = tree.base(child)
    return base in working_tree.INSEPARABLE or base == working_tree.COMPLEMENT or tree.is_inside(child)


def _is_between(tree: working_tree.WorkingTree, middle: int, one: int, other: int) -> bool:
    here = tree.starts[middle]
    return tree.starts[one] < here < tree.starts[other] or tree.starts[other] < here < tree.starts[one]


#: Ordered from the innermost layer of a phrase: "has [been [in [the house]]]".
FUNCTION_WORDS: tuple[FunctionWordRule, ...] = (
    FunctionWordRule("determiners", "det", _CLAUSE | {"case", "cop", "aux"}),
    FunctionWordRule("prepositions", "case", _CLAUSE | {"cop", "aux"}),
    FunctionWordRule("copula", "cop", _CLAUSE | {"aux"}),
    FunctionWordRule("auxiliaries", "aux", _CLAUSE),
)
