"""Trees drawn as arcs over words: one, two of the same words, or two aligned trees with links.

Probabilities of arcs (``ArcProb`` in MISC) and links are shown as opacity; low ones also as numbers.
"""

import itertools
from collections.abc import Callable, Sequence

from qsproj.conventions import ROOT
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.viz.arcs import Arc, compared_arcs, enhanced_arcs, title_of, translated_arcs, tree_arcs
from qsproj.viz.drawing import LABEL_SIZE, Drawing, Mark, escape, text_width
from qsproj.viz.layout import MARGIN, Placed, Row, Segment, place, place_pair

LINE_WIDTH = 1200.0  # that of most screens; longer sentences continue in another line
_LEVEL_HEIGHT = 24.0
_TEXT_HEIGHT = 34.0
_TOKEN_HEIGHT = 16.0
_LINK_HEIGHT = 70.0
_CORNER = 8
_TIP = 6.0
_FAINTEST = 0.3  # least opacity: the least probable arcs must stay visible, since they most need checking
_LABELS_EVERY = 700.0  # distance of repeated labels on long arcs, so that one is always in view


def draw_tree(sentence: Sentence, *, width: float | None = LINE_WIDTH) -> Drawing:
    """Draw a sentence with its tree above it, and enhanced dependencies that are not in the tree below."""
    arcs, enhanced = tree_arcs(sentence), enhanced_arcs(sentence)
    marks = _marks(arcs) | ({Mark.ENHANCED} if enhanced else set())
    return _drawn(place(sentence, above=arcs, below=enhanced, width=width), marks)


def with_features_shown(sentence: Sentence) -> Sentence:
    """Return the sentence with feature values added to each tag for drawing: ``NOUN Nom.Sing``."""
    values = [[pair.partition("=")[2] for pair in feats.split("|")] for feats in sentence.feats]
    tags = [f"{tag} {'.'.join(own)}".rstrip(" ") for tag, own in zip(sentence.upos, values, strict=True)]
    return with_columns(sentence, upos=tags)


def draw_versus(sentence: Sentence, other: Sentence, *, width: float | None = LINE_WIDTH) -> Drawing:
    """Draw a tree above its words and, below them, the differing arcs of another tree of the same words."""
    arcs, others = compared_arcs(sentence, other)
    pairs = zip(sentence.upos, other.upos, strict=True)
    tags = [a if a == b or UNSPECIFIED in (a, b) else f"{a}≠{b}" for a, b in pairs]
    sentence = with_columns(sentence, upos=tags)
    marks = _marks((*arcs, *others)) | {Mark.VERSUS}
    return _drawn(place(sentence, above=arcs, below=others, width=width), marks)


def draw_pair(pair: SentencePair, *, width: float | None = LINE_WIDTH) -> Drawing:
    """Draw two aligned sentences: the source with its tree above, the target below with its tree under it."""
    arcs, translated = translated_arcs(pair)
    source, target = place_pair(pair, above=arcs, below=translated, width=width)
    across, bottom = max(source.width, target.width), 0.0
    upper, lower = _Canvas(source, across, "source"), _Canvas(target, across, "target")
    for row, other in itertools.zip_longest(source.rows, target.rows):
        if row is not None:
            bottom = upper.draw(row, bottom)
        if other is not None:
            bottom = lower.draw(other, bottom + (_LINK_HEIGHT - 2 * MARGIN if row is not None else 0.0))
    marks = {Mark.LINK} | _marks((*arcs, *translated))
    if not pair.alignment.sure.all():
        marks |= {Mark.POSSIBLE}
    if pair.alignment.weights is not None:
        marks |= {Mark.LINK_PROBABILITY}
    markup = _links(pair, upper, lower) + upper.markup + lower.markup
    title = " / ".join(" ".join(side.forms) for side in (pair.source, pair.target))
    return Drawing(title, across, bottom, markup, frozenset(marks))


def _marks(arcs: Sequence[Arc]) -> frozenset[Mark]:
    return frozenset({Mark.PROBABILITY} if any(arc.confidence is not None for arc in arcs) else ())


def _drawn(placed: Placed, marks: frozenset[Mark]) -> Drawing:
    canvas, bottom = _Canvas(placed, placed.width, "words"), 0.0
    for row in placed.rows:
        bottom = canvas.draw(row, bottom)
    return Drawing(" ".join(placed.sentence.forms), placed.width, bottom, canvas.markup, marks)


class _Canvas:
    """A sentence drawn line by line in a picture of fixed width."""

    def __init__(self, placed: Placed, width: float, role: str) -> None:
        self.placed, self._role = placed, role
        self._across: Callable[[float], float] = (lambda x: width - x) if placed.right_to_left else float
        self._pieces = list[str]()
        self._tokens = placed.sentence.multiword_tokens
        self.text_height = _TEXT_HEIGHT + (_TOKEN_HEIGHT if self._tokens else 0.0)
        self.places = dict[int, tuple[float, float]]()  # word -> (its centre, upper edge of its line)

    @property
    def markup(self) -> str:
        return "".join([f'<g class="tree {self._role}">\n', *self._pieces, "</g>\n"])

    def draw(self, row: Row, top: float) -> float:
        """Draw a line of words from ``top`` downwards, and return its lower edge."""
        words_top = top + _height(row.above)
        words_bottom = words_top + self.text_height
        self._pieces += [self._arc(segment, words_top, -1.0) for segment in row.above]
        self._pieces += [self._arc(segment, words_bottom, 1.0) for segment in row.below]
        self._pieces += [self._words(row, words_top), self._joints(row, words_top + _TEXT_HEIGHT - 2)]
        for word, centre in zip(row.words, row.centres, strict=True):
            self.places[word] = self._across(centre), words_top
        return words_bottom + _height(row.below)

    def _words(self, row: Row, top: float) -> str:
        sentence, pieces = self.placed.sentence, list[str]()
        direction = ' direction="rtl"' if self.placed.right_to_left else ""
        for word, centre in zip(row.words, row.centres, strict=True):
            x, form, tag = _number(self._across(centre)), sentence.forms[word - 1], sentence.upos[word - 1]
            pieces.append(
                f'<text class="form"{direction} data-word="{word}" x="{x}" y="{_number(top + 16)}">'
                f"{escape(form)}</text>"
                f'<text class="tag" x="{x}" y="{_number(top + 29)}">{escape(tag)}</text>\n'
            )
        return "".join(pieces)

    def _joints(self, row: Row, top: float) -> str:
        pieces = list[str]()
        for token in self._tokens:
            words = zip(row.words, row.centres, strict=True)
            centres = [self._across(centre) for word, centre in words if token.first <= word <= token.last]
            if centres:
                left, right = min(centres) - 8, max(centres) + 8
                pieces.append(
                    f'<path class="joint" d="M{_number(left)} {_number(top)}v3H{_number(right)}v-3"/>'
                    f'<text class="token" data-first="{token.first}" data-last="{token.last}" '
                    f'x="{_number((left + right) / 2)}" y="{_number(top + 14)}">{escape(token.form)}</text>\n'
                )
        return "".join(pieces)

    def _arc(self, segment: Segment, edge: float, away: float) -> str:
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
    if segment.arc.head == ROOT:
        return f"M{_number(tip)} {_number(height)}V{_number(base)}"
    start, end = round(tail), round(tip)
    corner = min(_CORNER, abs(end - start) // 2)
    x = corner if end > start else -corner
    y = corner if height > edge else -corner
    # Relative coordinates repeat across arcs, and compress well.
    if segment.at_head:
        out = f"M{start} {_number(edge)}v{_number(height - edge - y)}q0 {y} {x} {y}"
        start += x
    else:
        out = f"M{start} {_number(height)}"
    if not segment.at_dependent:
        return f"{out}h{end - start}"
    return f"{out}h{end - start - x}q{x} 0 {x} {-y}v{_number(base - height + y)}"


def _labels(arc: Arc, tail: float, tip: float, height: float) -> str:
    """Draw the relation over the line, repeated along long arcs so that one is always in view."""
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
    links, pieces = pair.alignment, list[str]()
    weights = [None] * len(links.links) if links.weights is None else links.weights.tolist()
    for (word, other), sure, weight in zip(links.links.tolist(), links.sure.tolist(), weights, strict=True):
        chance = "" if weight is None else f", probability {weight:g}"
        (x, top), (other_x, other_top) = source.places[word], target.places[other]
        title = f"{pair.source.forms[word - 1]} \N{EN DASH} {pair.target.forms[other - 1]}{chance}"
        pieces.append(
            f'<line class="{"link" if sure else "link possible"}"{_opacity(weight)} data-source="{word}" '
            f'data-target="{other}" x1="{_number(x)}" y1="{_number(top + source.text_height)}" '
            f'x2="{_number(other_x)}" y2="{_number(other_top)}">'
            f"<title>{escape(title)}</title></line>\n"
        )
    return "".join(pieces)


def _opacity(probability: float | None) -> str:
    return "" if probability is None else f' opacity="{max(probability, _FAINTEST):.2f}"'


def _number(value: float) -> str:
    """Format a coordinate in whole pixels, which is precise enough and saves a third in compressed pages."""
    return f"{value:.0f}"
