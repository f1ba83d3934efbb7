"""Trees drawn as arcs over words: one, two of the same words, and two aligned ones with links between them.

How sure a parser is of an arc (``ArcProb`` in MISC) and an aligner of a link is shown as opacity; where it is
not sure, the label has the number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qsproj.conventions import ROOT
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.viz.arcs import Arc, compared_arcs, title_of, translated_arcs, tree_arcs
from qsproj.viz.layout import MARGIN, Placed, Row, Segment, place
from qsproj.viz.markup import LABEL_SIZE, Drawing, Mark, escape, text_width

# As wide as most screens; longer sentences go on in a further line.
LINE_WIDTH = 1200.0
_LEVEL_HEIGHT = 24.0
_TEXT_HEIGHT = 34.0
_LINK_HEIGHT = 70.0
_CORNER = 8
_TIP = 6.0
# Fainter, what most needs to be looked at could not be seen.
_FAINTEST = 0.3
# A label stands on an arc so often that one is in view.
_LABELS_EVERY = 700.0


def draw_tree(sentence: Sentence, *, width: float | None = LINE_WIDTH) -> Drawing:
    """Draw a sentence with its tree above it: forms, UPOS, arcs with their relations.

    A word without a head gets no arc. Arcs are as opaque as they are probable where MISC has ``ArcProb``. A
    sentence of a script that is read from right to left is drawn so.

    Parameters
    ----------
    sentence : Sentence
    width : float or None
        Where lines of words are broken, in pixels; None: nowhere. Arcs go on from line to line.

    Raises
    ------
    UsageError
        When a value of ``ArcProb`` is no probability.
    """
    arcs = tree_arcs(sentence)
    return _drawn(place(sentence, above=arcs, width=width), _marks(arcs))


def draw_versus(sentence: Sentence, other: Sentence, *, width: float | None = LINE_WIDTH) -> Drawing:
    """Draw a tree above its words and, below them, the arcs that another tree of these words has instead.

    Parameters
    ----------
    sentence, other : Sentence
        Of the same words, one parsed and one by hand, for instance. An arc of one that the other has not, or
        has with another relation, stands out.
    width : float or None
        As in :func:`draw_tree`.

    Raises
    ------
    SentenceError
        When the words differ.
    UsageError
        As :func:`draw_tree`.
    """
    arcs, others = compared_arcs(sentence, other)
    marks = _marks((*arcs, *others)) | {Mark.VERSUS}
    return _drawn(place(sentence, above=arcs, below=others, width=width), marks)


def draw_pair(pair: SentencePair) -> Drawing:
    """Draw two aligned sentences: the source with its tree above, the target below with its tree under it.

    Links that annotators only called possible are dashed; weighted links are as opaque as they are probable.
    Sentences are not broken into lines; labels of long arcs stand on them again and again.

    Raises
    ------
    UsageError
        As :func:`draw_tree`.
    """
    arcs, translated = translated_arcs(pair)
    source, target = place(pair.source, above=arcs), place(pair.target, above=(), below=translated)
    width = max(source.width, target.width)
    upper = _Canvas(source, width, 0.0, "source")
    lower = _Canvas(target, width, upper.bottom + _LINK_HEIGHT - 2 * MARGIN, "target")
    links = pair.alignment
    marks = {Mark.LINK} | _marks((*arcs, *translated))
    if not links.sure.all():
        marks |= {Mark.POSSIBLE}
    if links.weights is not None:
        marks |= {Mark.LINK_PROBABILITY}
    markup = _links(pair, upper, lower) + upper.markup + lower.markup
    return Drawing(
        f"{_title(pair.source)} / {_title(pair.target)}", width, lower.bottom, markup, frozenset(marks)
    )


def _title(sentence: Sentence) -> str:
    return " ".join(sentence.forms)


def _marks(arcs: Sequence[Arc]) -> frozenset[Mark]:
    return frozenset({Mark.PROBABILITY} if any(arc.confidence is not None for arc in arcs) else ())


def _drawn(placed: Placed, marks: frozenset[Mark]) -> Drawing:
    canvas = _Canvas(placed, placed.width, 0.0, "words")
    return Drawing(_title(placed.sentence), placed.width, canvas.bottom, canvas.markup, marks)


class _Canvas:
    """A sentence drawn, from ``top`` on, in a picture of some width.

    Attributes
    ----------
    markup : str
    bottom : float
    tops : list of float
        Where the words of each line start.
    """

    def __init__(self, placed: Placed, width: float, top: float, role: str) -> None:
        self.placed, self.tops = placed, list[float]()
        self._across: Callable[[float], float] = (lambda x: width - x) if placed.right_to_left else float
        pieces = [f'<g class="tree {role}">\n']
        for row in placed.rows:
            words_top = top + _height(row.above)
            self.tops.append(words_top)
            words_bottom = words_top + _TEXT_HEIGHT
            pieces += [self._arc(segment, words_top, -1.0) for segment in row.above]
            pieces += [self._arc(segment, words_bottom, 1.0) for segment in row.below]
            pieces.append(self._words(row, words_top))
            top = words_bottom + _height(row.below)
        self.bottom = top
        self.markup = "".join([*pieces, "</g>\n"])

    def centre(self, word: int) -> float:
        """Return where a word of a sentence of one line stands."""
        return self._across(self.placed.rows[0].centres[word - 1])

    def _words(self, row: Row, top: float) -> str:
        sentence, pieces = self.placed.sentence, list[str]()
        direction = ' direction="rtl"' if self.placed.right_to_left else ""
        for word, centre in zip(row.words, row.centres, strict=True):
            x = _number(self._across(centre))
            form, tag = escape(sentence.forms[word - 1]), escape(sentence.upos[word - 1])
            pieces.append(
                f'<text class="form"{direction} data-word="{word}" x="{x}" y="{_number(top + 16)}">'
                f"{form}</text>"
                f'<text class="tag" x="{x}" y="{_number(top + 29)}">{tag}</text>\n'
            )
        return "".join(pieces)

    def _arc(self, segment: Segment, edge: float, away: float) -> str:
        """Draw an arc whose ends touch the words at the height ``edge``."""
        arc = segment.arc
        tail, tip = self._across(segment.tail), self._across(segment.tip)
        height = edge + away * segment.level * _LEVEL_HEIGHT
        shown = _opacity(arc.confidence)
        lines = [f'<path{shown} d="{_line(segment, tail, tip, edge, height, base=edge + away * _TIP)}"/>']
        if segment.at_dependent:
            end = f"M{_number(tip)} {_number(edge)}l-3 {_number(away * _TIP)}h6z"
            lines.append(f'<path class="tip"{shown} d="{end}"/>')
        kind = f"arc {arc.mark}" if arc.mark else "arc"
        ends = f'data-head="{arc.head}" data-dependent="{arc.dependent}"'
        partner = "" if arc.partner is None else f' data-partner="{arc.partner}"'
        probability = "" if arc.confidence is None else f' data-probability="{arc.confidence:g}"'
        return (
            f'<g class="{kind}" {ends}{probability}{partner}>'
            f"<title>{escape(title_of(arc, self.placed.sentence))}</title>"
            f"{''.join(lines)}{_labels(arc, tail, tip, height)}</g>\n"
        )


def _height(segments: Sequence[Segment]) -> float:
    return max((segment.level for segment in segments), default=0) * _LEVEL_HEIGHT + MARGIN


def _line(segment: Segment, tail: float, tip: float, edge: float, height: float, *, base: float) -> str:
    """Return the path from a head away from the words, along, and back to the tip at the dependent.

    What lies in other lines is left out: the path starts or ends at the edge of this one.
    """
    if segment.arc.head == ROOT:
        return f"M{_number(tip)} {_number(height)}V{_number(base)}"
    start, end = round(tail), round(tip)
    corner = min(_CORNER, abs(end - start) // 2)
    x = corner if end > start else -corner
    y = corner if height > edge else -corner
    # Relative, so that most of it is the same in all arcs, and packs well.
    if segment.at_head:
        out = f"M{start} {_number(edge)}v{_number(height - edge - y)}q0 {y} {x} {y}"
        start += x
    else:
        out = f"M{start} {_number(height)}"
    if not segment.at_dependent:
        return f"{out}h{end - start}"
    return f"{out}h{end - start - x}q{x} 0 {x} {-y}v{_number(base - height + y)}"


def _labels(arc: Arc, tail: float, tip: float, height: float) -> str:
    """Draw the relation on the line, which it covers, so often that it is seen from everywhere on it."""
    copies = 1 + int(abs(tip - tail) // _LABELS_EVERY)
    number = f'<tspan class="unsure" dx="3">{arc.number}</tspan>' if arc.number else ""
    width = text_width(arc.label, LABEL_SIZE) + 6
    pieces = []
    for copy in range(copies):
        centre = tail + (tip - tail) * (copy + 0.5) / copies
        pieces.append(
            f'<rect class="behind" x="{_number(centre - width / 2)}" y="{_number(height - 7)}" '
            f'width="{_number(width)}" height="14"/>'
            f'<text class="label" x="{_number(centre)}" y="{_number(height + 3.5)}">{escape(arc.relation)}'
            f"{number}</text>"
        )
    return "".join(pieces)


def _links(pair: SentencePair, source: _Canvas, target: _Canvas) -> str:
    """Draw the word links between the lower edge of the source and the upper edge of the target."""
    links = pair.alignment
    weights = [None] * len(links.links) if links.weights is None else links.weights.tolist()
    top, bottom = source.tops[0] + _TEXT_HEIGHT, target.tops[0]
    pieces = []
    for (word, other), sure, weight in zip(links.links.tolist(), links.sure.tolist(), weights, strict=True):
        chance = "" if weight is None else f", probability {weight:g}"
        title = f"{pair.source.forms[word - 1]} \N{EN DASH} {pair.target.forms[other - 1]}{chance}"
        pieces.append(
            f'<line class="{"link" if sure else "link possible"}"{_opacity(weight)} data-source="{word}" '
            f'data-target="{other}" x1="{_number(source.centre(word))}" y1="{_number(top)}" '
            f'x2="{_number(target.centre(other))}" y2="{_number(bottom)}">'
            f"<title>{escape(title)}</title></line>\n"
        )
    return "".join(pieces)


def _opacity(probability: float | None) -> str:
    return "" if probability is None else f' opacity="{max(probability, _FAINTEST):.2f}"'


def _number(value: float) -> str:
    """Write a coordinate; whole pixels are fine enough, and take a third less room in packed pages."""
    return f"{value:.0f}"
