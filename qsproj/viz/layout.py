"""Layout of the words and arcs of a sentence: lines of words, arcs split at line ends, levels of arcs.

Coordinates are in pixels from the left, in the order of words; right-to-left sentences are mirrored when
drawn.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qsproj.conventions import ROOT
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.viz.arcs import Arc
from qsproj.viz.drawing import FORM_SIZE, LABEL_SIZE, TAG_SIZE, text_width

MARGIN = 12.0
_WORD_GAP = 18.0
_LABEL_ROOM = 12.0
_ATTACHMENT_STEP = 7.0
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of an arc over one line of words."""

    arc: Arc
    tail: float  # position at the head, or at the edge of the line towards the head
    tip: float  # position at the dependent, or at the edge
    at_head: bool  # whether the line holds the head
    at_dependent: bool  # whether it holds the dependent
    level: int  # 1 is closest to the words


@dataclass(frozen=True, slots=True)
class Row:
    """A line of words, with their centres in pixels and the arcs above and below."""

    words: range
    centres: tuple[float, ...]
    above: tuple[Segment, ...]
    below: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """The layout of a sentence."""

    sentence: Sentence
    rows: tuple[Row, ...]
    width: float
    right_to_left: bool


def place(
    sentence: Sentence, *, above: Sequence[Arc], below: Sequence[Arc] = (), width: float | None = None
) -> Placed:
    """Lay out words in lines so that neither words nor arc labels collide. O(arcs squared)."""
    spacing, ends = _Spacing(sentence, (above, below)), [0]
    while ends[-1] < len(spacing):
        ends.append(_last_fitting(spacing, ends[-1], width))
    return _placed(sentence, spacing, list(_lines(spacing, ends)))


def place_pair(
    pair: SentencePair, *, above: Sequence[Arc], below: Sequence[Arc], width: float | None
) -> tuple[Placed, Placed]:
    """Lay out two aligned sentences in pairs of lines, whose words are mostly linked with each other."""
    source, target = _Spacing(pair.source, (above, ())), _Spacing(pair.target, ((), below))
    if width is None:
        ends: list[tuple[int, int]] = [(len(source), len(target))]
    else:
        ends = list(_ends_of_lines(pair, source, target, width))
    sides = (pair.source, source, [end for end, _ in ends]), (pair.target, target, [end for _, end in ends])
    upper, lower = (_placed(side, spacing, list(_lines(spacing, at))) for side, spacing, at in sides)
    return upper, lower


def _ends_of_lines(
    pair: SentencePair, source: _Spacing, target: _Spacing, width: float
) -> Iterator[tuple[int, int]]:
    done, other_done = 0, 0
    while done < len(source) or other_done < len(target):
        last, other_last = _last_fitting(source, done, width), _last_fitting(target, other_done, width)
        if last < len(source) or other_last < len(target):
            ahead = [(i, j) for i, j in pair.alignment.links.tolist() if i > done and j > other_done]
            choices = (
                (sum((i <= end) != (j <= other) for i, j in ahead), -end - other, end, other)
                for end in range(min(done + 1, last), last + 1)
                for other in range(min(other_done + 1, other_last), other_last + 1)
                if 2 * end > done + last or 2 * other > other_done + other_last
            )
            _, _, last, other_last = min(choices)
        done, other_done = last, other_last
        yield done, other_done


def _last_fitting(spacing: _Spacing, done: int, width: float | None) -> int:
    """Return the last word of the line that begins after word ``done``; at the end, the last word."""
    line = _Line(done + 1, [], MARGIN - _WORD_GAP)
    for word in range(done + 1, len(spacing) + 1):
        _grow(spacing, line, word)
        if width is not None and word > line.first and line.right + MARGIN > width:
            return word - 1
    return len(spacing)


def _lines(spacing: _Spacing, ends: Sequence[int]) -> Iterator[_Line]:
    """Yield the lines of words up to each of ``ends``, none where no word is left."""
    first = 1
    for end in ends:
        if end >= first:
            line = _Line(first, [], MARGIN - _WORD_GAP)
            for word in range(first, end + 1):
                _grow(spacing, line, word)
            yield _closed(spacing, line)
        first = max(first, end + 1)


def _placed(sentence: Sentence, spacing: _Spacing, lines: Sequence[_Line]) -> Placed:
    total = max((line.right for line in lines), default=2 * MARGIN)
    rows = []
    for line in lines:
        above, below = (tuple(_segments(line, spacing, side, total)) for side in (0, 1))
        rows.append(Row(line.words, tuple(line.centres), above, below))
    return Placed(sentence, tuple(rows), total, reads_right_to_left(sentence))


def reads_right_to_left(sentence: Sentence) -> bool:
    kinds = Counter(unicodedata.bidirectional(letter) for form in sentence.forms for letter in form)
    return sum(kinds[kind] for kind in _RIGHT_TO_LEFT) > kinds["L"]


class _Spacing:
    """The space required by words and labels.

    halves: half the width of each word; the first is the root
    offsets: for each side, (head, dependent, word) -> position of the arc's end, from the word's centre
    roots: word -> half the width of the label of its arc from the root
    needed: word -> (word before it, minimum distance of both for a label)
    before, after: word -> (other word, minimum distance to the edge of the line for a label), for arcs that
        continue in the previous, or next, line
    """

    def __init__(self, sentence: Sentence, sides: tuple[Sequence[Arc], Sequence[Arc]]) -> None:
        self.sides = sides
        self.halves = [0.0]
        for form, tag in zip(sentence.forms, sentence.upos, strict=True):
            self.halves.append(max(text_width(form, FORM_SIZE), text_width(tag, TAG_SIZE)) / 2)
        self.offsets = tuple(_offsets(arcs, self.halves) for arcs in sides)
        self.roots: dict[int, float] = {}
        self.needed: dict[int, list[tuple[int, float]]] = {}
        self.before: dict[int, list[tuple[int, float]]] = {}
        self.after: dict[int, list[tuple[int, float]]] = {}
        for arcs, offsets in zip(sides, self.offsets, strict=True):
            for arc in arcs:
                left, right = arc.span
                if left == ROOT:
                    # The label is centred on a vertical line.
                    self.roots[right] = text_width(arc.label, LABEL_SIZE) / 2 + 2
                    continue
                room = text_width(arc.label, LABEL_SIZE) + _LABEL_ROOM
                start, end = offsets[arc.head, arc.dependent, left], offsets[arc.head, arc.dependent, right]
                self.needed.setdefault(right, []).append((left, room + start - end))
                self.before.setdefault(right, []).append((left, room - end))
                self.after.setdefault(left, []).append((right, room + start))

    def __len__(self) -> int:
        return len(self.halves) - 1


def _offsets(arcs: Sequence[Arc], halves: Sequence[float]) -> dict[tuple[int, int, int], float]:
    """Return the offsets of arc ends from the centres of words, spread so that nested arcs stay apart."""
    at_word: dict[int, list[tuple[float, Arc]]] = {}
    for arc in arcs:
        length = arc.span[1] - arc.span[0]
        for word, other in ((arc.head, arc.dependent), (arc.dependent, arc.head)):
            if word != ROOT:
                order = 0.0 if other == ROOT else (-1.0 if other < word else 1.0) / length
                at_word.setdefault(word, []).append((order, arc))
    places: dict[tuple[int, int, int], float] = {}
    for word, found in at_word.items():
        # All arc ends must fit the width of the word.
        step = min(_ATTACHMENT_STEP, 2 * halves[word] / len(found))
        for rank, (_, arc) in enumerate(sorted(found, key=lambda entry: entry[0])):
            places[arc.head, arc.dependent, word] = step * (rank - (len(found) - 1) / 2)
    return places


@dataclass(slots=True)
class _Line:
    """A growing line of words; ``right`` is its edge."""

    first: int
    centres: list[float]
    right: float

    @property
    def words(self) -> range:
        return range(self.first, self.first + len(self.centres))


def _grow(spacing: _Spacing, line: _Line, word: int) -> None:
    least = [line.right + _WORD_GAP + spacing.halves[word]]
    needed = ((left - line.first, room) for left, room in spacing.needed.get(word, ()))
    least += [line.centres[place] + room for place, room in needed if place >= 0]
    least += [room for left, room in spacing.before.get(word, ()) if left < line.first]
    centre = max(*least, spacing.roots.get(word, 0.0))
    line.centres.append(centre)
    line.right = centre + spacing.halves[word]


def _closed(spacing: _Spacing, line: _Line) -> _Line:
    edges = [line.right + MARGIN]
    for word, centre in zip(line.words, line.centres, strict=True):
        edges += [centre + room for right, room in spacing.after.get(word, ()) if right >= line.words.stop]
        edges.append(centre + spacing.roots.get(word, 0.0))
    return _Line(line.first, line.centres, max(edges))


def _segments(line: _Line, spacing: _Spacing, side: int, width: float) -> Iterator[Segment]:
    words, offsets = line.words, spacing.offsets[side]
    here = [arc for arc in spacing.sides[side] if _reaches(arc, words)]
    levels = _levels([arc for arc in here if arc.head != ROOT], words)
    top = 1 + max(levels.values(), default=0)

    def place_of(arc: Arc, word: int) -> float:
        if word in words:
            return line.centres[word - line.first] + offsets[arc.head, arc.dependent, word]
        return 0.0 if word < line.first else width

    drawn = []
    for arc in here:
        tip = place_of(arc, arc.dependent)
        tail = tip if arc.head == ROOT else place_of(arc, arc.head)
        level = levels.get((arc.head, arc.dependent), top)
        drawn.append(Segment(arc, tail, tip, arc.head in words, arc.dependent in words, level))
    return iter(sorted(drawn, key=lambda segment: -segment.level))


def _reaches(arc: Arc, words: range) -> bool:
    left, right = arc.span
    return right in words if left == ROOT else left < words.stop and right >= words.start


def _levels(arcs: Sequence[Arc], words: range) -> dict[tuple[int, int], int]:
    """Return a level for each arc (head, dependent): above all spanned arcs, and unequal to crossing ones."""

    def clipped(arc: Arc) -> tuple[int, int]:
        return max(arc.span[0], words.start - 1), min(arc.span[1], words.stop)

    def length(arc: Arc) -> tuple[int, int]:
        # Of two arcs that both fill the line, the longer spans the shorter.
        return clipped(arc)[1] - clipped(arc)[0], arc.span[1] - arc.span[0]

    levels: dict[tuple[int, int], int] = {}
    placed: list[tuple[int, int, int]] = []  # ends and level
    for arc in sorted(arcs, key=length):
        left, right = clipped(arc)
        floor, taken = 0, set[int]()
        for start, end, level in placed:
            if left <= start and end <= right:
                floor = max(floor, level)
            elif start < right and left < end:
                taken.add(level)
        level = floor + 1
        while level in taken:
            level += 1
        levels[arc.head, arc.dependent] = level
        placed.append((left, right, level))
    return levels
