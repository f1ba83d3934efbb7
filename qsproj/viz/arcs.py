"""Arcs to draw: of a tree, of two trees of the same words, of a tree and its translation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.editing import ARC_PROBABILITY, collapsed_graph, misc_values
from qsproj.corpus.messages import first_difference, number_of, probability_in
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import SentenceError

SURE = 0.9  # arcs with a lower probability show it in their label
# Marks of arcs in comparisons of two trees of the same words; of DEPS edges that are not in the tree.
DIFFERS, OTHER, ENHANCED = "differs", "other", "enhanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arc:
    """An arc to draw: its ends 0..n, relation, probability or None, and optional marks."""

    head: int
    dependent: int
    relation: str
    confidence: float | None
    mark: str = ""  # class of the style sheet, for arcs of several kinds
    note: str = ""  # addition to the title, after ends, relation and probability
    partner: int | None = None  # the dependent of the corresponding arc in the other language

    @property
    def span(self) -> tuple[int, int]:
        return min(self.head, self.dependent), max(self.head, self.dependent)

    @property
    def number(self) -> str:
        """The probability in the label, in percent; empty for an arc with high probability or none."""
        return "" if self.confidence is None or self.confidence >= SURE else f"{100 * self.confidence:.0f}%"

    @property
    def label(self) -> str:
        return f"{self.relation} {self.number}" if self.number else self.relation


def tree_arcs(sentence: Sentence) -> tuple[Arc, ...]:
    arcs = []
    for word, stated in enumerate(misc_values(sentence, ARC_PROBABILITY), start=1):
        head, relation = int(sentence.heads[word]), sentence.deprels[word - 1]
        if head == NO_HEAD:
            continue
        confidence = None if stated is None else probability_in(stated)
        if stated is not None and confidence is None:
            name = sentence.sent_id or " ".join(sentence.forms)[:40]
            found = f"{ARC_PROBABILITY}={stated} in sentence {name!r}"
            remedy = "parse it again with --confidence, or remove it"
            raise SentenceError(found=found, expected="a probability", remedy=remedy, word=word)
        arcs.append(Arc(head=head, dependent=word, relation=relation, confidence=confidence))
    return tuple(arcs)


def enhanced_arcs(sentence: Sentence) -> tuple[Arc, ...]:
    """Return the edges of DEPS that are not in the tree; edges of the same two words are merged."""
    tree = set(zip(sentence.heads.tolist()[1:], range(1, len(sentence) + 1), sentence.deprels, strict=True))
    found = defaultdict[tuple[int, int], list[str]](list)
    for word, edges in enumerate(collapsed_graph(sentence), start=1):
        for text, relation in edges:
            head = number_of(text) if text.isdecimal() else NO_HEAD
            if head in range(len(sentence) + 1) and head != word and (head, word, relation) not in tree:
                found[head, word].append(relation)
    return tuple(
        Arc(head=head, dependent=word, relation=", ".join(names), confidence=None, mark=ENHANCED)
        for (head, word), names in found.items()
    )


def compared_arcs(sentence: Sentence, other: Sentence) -> tuple[tuple[Arc, ...], tuple[Arc, ...]]:
    """Return the arcs of a tree, with differing ones marked, and the arcs that only the other tree has."""
    if sentence.forms != other.forms:
        number, expected, found = first_difference(sentence.forms, other.forms)
        found, remedy = f"{found} as word {number}", "compare trees of the same words"
        raise SentenceError(found=found, expected=expected, remedy=remedy)
    arcs, others = tree_arcs(sentence), tree_arcs(other)
    here, there = ({(arc.head, arc.dependent, arc.relation): arc for arc in tree} for tree in (arcs, others))
    own = tuple(arc if key in there else replace(arc, mark=DIFFERS) for key, arc in here.items())
    return own, tuple(replace(arc, mark=OTHER) for key, arc in there.items() if key not in here)


def translated_arcs(pair: SentencePair) -> tuple[tuple[Arc, ...], tuple[Arc, ...]]:
    source, target = tree_arcs(pair.source), tree_arcs(pair.target)
    forwards, backwards = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    for word, other in [(ROOT, ROOT), *pair.alignment.links.tolist()]:
        forwards[word].add(other)
        backwards[other].add(word)
    turned = tuple(_with_partner(arc, backwards, source, pair.source) for arc in target)
    return tuple(_with_partner(arc, forwards, target, pair.target) for arc in source), turned


def title_of(arc: Arc, sentence: Sentence) -> str:
    sure = "" if arc.confidence is None else f", probability {arc.confidence:g}"
    note = f"; {arc.note}" if arc.note else ""
    return f"{arrow(arc, sentence)}{sure}{note}"


def arrow(arc: Arc, sentence: Sentence) -> str:
    head = "root" if arc.head == ROOT else sentence.forms[arc.head - 1]
    return f"{head} \N{RIGHTWARDS ARROW} {sentence.forms[arc.dependent - 1]}: {arc.relation}"


def _with_partner(arc: Arc, links: Mapping[int, set[int]], arcs: Sequence[Arc], translation: Sentence) -> Arc:
    heads, dependents = links[arc.head], links[arc.dependent]
    if not dependents:
        return replace(arc, note="its dependent has no link")
    for other in arcs:
        if other.head in heads and other.dependent in dependents:
            return replace(arc, note=f"translated: {arrow(other, translation)}", partner=other.dependent)
        if other.head != ROOT and other.dependent in heads and other.head in dependents:
            note = f"translated, turned around: {arrow(other, translation)}"
            return replace(arc, note=note, partner=other.dependent)
    words = ", ".join(translation.forms[word - 1] for word in sorted(dependents))
    return replace(arc, note=f"its dependent is linked with: {words}")
