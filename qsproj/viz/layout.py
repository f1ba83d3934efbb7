"""Layout of the words and arcs of a sentence: lines of words, arcs split at line ends, levels of arcs.

Coordinates are in pixels from the left, in the order of words; drawing mirrors right-to-left sentences.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from qsproj.conventions import ROOT
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.viz.arcs import Arc
from qsproj.viz.drawing import FORM_SIZE, LABEL_SIZE, TAG_SIZE, text_width

MARGIN, _WORD_GAP, _LABEL_ROOM, _ATTACHMENT_STEP = 12.0, 18.0, 12.0, 7.0


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
    return _placed(sentence, spacing, ends)


def place_pair(
    pair: SentencePair, *, above: Sequence[Arc], below: Sequence[Arc], width: float | None
) -> tuple[Placed, Placed]:
    """Lay out two aligned sentences in pairs of lines, whose words are mostly linked with each other."""
    source, target = _Spacing(pair.source, (above, ())), _Spacing(pair.target, ((), below))
    done, other_done, ends = 0, 0, [(0, 0)]
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
        ends.append((done, other_done))
    upper, lower = zip(*ends, strict=True)
    return _placed(pair.source, source, upper), _placed(pair.target, target, lower)


def _last_fitting(spacing: "_Spacing", done: int, width: float | None) -> int:
    """Return the last word of the line that begins after word ``done``; at the end, the last word."""
    return _line(spacing, done + 1, len(spacing), width).words.stop - 1


def _placed(sentence: Sentence, spacing: "_Spacing", ends: Sequence[int]) -> Placed:
    """Lay out the words in lines up to each of ``ends``, which begin with 0; none where no word is left."""
    lines = [_line(spacing, done + 1, end) for done, end in pairwise(ends) if end > done]
    total = max((_edge(spacing, line) for line in lines), default=2 * MARGIN)
    rows = []
    for line in lines:
        above, below = (_segments(line, spacing, side, total) for side in (0, 1))
        rows.append(Row(line.words, tuple(line.centres), above, below))
    kinds = Counter(unicodedata.bidirectional(letter) for form in sentence.forms for letter in form)
    return Placed(sentence, tuple(rows), total, right_to_left=kinds["R"] + kinds["AL"] > kinds["L"])


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
        self.needed = defaultdict[int, list[tuple[int, float]]](list)
        self.before = defaultdict[int, list[tuple[int, float]]](list)
        self.after = defaultdict[int, list[tuple[int, float]]](list)
        for arcs, offsets in zip(sides, self.offsets, strict=True):
            for arc in arcs:
                left, right = arc.span
                if left == ROOT:
                    # The label is centred on a vertical line.
                    room = text_width(arc.label, LABEL_SIZE) / 2 + 2
                    self.roots[right] = max(self.roots.get(right, 0.0), room)
                    continue
                room = text_width(arc.label, LABEL_SIZE) + _LABEL_ROOM
                start, end = offsets[arc.head, arc.dependent, left], offsets[arc.head, arc.dependent, right]
                self.needed[right].append((left, room + start - end))
                self.before[right].append((left, room - end))
                self.after[left].append((right, room + start))

        for one, other in pairwise(sorted(self.roots)):
            self.needed[other].append((one, self.roots[one] + self.roots[other]))

    def __len__(self) -> int:
        return len(self.halves) - 1


def _offsets(arcs: Sequence[Arc], halves: Sequence[float]) -> dict[tuple[int, int, int], float]:
    """Return the offsets of arc ends from the centres of words, spread so that nested arcs stay apart."""
    at_word = defaultdict[int, list[tuple[float, Arc]]](list)
    for arc in arcs:
        length = arc.span[1] - arc.span[0]
        for word, other in ((arc.head, arc.dependent), (arc.dependent, arc.head)):
            if word != ROOT:
                order = 0.0 if other == ROOT else (-1.0 if other < word else 1.0) / length
                at_word[word].append((order, arc))
    places: dict[tuple[int, int, int], float] = {}
    for word, found in at_word.items():
        # All arc ends must fit the width of the word.
        step = min(_ATTACHMENT_STEP, 2 * halves[word] / len(found))
        for rank, (_, arc) in enumerate(sorted(found, key=lambda entry: entry[0])):
            places[arc.head, arc.dependent, word] = step * (rank - (len(found) - 1) / 2)
    return places


@dataclass(slots=True)
class _Line:
    """A growing line of words; ``right`` is the edge of the last word."""

    first: int
    centres: list[float]
    right: float

    @property
    def words(self) -> range:
        return range(self.first, self.first + len(self.centres))


def _line(spacing: _Spacing, first: int, last: int, width: float | None = None) -> _Line:
    """Return the line of words ``first`` to ``last``, or of those that fit ``width``, at least one."""
    line = _Line(first, [], MARGIN - _WORD_GAP)
    for word in range(first, last + 1):
        least = [line.right + _WORD_GAP + spacing.halves[word], spacing.roots.get(word, 0.0)]
        least += [line.centres[left - first] + room for left, room in spacing.needed[word] if left >= first]
        least += [room for left, room in spacing.before[word] if left < first]
        centre = max(least)
        if width is not None and line.centres and centre + spacing.halves[word] + MARGIN > width:
            break
        line.centres.append(centre)
        line.right = centre + spacing.halves[word]
    return line


def _edge(spacing: _Spacing, line: _Line) -> float:
    edges = [line.right + MARGIN]
    for word, centre in zip(line.words, line.centres, strict=True):
        edges += [centre + room for right, room in spacing.after[word] if right >= line.words.stop]
        edges.append(centre + spacing.roots.get(word, 0.0))
    return max(edges)


def _segments(line: _Line, spacing: _Spacing, side: int, width: float) -> tuple[Segment, ...]:
    words, offsets = line.words, spacing.offsets[side]
    spans = ((arc, *arc.span) for arc in spacing.sides[side])
    # An arc of the root is over its dependent alone.
    here = [arc for arc, left, right in spans if right >= words.start and (left or right) < words.stop]
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
    return tuple(sorted(drawn, key=lambda segment: -segment.level))


def _levels(arcs: Sequence[Arc], words: range) -> dict[tuple[int, int], int]:
    """Return a level for each arc (head, dependent): above all spanned arcs, and unequal to crossing ones."""
    spans = [(max(arc.span[0], words.start - 1), min(arc.span[1], words.stop), arc) for arc in arcs]
    # Of two arcs that both fill the line, the longer spans the shorter.
    spans.sort(key=lambda one: (one[1] - one[0], one[2].span[1] - one[2].span[0]))
    levels: dict[tuple[int, int], int] = {}
    placed: list[tuple[int, int, int]] = []  # ends and level
    for left, right, arc in spans:
        floor, taken = 0, set[int]()
        for start, end, level in placed:
            if left <= start and end <= right:
                floor = max(floor, level)
            elif start < right and left < end:
                taken.add(level)
        level = next(level for level in count(floor + 1) if level not in taken)
        levels[arc.head, arc.dependent] = level
        placed.append((left, right, level))
    return levels
