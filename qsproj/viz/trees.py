"""Trees drawn as arcs over words, and sentence pairs as two trees with the word links between them.

How sure a parser is of an arc (``ArcProb`` in MISC) and an aligner of a link is shown as opacity.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.editing import ARC_PROBABILITY, misc_values
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.viz.markup import Drawing, escape, text_width

_FORM_SIZE, _TAG_SIZE, _LABEL_SIZE = 15.0, 10.0, 11.0
_MARGIN = 12.0
_WORD_GAP = 18.0
_LABEL_ROOM = 12.0
_LEVEL_HEIGHT = 24.0
_TEXT_HEIGHT = 34.0
_LINK_HEIGHT = 70.0
_CORNER = 8.0
_ATTACHMENT_STEP = 7.0
# Fainter, what most needs to be looked at could not be read.
_FAINTEST = 0.3


@dataclass(frozen=True, slots=True)
class _Arc:
    """An arc as drawn: its ends 0..n, its level (1 is nearest to the words), and how sure it is (or None)."""

    head: int
    dependent: int
    label: str
    level: int
    confidence: float | None

    @property
    def span(self) -> tuple[int, int]:
        return min(self.head, self.dependent), max(self.head, self.dependent)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A sentence with its arcs and the centre of each word in pixels; ``centres[0]`` stands for the root."""

    sentence: Sentence
    arcs: tuple[_Arc, ...]
    centres: tuple[float, ...]

    @property
    def width(self) -> float:
        return self.centres[-1] + _word_width(self.sentence, len(self.sentence)) / 2 + _MARGIN

    @property
    def arcs_height(self) -> float:
        levels = max((arc.level for arc in self.arcs), default=0)
        return levels * _LEVEL_HEIGHT + _MARGIN


def draw_tree(sentence: Sentence) -> Drawing:
    """Draw a sentence with its tree above it: forms, UPOS, arcs with their relations.

    A word without a head gets no arc. Arcs are as opaque as they are probable where MISC has ``ArcProb``.

    Raises
    ------
    UsageError
        When a value of ``ArcProb`` is no probability.
    """
    placed = _place(sentence)
    words_top = placed.arcs_height
    markup = _arcs(placed, words_top, upward=True) + _words(placed, words_top)
    return Drawing(_title(sentence), placed.width, words_top + _TEXT_HEIGHT + _MARGIN, markup)


def draw_pair(pair: SentencePair) -> Drawing:
    """Draw two aligned sentences: the source with its tree above, the target below with its tree under it.

    Links that annotators only called possible are dashed; weighted links are as opaque as they are probable.

    Raises
    ------
    UsageError
        As :func:`draw_tree`.
    """
    source, target = _place(pair.source), _place(pair.target)
    source_top = source.arcs_height
    target_top = source_top + _TEXT_HEIGHT + _LINK_HEIGHT
    target_bottom = target_top + _TEXT_HEIGHT
    markup = "".join(
        (
            _links(pair, source, target, source_top + _TEXT_HEIGHT, target_top),
            _arcs(source, source_top, upward=True),
            _words(source, source_top),
            _arcs(target, target_bottom, upward=False),
            _words(target, target_top),
        )
    )
    return Drawing(
        f"{_title(pair.source)} / {_title(pair.target)}",
        max(source.width, target.width),
        target_bottom + target.arcs_height,
        markup,
    )


def _title(sentence: Sentence) -> str:
    return " ".join(sentence.forms)


def _place(sentence: Sentence) -> _Placed:
    """Set the words from left to right, so that neither neighbours nor the labels of arcs collide."""
    arcs = _levelled_arcs(sentence)
    touching = Counter(word for arc in arcs for word in arc.span)
    needed: dict[int, list[tuple[int, float]]] = {}
    for arc in arcs:
        left, right = arc.span
        if left != ROOT:
            spread = sum(
                _attachment_step(sentence, word, touching[word]) * touching[word] for word in arc.span
            )
            room = text_width(arc.label, _LABEL_SIZE) + _LABEL_ROOM + spread / 2
            needed.setdefault(right, []).append((left, room))
    centres = [0.0]
    right_edge = _MARGIN - _WORD_GAP
    for word in range(1, len(sentence) + 1):
        half = _word_width(sentence, word) / 2
        by_labels = (centres[left] + room for left, room in needed.get(word, ()))
        centres.append(max((right_edge + _WORD_GAP + half, *by_labels)))
        right_edge = centres[-1] + half
    return _Placed(sentence, arcs, tuple(centres))


def _word_width(sentence: Sentence, word: int) -> float:
    form, tag = sentence.forms[word - 1], sentence.upos[word - 1]
    return max(text_width(form, _FORM_SIZE), text_width(tag, _TAG_SIZE))


def _attachment_step(sentence: Sentence, word: int, arcs: int) -> float:
    """Return the distance at which the arcs of a word touch it: as many as there are must fit."""
    return min(_ATTACHMENT_STEP, _word_width(sentence, word) / arcs)


def _levelled_arcs(sentence: Sentence) -> tuple[_Arc, ...]:
    """Return the arcs, each a level above all arcs that it spans, and the root's above them all."""
    heads = sentence.heads.tolist()
    spans = {
        word: (min(head, word), max(head, word))
        for word, head in enumerate(heads)
        if head not in (NO_HEAD, ROOT)
    }
    levels: dict[int, int] = {}
    for word, (left, right) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        inside = (levels[other] for other in levels if left <= spans[other][0] and spans[other][1] <= right)
        levels[word] = 1 + max(inside, default=0)
    root_level = 1 + max(levels.values(), default=0)
    confidences = _confidences(sentence)
    return tuple(
        _Arc(head, word, sentence.deprels[word - 1], levels.get(word, root_level), confidences[word - 1])
        for word, head in enumerate(heads)
        if head != NO_HEAD
    )


def _confidences(sentence: Sentence) -> list[float | None]:
    values = misc_values(sentence, ARC_PROBABILITY)
    return [None if value is None else _probability(sentence, value) for value in values]


def _probability(sentence: Sentence, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise UsageError(
            f"sentence {sentence.sent_id or _title(sentence)[:40]!r}: found {ARC_PROBABILITY}={text}, "
            "expected a probability; parse it again with --confidence, or remove it"
        )
    return value


def _attachments(placed: _Placed) -> dict[tuple[int, int], tuple[float, float]]:
    """Return for each arc (head, dependent) where it touches its head and its dependent, in pixels.

    The arcs of a word are spread over it in the order that keeps nested arcs apart: those to the left from
    short to long, the root's, those to the right from long to short.
    """
    at_word: dict[int, list[tuple[float, _Arc]]] = {}
    for arc in placed.arcs:
        length = arc.span[1] - arc.span[0]
        for word, other in ((arc.head, arc.dependent), (arc.dependent, arc.head)):
            if word != ROOT:
                order = 0.0 if other == ROOT else (-1.0 if other < word else 1.0) / length
                at_word.setdefault(word, []).append((order, arc))
    places: dict[tuple[int, int, int], float] = {}
    for word, arcs in at_word.items():
        step = _attachment_step(placed.sentence, word, len(arcs))
        first = placed.centres[word] - step * (len(arcs) - 1) / 2
        for rank, (_, arc) in enumerate(sorted(arcs, key=lambda entry: entry[0])):
            places[arc.head, arc.dependent, word] = first + rank * step
    return {
        (arc.head, arc.dependent): (
            places.get((arc.head, arc.dependent, arc.head), 0.0),
            places[arc.head, arc.dependent, arc.dependent],
        )
        for arc in placed.arcs
    }


def _arcs(placed: _Placed, words_edge: float, *, upward: bool) -> str:
    """Draw all arcs; ``words_edge`` is where they meet the words: their top, or their bottom."""
    away = -1.0 if upward else 1.0
    touches = _attachments(placed)
    pieces = []
    for arc in sorted(placed.arcs, key=lambda arc: -arc.level):
        tail, tip = touches[arc.head, arc.dependent]
        height = words_edge + away * arc.level * _LEVEL_HEIGHT
        line = f"M{tip:.1f} {height:.1f}V{words_edge:.1f}"
        label_at = tip
        if arc.head != ROOT:
            corner = min(_CORNER, abs(tip - tail) / 2)
            line = _elbows(tail, tip, words_edge, height, corner=corner)
            label_at = (tail + tip) / 2
        arrow = words_edge + away * 6.0
        pieces.append(
            f'<g class="arc"{_opacity(arc.confidence)} '
            f'data-head="{arc.head}" data-dependent="{arc.dependent}">'
            f"<title>{escape(_arc_title(placed.sentence, arc))}</title>"
            f'<path d="{line}"/>'
            f'<polygon points="{tip:.1f},{words_edge:.1f} '
            f'{tip - 3:.1f},{arrow:.1f} {tip + 3:.1f},{arrow:.1f}"/>'
            f"{_label(arc.label, label_at, height)}</g>\n"
        )
    return "".join(pieces)


def _elbows(tail: float, tip: float, edge: float, height: float, *, corner: float) -> str:
    """Return the path from a head away from the words, along, and back to the dependent."""
    sideways = corner if tip > tail else -corner
    back = corner if edge > height else -corner
    return (
        f"M{tail:.1f} {edge:.1f}V{height + back:.1f}"
        f"Q{tail:.1f} {height:.1f} {tail + sideways:.1f} {height:.1f}"
        f"H{tip - sideways:.1f}Q{tip:.1f} {height:.1f} {tip:.1f} {height + back:.1f}V{edge:.1f}"
    )


def _label(text: str, centre: float, middle: float) -> str:
    """Draw a relation on its line, which it covers."""
    width = text_width(text, _LABEL_SIZE) + 4
    return (
        f'<rect class="behind" x="{centre - width / 2:.1f}" y="{middle - 7:.1f}" '
        f'width="{width:.1f}" height="14"/>'
        f'<text class="label" x="{centre:.1f}" y="{middle + 3.5:.1f}">{escape(text)}</text>'
    )


def _arc_title(sentence: Sentence, arc: _Arc) -> str:
    head = "root" if arc.head == ROOT else sentence.forms[arc.head - 1]
    sure = "" if arc.confidence is None else f", probability {arc.confidence:g}"
    return f"{head} \N{RIGHTWARDS ARROW} {sentence.forms[arc.dependent - 1]}: {arc.label}{sure}"


def _words(placed: _Placed, top: float) -> str:
    pieces = []
    for form, tag, centre in zip(
        placed.sentence.forms, placed.sentence.upos, placed.centres[1:], strict=True
    ):
        pieces.append(
            f'<text class="form" x="{centre:.1f}" y="{top + 16:.1f}">{escape(form)}</text>'
            f'<text class="tag" x="{centre:.1f}" y="{top + 29:.1f}">{escape(tag)}</text>\n'
        )
    return "".join(pieces)


def _links(pair: SentencePair, source: _Placed, target: _Placed, top: float, bottom: float) -> str:
    """Draw the word links between the lower edge of the source and the upper edge of the target."""
    links = pair.alignment
    weights = [None] * len(links.links) if links.weights is None else links.weights.tolist()
    pieces = []
    for (word, other), sure, weight in zip(links.links.tolist(), links.sure.tolist(), weights, strict=True):
        pieces.append(
            f'<line class="{"link" if sure else "link possible"}"{_opacity(weight)} data-source="{word}" '
            f'data-target="{other}" x1="{source.centres[word]:.1f}" y1="{top:.1f}" '
            f'x2="{target.centres[other]:.1f}" y2="{bottom:.1f}"/>\n'
        )
    return "".join(pieces)


def _opacity(probability: float | None) -> str:
    return "" if probability is None else f' opacity="{max(probability, _FAINTEST):.2f}"'
