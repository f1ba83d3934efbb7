"""Split long pairs of a bitext where punctuation allows it on both sides and lengths agree.

Verses often hold two long sentences; links in long pairs are less precise, and parsers learn from sentences
of up to some 35 words only. *Source*: Gale and Church 1993, A Program for Aligning Sentences in Bilingual
Corpora, with pieces of one pair in place of sentences of a paragraph, and without deletions.
"""

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.characters import INVISIBLE
from qsproj.corpus.text import UNSPACED_LANGUAGES
from qsproj.errors import pluralise

# Name, source line, target line; source and target of the parts of a pair.
Named = tuple[str, str, str]
Parts = tuple[tuple[str, str], ...]

# Ends of clauses: Latin, Greek, Armenian, Arabic, Devanagari, Ethiopic; in Chinese without a space.
_SPACED, _UNSPACED = ".!?;:·։؟؛۔।॥።፤", "。！？；："
_CLOSING = f"\"'”’»›)\\]}}{INVISIBLE}"
_END = re.compile(rf"(?<=[{_SPACED}])([{_CLOSING}]*)\s+|(?<=[{_UNSPACED}])([{_CLOSING}」』]*)\s*(?=\S)")
# Abbreviations such as Mr. Dr. St. J. end no clause; short words in lower case may.
_SHORT = re.compile(r"(?:^|[\s(])([^\W\d_])[^\W\d_]?\.$")
# Numbers of pieces matched on either side, with Gale and Church's probabilities, and costs in natural log.
_BEADS = {(1, 1): 0.89, (1, 2): 0.045, (2, 1): 0.045, (2, 2): 0.011, (1, 3): 0.004, (3, 1): 0.004}
_COSTS = {sizes: -math.log(share) for sizes, share in _BEADS.items()}
# Variance of the target letters for each source letter.
_VARIANCE = 6.8
# Minimum length of a piece of its own, and largest factor between agreeing lengths.
LEAST_LETTERS, MOST_RATIO = 8, 2.0


def pieces_of(line: str) -> list[str]:
    """Split a line where a mark ends a clause; only white space is dropped."""
    pieces, start = [], 0
    for end in _END.finditer(line):
        piece = line[start : end.start()] + (end[1] or end[2] or "")
        short = _SHORT.search(piece)
        if (short and short[1].isupper()) or len(piece) < LEAST_LETTERS:
            continue
        pieces.append(piece)
        start = end.end()
    if start and len(line) - start < LEAST_LETTERS:
        pieces[-1] += line[start - 1 :] if line[start - 1].isspace() else line[start:]
    else:
        pieces.append(line[start:])
    return pieces


def cut_pair(source: str, target: str, *, ratio: float) -> Parts:
    """Return the parts of a pair, or the whole pair if the lengths of any two parts do not agree.

    ``ratio``: mean number of target letters for each source letter.
    """
    sides = pieces_of(source), pieces_of(target)
    if min(map(len, sides)) > 1:
        beads = _aligned([[len(piece) for piece in side] for side in sides], ratio)
        cut = tuple((" ".join(sides[0][i:k]), " ".join(sides[1][j:m])) for (i, j), (k, m) in beads)
        if all(1 / MOST_RATIO <= len(other) / (ratio * len(one)) <= MOST_RATIO for one, other in cut):
            return cut
    return ((source, target),)


def _aligned(lengths: Sequence[Sequence[int]], ratio: float) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return start and end (source, target) of each group of matched pieces, in order, at least cost."""
    n, m = map(len, lengths)
    best: dict[tuple[int, int], tuple[float, tuple[int, int]]] = {(0, 0): (0.0, (0, 0))}
    for i in range(n + 1):
        for j in range(m + 1):
            ways = [
                (best[at][0] + cost + _misfit(lengths, (at[0], i), (at[1], j), ratio), at)
                for (a, b), cost in _COSTS.items()
                if (at := (i - a, j - b)) in best
            ]
            if ways:
                best[i, j] = min(ways)
    if (n, m) not in best:
        return [((0, 0), (n, m))]
    found, at = [], (n, m)
    while at != (0, 0):
        found.append((best[at][1], at))
        at = best[at][1]
    return found[::-1]


def _misfit(
    lengths: Sequence[Sequence[int]], source: tuple[int, int], target: tuple[int, int], ratio: float
) -> float:
    """Return the negative natural log of the probability of so large a difference in lengths."""
    one, other = sum(lengths[0][slice(*source)]), sum(lengths[1][slice(*target)])
    # Mean of both sides, for symmetry.
    letters = (one + other / ratio) / 2
    distance = abs(other / ratio - one) / math.sqrt(letters * _VARIANCE)
    return -math.log(max(math.erfc(distance / math.sqrt(2.0)), 1e-300))


# With fewer pairs to split, links do not show where clauses belong.
FEWEST_TO_ALIGN = 50
# Minimum weight of a link that counts; largest share of its links that a pair may lose at its cuts, and all
# verses together, of which ten New Testaments lose 1 to 4%.
LIKELY, MOST_LOST, MOST_LOST_OF_ALL = 0.5, 0.2, 0.08
_WORD, _LETTER = re.compile(r"[^\W_]+"), re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Pairs to split, with their parts, and the reason in words."""

    parts: Mapping[tuple[str, str], Parts] = field(default_factory=dict)
    reason: str = ""

    def pieces(self, named: Iterable[Named]) -> Iterator[Named]:
        for name, source, target in named:
            parts = self.parts.get((source, target), ((source, target),))
            for number, (one, other) in enumerate(parts, start=1):
                yield (name if len(parts) == 1 else f"{name}.{number}"), one, other


def find_cuts(
    named: Sequence[Named], languages: tuple[str, str], *, check_links: bool, whole: Container[str] = ()
) -> Cuts:
    """Return the pairs to split; ``whole``: source lines not to split.

    With ``check_links`` pairs are left whole where splitting loses links. The words of whole pairs are
    aligned for this: translations may have the clauses of a verse in another order or divide it otherwise,
    which lengths alone do not show.
    """
    letters = [sum(len(pair[side]) for pair in named) for side in (1, 2)]
    ratio = letters[1] / max(letters[0], 1)
    both = (pair for _, *pair in named if all(pair) and pair[0] not in whole)
    cut = {(source, target): cut_pair(source, target, ratio=ratio) for source, target in both}
    found = {pair: parts for pair, parts in cut.items() if len(parts) > 1}
    if not check_links or len(found) < FEWEST_TO_ALIGN:
        return Cuts(found, f"{pluralise(len(found), 'long pair')} split at clauses")
    shares, share = _lost_links(found, languages)
    if share > MOST_LOST_OF_ALL:
        return Cuts({}, f"verses left whole: splitting would lose {100 * share:.0f}% of their links")
    kept = {pair: parts for pair, parts in found.items() if shares[pair] <= MOST_LOST}
    split = f"{len(kept):,} of {pluralise(len(found), 'long verse')} split at clauses"
    return Cuts(kept, f"{split}, which loses {100 * share:.0f}% of their links")


def _lost_links(
    found: Mapping[tuple[str, str], Parts], languages: tuple[str, str]
) -> tuple[dict[tuple[str, str], float], float]:
    """Return the share of the likely links between different parts, of each pair and of all together.

    Whole pairs are aligned; links of a word belong to the part of the word.
    """
    patterns = [_LETTER if code in UNSPACED_LANGUAGES else _WORD for code in languages]
    words = [
        [[pattern.findall(part[side]) for part in parts] for parts in found.values()]
        for side, pattern in enumerate(patterns)
    ]
    sides = [[[*chain(*parts)] for parts in side] for side in words]
    alignments = align_words(zip(*sides, strict=True), threshold=LIKELY)
    shares, lost, total = {}, 0.0, 0.0
    for pair, alignment, *of_sides in zip(found, alignments, *words, strict=True):
        source, target = (np.repeat(np.arange(len(parts)), [*map(len, parts)]) for parts in of_sides)
        links, weights = alignment.links - 1, alignment.shares
        between = float(weights[source[links[:, 0]] != target[links[:, 1]]].sum())
        shares[pair] = between / max(float(weights.sum()), 1.0)
        lost, total = lost + between, total + float(weights.sum())
    return shares, lost / max(total, 1.0)
