"""Arcs to draw: of a tree, of two trees of the same words, of a tree and its translation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.editing import ARC_PROBABILITY, misc_values
from qsproj.corpus.enhanced import collapsed_graph
from qsproj.corpus.messages import first_difference, number_of, probability_in
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import SentenceError

# Arcs with a lower probability show it in their label.
SURE = 0.9
# Marks of arcs in comparisons of two trees of the same words.
DIFFERS, OTHER = "differs", "other"
# Mark of DEPS edges that are not in the tree.
ENHANCED = "enhanced"


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
    confidences = misc_values(sentence, ARC_PROBABILITY)
    rows = zip(sentence.heads.tolist()[1:], sentence.deprels, confidences, strict=True)
    arcs = []
    for word, (head, relation, value) in enumerate(rows, start=1):
        if head != NO_HEAD:
            confidence = None if value is None else _probability(sentence, word, value)
            arcs.append(Arc(head=head, dependent=word, relation=relation, confidence=confidence))
    return tuple(arcs)


def enhanced_arcs(sentence: Sentence) -> tuple[Arc, ...]:
    """Return the edges of DEPS that are not in the tree; edges of the same two words are merged."""
    tree = set(zip(sentence.heads.tolist()[1:], range(1, len(sentence) + 1), sentence.deprels, strict=True))
    found = dict[tuple[int, int], list[str]]()
    for word, edges in enumerate(collapsed_graph(sentence), start=1):
        for text, relation in edges:
            head = number_of(text) if text.isdecimal() else NO_HEAD
            if head in range(len(sentence) + 1) and head != word and (head, word, relation) not in tree:
                found.setdefault((head, word), []).append(relation)
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
    links = [(word, other) for word, other in pair.alignment.links.tolist()]
    forwards = _linked(links)
    backwards = _linked((other, word) for word, other in links)
    turned = tuple(_with_partner(arc, backwards, source, pair.source) for arc in target)
    return tuple(_with_partner(arc, forwards, target, pair.target) for arc in source), turned


def title_of(arc: Arc, sentence: Sentence) -> str:
    sure = "" if arc.confidence is None else f", probability {arc.confidence:g}"
    note = f"; {arc.note}" if arc.note else ""
    return f"{arrow(arc, sentence)}{sure}{note}"


def arrow(arc: Arc, sentence: Sentence) -> str:
    head = "root" if arc.head == ROOT else sentence.forms[arc.head - 1]
    return f"{head} \N{RIGHTWARDS ARROW} {sentence.forms[arc.dependent - 1]}: {arc.relation}"


def _linked(links: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {ROOT: {ROOT}}
    for word, other in links:
        found.setdefault(word, set()).add(other)
    return found


def _with_partner(arc: Arc, links: dict[int, set[int]], others: Sequence[Arc], translation: Sentence) -> Arc:
    heads, dependents = links.get(arc.head, set()), links.get(arc.dependent, set())
    if not dependents:
        return replace(arc, note="its dependent has no link")
    for other in others:
        ends = (other.head, other.dependent)
        if ends[0] in heads and ends[1] in dependents:
            return replace(arc, note=f"translated: {arrow(other, translation)}", partner=other.dependent)
        if other.head != ROOT and ends[1] in heads and ends[0] in dependents:
            note = f"translated, turned around: {arrow(other, translation)}"
            return replace(arc, note=note, partner=other.dependent)
    words = ", ".join(translation.forms[word - 1] for word in sorted(dependents))
    return replace(arc, note=f"its dependent is linked with: {words}")


def _probability(sentence: Sentence, word: int, text: str) -> float:
    value = probability_in(text)
    if value is None:
        name = sentence.sent_id or " ".join(sentence.forms)[:40]
        found, expected = f"{ARC_PROBABILITY}={text} in sentence {name!r}", "a probability"
        remedy = "parse it again with --confidence, or remove it"
        raise SentenceError(found=found, expected=expected, remedy=remedy, word=word)
    return value
