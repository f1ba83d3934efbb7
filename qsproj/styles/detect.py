"""Detection of the annotation style of a treebank by dimension, with the evidence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from qsproj.corpus.cells import UNIVERSAL_RELATIONS, UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, pluralise
from qsproj.progress import notice
from qsproj.styles import convert
from qsproj.styles.style import DIMENSIONS, UD, Style, agreeing_presets, parse_style
from qsproj.styles.working_tree import CONJUNCT, WorkingTree, base_relation, turned_relation

#: A vote: a dimension, and the choices that agree with one place in a tree.
Vote = tuple[str, frozenset[str]]
# Number of sentences checked for UD relations, and the maximum share of other relations.
_LOOKED_AT = 200
_MOST_FOREIGN = 0.2
# Styles of detection, one for each family: words on the path between conjuncts are always links.
_FAMILIES = {
    family: parse_style(f"coordination={family},conjunctions=between,punctuation=between")
    for family in DIMENSIONS["coordination"]
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Numbers of informative places for a dimension, and of those that agree with each choice, or several."""

    dimension: str
    places: int
    counts: Mapping[str, int]

    @property
    def choice(self) -> str | None:
        """The choice that agrees with most places, the first of equals; None without places."""
        if not self.places:
            return None
        return max(DIMENSIONS[self.dimension], key=lambda choice: self.counts.get(choice, 0))

    @property
    def share(self) -> float:
        """The fraction of places that agree with the choice, NaN without places."""
        return self.counts[self.choice] / self.places if self.choice is not None else float("nan")


@dataclass(frozen=True, slots=True)
class DetectedStyle:
    """The style of a treebank; dimensions without evidence have the choice of Universal Dependencies."""

    style: Style
    evidence: tuple[Evidence, ...]
    sentences: int

    @property
    def presets(self) -> list[str]:
        return agreeing_presets(_found_choices(self.evidence))


def _evidence(ballots: Counter[Vote], dimension: str) -> Evidence:
    votes = {choices: count for (name, choices), count in ballots.items() if name == dimension}
    counts = Counter[str]()
    for choices, count in votes.items():
        counts.update(dict.fromkeys(sorted(choices), count))
    return Evidence(dimension, sum(votes.values()), +counts)


def checked_relations(sentences: Iterable[Sentence], name: str, *, refuse: bool = True) -> Iterator[Sentence]:
    """Yield sentences; raise DataError, or give notice, first if none or few relations are of UD."""
    rest = iter(sentences)
    head = list(islice(rest, _LOOKED_AT))
    relations = Counter(relation for one in head for relation in one.deprels if relation != UNSPECIFIED)
    turned = {rule.relation for rule in convert.FUNCTION_WORDS}
    foreign = [
        relation
        for relation, _ in relations.most_common()
        if base_relation(relation) not in UNIVERSAL_RELATIONS
        and base_relation(turned_relation(relation)) not in turned
    ]
    share = sum(relations[relation] for relation in foreign) / max(relations.total(), 1)
    if share > _MOST_FOREIGN or not relations:
        shown = ", ".join(foreign[:3])
        found = f"the relations {shown} and others that UD does not have, of {share:.0%} of the words"
        remedy = "learn the conversion from a few trees: qsproj adapt"
        if not relations:
            found = f"no relation in {pluralise(len(head), 'sentence')}"
            remedy = "parse it first: qsproj parse"
        error = DataError(name, None, found, "relations of Universal Dependencies", remedy)
        if refuse:
            raise error
        notice(str(error))
    yield from chain(head, rest)


def detect_style(sentences: Iterable[Sentence]) -> DetectedStyle:
    """Detect the style of a treebank from its heads, its relations and the positions of conjuncts."""
    ballots = Counter[Vote]()
    # The meaning of a conjunction's attachment depends on the family: count votes for each family.
    details = {family: Counter[Vote]() for family in DIMENSIONS["coordination"]}
    number = 0
    for sentence in sentences:
        number += 1
        for rule in convert.FUNCTION_WORDS:
            for choice, count in rule.counts(sentence.deprels).items():
                ballots[rule.dimension, frozenset({choice})] += count
        if CONJUNCT in map(base_relation, sentence.deprels):
            tree = WorkingTree(sentence)
            ballots.update(("coordination", families) for families in family_votes(tree))
            for family, counted in details.items():
                for group in convert.find_groups(tree, _FAMILIES[family]):
                    counted.update(_separator_votes(tree, group, family))
                    counted.update(_shared_votes(tree, group, family))
    family = _evidence(ballots, "coordination").choice or DIMENSIONS["coordination"][0]
    detailed = ("conjunctions", "shared", "punctuation")
    votes = ((name, details[family] if name in detailed else ballots) for name in DIMENSIONS)
    evidence = tuple(_evidence(of_dimension, name) for name, of_dimension in votes)
    return DetectedStyle(replace(UD, **dict[str, Any](_found_choices(evidence))), evidence, number)


def _found_choices(evidence: Iterable[Evidence]) -> dict[str, str]:
    return {entry.dimension: entry.choice for entry in evidence if entry.choice is not None}


def family_votes(tree: WorkingTree) -> Iterator[frozenset[str]]:
    for node in range(1, tree.n_words + 1):
        conjuncts = convert.conjuncts_of(tree, node)
        if not conjuncts:
            continue
        if conjuncts[0] < node < conjuncts[-1]:
            yield frozenset({"prague"})
            continue
        rightward = conjuncts[0] > node
        fan, chain = ("stanford", "moscow") if rightward else ("conll", "reverse-moscow")
        # A word with one conjunct that links it to another, or is itself a conjunct on that side.
        base, head = tree.base(node), tree.heads[node]
        is_conjunct = base == CONJUNCT and head > 0 and (head < node) == rightward
        if len(conjuncts) > 1:
            yield frozenset({fan})
        else:
            yield frozenset({chain} if base in ("cc", "punct") or is_conjunct else {fan, chain})


def _separator_votes(tree: WorkingTree, group: convert.Group, family: str) -> Iterator[Vote]:
    first, last = group.conjuncts[0], group.conjuncts[-1]
    for holder in {*group.conjuncts, *group.links, group.top}:
        for word in tree.children[holder]:
            if word == group.top or not (first < word < last and tree.is_separating(word)):
                continue
            following = min(conjunct for conjunct in group.conjuncts if conjunct > word)
            previous = max(conjunct for conjunct in group.conjuncts if conjunct < word)
            chained = family in ("moscow", "reverse-moscow")
            agrees = {
                "following": holder == following,
                "previous": holder == previous and word not in group.links,
                "between": word in group.links if chained else holder == group.top,
            }
            dimension = "conjunctions" if tree.base(word) == "cc" else "punctuation"
            if any(agrees.values()):
                yield dimension, frozenset(choice for choice, agreed in agrees.items() if agreed)


def _shared_votes(tree: WorkingTree, group: convert.Group, family: str) -> Iterator[Vote]:
    """Yield a vote for each shared dependent whose attachment depends on the choice."""
    first, last = group.conjuncts[0], group.conjuncts[-1]
    outside = convert.outside_dependents(tree, group.top, group)
    if group.top not in group.conjuncts:
        on_head, on_nearest = outside, convert.guess_left(tree, group) + convert.guess_right(tree, group)
    elif family in ("conll", "reverse-moscow"):
        on_head, on_nearest = [word for word in outside if word < first], convert.guess_left(tree, group)
    else:
        on_head, on_nearest = [word for word in outside if word > last], convert.guess_right(tree, group)
    yield from [("shared", frozenset({"head"}))] * len(on_head)
    yield from [("shared", frozenset({"nearest"}))] * len(on_nearest)
