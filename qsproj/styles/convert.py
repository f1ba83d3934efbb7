"""Conversion of sentences between annotation styles by rule, and its round-trip loss.

Coordinations are converted in :mod:`~qsproj.styles.coordination`; function words (determiners, prepositions,
copulas, auxiliaries) here: each entry of :data:`FUNCTION_WORDS` is one dimension. Reversing an arc keeps its
relation in the label: ``Paris -case-> in`` becomes ``in -comp:case-> Paris``, and ``in`` takes the place of
``Paris``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qsproj.corpus.editing import with_predicted_heads
from qsproj.corpus.sentence import Sentence
from qsproj.styles.coordination import coordinations_to_core, coordinations_to_style
from qsproj.styles.style import UD, Style
from qsproj.styles.working_tree import COMPLEMENT, SUBJECTS, WorkingTree, base_relation, turned_relation

_OUTER_SUBJECT = ":outer"
_CLAUSE = SUBJECTS | {"mark", "vocative", "dislocated"}


@dataclass(frozen=True, slots=True)
class FunctionWordRule:
    """Reversal of the arcs of function words with one relation, including subtypes; one for each dimension.

    ``outer``: relations of dependents that belong to the phrase of the function word rather than to its
    complement: they move along when it becomes the head, at any position.
    """

    dimension: str
    relation: str
    outer: frozenset[str]

    def to_head(self, tree: WorkingTree) -> None:
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
        return base_relation(turned_relation(relation)) == self.relation

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
        relation = turned_relation(tree.relations[content])
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


def convert_all(sentences: Iterable[Sentence], target: Style, *, source: Style = UD) -> Iterator[Sentence]:
    for sentence in sentences:
        yield convert(sentence, target, source=source)


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
