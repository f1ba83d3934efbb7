"""Tokenize the bitext of a bootstrap, split long pairs at clauses, and leave out useless pairs.

Links in long pairs, such as verses of two sentences, are less precise, and parsers learn from sentences of up
to 60 words. So pairs are split where punctuation allows it on both sides and lengths agree. *Source*: Gale
and Church 1993, A Program for Aligning Sentences in Bilingual Corpora, within one pair, without deletions.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import accumulate, chain
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.conventions import ROOT, is_whole
from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.characters import INVISIBLE
from qsproj.corpus.conllu import conllu_output
from qsproj.corpus.contractions import merge_contractions
from qsproj.corpus.language.recognition import check_known_language
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.unspaced import UNSPACED_LANGUAGES
from qsproj.errors import DataError, UsageError, check_name, listed_reasons, pluralise
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bootstrap.verses import is_scripture, paired_verses
from qsproj.pipelines.bootstrap.workspace import StageReport
from qsproj.progress import track

NamedPair = tuple[str, str, str]  # name, source line, target line
Parts = tuple[tuple[str, str], ...]  # source and target of the parts of a pair

# Ends of clauses: Latin, Greek, Armenian, Arabic, Devanagari, Ethiopic; in Chinese without a space.
_SPACED, _UNSPACED = ".!?;:·։؟؛۔।॥።፤", "。！？；："
_CLOSING = f"\"'”’»›)\\]}}{INVISIBLE}"
_END = re.compile(rf"(?<=[{_SPACED}])([{_CLOSING}]*)\s+|(?<=[{_UNSPACED}])([{_CLOSING}」』]*)\s*(?=\S)")
# Abbreviations such as Mr. Dr. St. J. end no clause; short words in lower case may.
_SHORT = re.compile(r"(?:^|[\s(])([^\W\d_])[^\W\d_]?\.$")
# Numbers of pieces matched on either side, with Gale and Church's probabilities, and costs in natural log.
_BEADS = {(1, 1): 0.89, (1, 2): 0.045, (2, 1): 0.045, (2, 2): 0.011, (1, 3): 0.004, (3, 1): 0.004}
_COSTS = {sizes: -math.log(share) for sizes, share in _BEADS.items()}
_VARIANCE = 6.8  # variance of the target letters for each source letter
# Minimum length of a piece of its own, and largest factor between agreeing lengths.
LEAST_LETTERS, MOST_RATIO = 8, 2.0


def pieces_of(line: str) -> list[str]:
    """Split a line after punctuation that ends a clause; only white space is dropped."""
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
    letters = (one + other / ratio) / 2  # mean of both sides, for symmetry
    distance = abs(other / ratio - one) / math.sqrt(letters * _VARIANCE)
    return -math.log(max(math.erfc(distance / math.sqrt(2.0)), 1e-300))


FEWEST_TO_ALIGN = 50  # with fewer pairs to split, links do not show where clauses belong
# Minimum weight of a link that counts; largest share of its links that a pair may lose at its cuts, and all
# verses together, of which ten New Testaments lose 1 to 4%.
LIKELY, MOST_LOST, MOST_LOST_OF_ALL = 0.5, 0.2, 0.08
_WORD, _LETTER = re.compile(r"[^\W_]+"), re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Pairs to split, with their parts, and the reason in words."""

    parts: Mapping[tuple[str, str], Parts] = field(default_factory=dict)
    reason: str = ""

    def pieces(self, named: Iterable[NamedPair]) -> Iterator[NamedPair]:
        for name, source, target in named:
            parts = self.parts.get((source, target), ((source, target),))
            for number, (one, other) in enumerate(parts, start=1):
                yield (name if len(parts) == 1 else f"{name}.{number}"), one, other


def find_cuts(
    named: Sequence[NamedPair], languages: tuple[str, str], *, check_links: bool, whole: Container[str] = ()
) -> Cuts:
    """Return the pairs to split; ``whole``: source lines not to split.

    With ``check_links``, whole pairs are aligned first, and a pair stays whole if splitting would lose its
    links: lengths do not show that a translation has the clauses of a verse in another order.
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
    """Align whole pairs; return the share of links that cross their parts, by pair and over all pairs."""
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


# Gold trees over the text of the source are matched by letters. The match must begin within REACH letters of
# the previous tree, or be unique and have at least LEAST_ALONE letters.
REACH = 2000
LEAST_ALONE = 20


def letters_of(text: str) -> str:
    """Return the lower-cased letters and digits of a text: all that its editions have in common."""
    return "".join(filter(str.isalnum, text.lower()))


def find_trees(
    named: Sequence[NamedPair], trees: Iterable[Sentence]
) -> tuple[list[NamedPair], dict[str, Sentence]]:
    """Match trees to the source lines of a bitext; a line gets a tree if trees cover all of it.

    Returns the pairs, joined where a tree spans several, and by source line its tree, or its joined trees.
    """
    letters = [letters_of(source) for _, source, _ in named]
    ends = list(accumulate(map(len, letters)))
    found = dict(_places("".join(letters), trees))
    line_at = {end: number for number, end in enumerate(ends)}
    pairs, given, number = list[NamedPair](), dict[str, Sentence](), 0
    while number < len(named):
        of_line, end = list[Sentence](), ends[number] - len(letters[number])
        while end in found and not (of_line and end in line_at):
            end, tree = found[end]
            of_line.append(tree)
        is_covered = bool(of_line) and end in line_at
        lines = named[number : line_at[end] + 1 if is_covered else number + 1]
        source, target = (" ".join(filter(None, (line[side] for line in lines))) for side in (1, 2))
        if is_covered:
            given[source] = joined(of_line)
        pairs.append((lines[0][0], source, target))
        number += len(lines)
    return pairs, given


def _places(text: str, trees: Iterable[Sentence]) -> Iterator[tuple[int, tuple[int, Sentence]]]:
    """Yield the start and end of each complete tree in the letters of a text, with the tree."""
    before = 0
    for tree in trees:
        own = letters_of("".join(merge_contractions(tree)[0]))
        if not own or not is_whole(tree.heads):
            continue
        place = text.find(own, before, before + REACH + len(own))
        if place < 0 and len(own) >= LEAST_ALONE:
            place = text.find(own)
            if place >= 0 and text.find(own, place + 1) >= 0:
                place = -1
        if place >= 0:
            before = place + len(own)
            yield place, (before, tree)


def joined(trees: Sequence[Sentence]) -> Sentence:
    """Concatenate trees to one sentence, which has the roots of all."""
    starts = accumulate(map(len, trees), initial=0)
    heads = [np.where(one.heads > ROOT, one.heads + start, ROOT)[1:] for one, start in zip(trees, starts)]
    forms, upos, deprels = (
        [cell for tree in trees for cell in getattr(tree, column)] for column in ("forms", "upos", "deprels")
    )
    return Sentence.from_words(forms, upos=upos, heads=np.concatenate(heads), deprels=deprels)


MOST_WORDS = 100  # longer sides are mostly lists and tables
FEWEST_PAIRS = 50  # with fewer pairs most words are too rare to learn links
BLANK_SIDE, ALIKE = "a blank side", "two sides alike"
BLOCK_PAIRS = 1000  # block size of one of several processes

Tokenize = Callable[[str], Sentence | None]  # None for a blank line

LINE, VERSE = "line", "verse"
PAIRED_BY = (LINE, VERSE)


def check_codes(languages: Iterable[Sequence[str]]) -> None:
    """Check the codes of source and target of each bitext; raises UsageError unless all share one target."""
    targets = set()
    for source, target in languages:
        check_known_language(source)
        check_known_language(target)
        if source == target:
            raise UsageError(f"found {source} as source and target language, expected two languages")
        targets.add(target)
    if len(targets) > 1:
        found = " and ".join(sorted(targets))
        raise UsageError(f"found target languages {found}, expected the same with all")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A source language: its treebanks, and a bitext of it and the target language."""

    treebanks: tuple[str, ...]  # CoNLL-U with trees and UPOS
    # two files, one sentence a line, or one of pairs or TMX; paired by verse: two of ``reference TAB text``
    bitext: tuple[str, ...]
    languages: tuple[str, str]  # codes of source and target
    paired_by: str = LINE  # one of PAIRED_BY
    # split long pairs where punctuation and lengths agree; None: verses only, if few links are lost
    cut: bool | None = None

    def __post_init__(self) -> None:
        check_name("pairing", self.paired_by, PAIRED_BY)
        if len(self.bitext) > 2:
            remedy = (
                "; pack the files of each Bible into a .zip" if any(map(is_scripture, self.bitext)) else ""
            )
            raise UsageError(
                f"found {len(self.bitext)} files as bitext, expected two, or one of pairs{remedy}"
            )
        if len(self.bitext) == 1 and self.paired_by == VERSE:
            raise UsageError("found 1 file as bitext, expected two of verses, to be paired by verse")
        folder = next((path for path in self.bitext if Path(path).is_dir()), None)
        if folder is not None:
            raise UsageError(f"{folder} is a folder, expected a file; pack the files of a Bible into a .zip")

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((source, target) for _, source, target in self.named(Counter()))

    def named(self, left_out: Counter[str]) -> Iterator[NamedPair]:
        """Yield the pairs with their names; adds unpaired verses to ``left_out``, by reason."""
        if self.paired_by == VERSE:
            return paired_verses(self.bitext[0], self.bitext[1], left_out)
        pairs = read_bitext(*self.bitext, languages=self.languages)
        return ((str(number), *sides) for number, sides in enumerate(pairs, start=1))


def write_bitext(
    paths: Sequence[Path],
    text: SourceText,
    *,
    tokenizers: tuple[Tokenize, Tokenize],
    trees: Iterable[Sentence] = (),
    workers: Workers = THIS_PROCESS,
) -> StageReport:
    """Tokenize a bitext and write its sides as two files of CoNLL-U, line by line the same pairs.

    Left out, and counted: pairs with a blank side, equal sides, or more than MOST_WORDS words; repeated
    pairs; verses without a partner. ``tokenizers``: of source and target. ``trees``: gold trees over some
    source lines, in text order. Raises DataError when fewer than FEWEST_PAIRS pairs are left.
    """
    left_out, seen, kept, words = Counter[str](), set[bytes](), 0, [0, 0]
    named: Iterable[NamedPair] = text.named(left_out)
    given, cuts = dict[str, Sentence](), Cuts()
    if of_source := list(trees):
        named, given = find_trees(list(named), of_source)
    if text.cut or (text.cut is None and text.paired_by == VERSE):
        named = list(named)
        cuts = find_cuts(named, text.languages, check_links=not text.cut, whole=given)
    pairs = track(cuts.pieces(named), "tokenising", unit="pair")
    done = map_in_order(partial(_tokenize_pair, tokenizers, given), pairs, workers=workers, block=BLOCK_PAIRS)
    with ExitStack() as stack:
        writers = [stack.enter_context(conllu_output(path)) for path in paths]
        for name, lines, sides in done:
            if reason := _reason_to_leave_out(lines, sides, seen):
                left_out[reason] += 1
                continue
            kept += 1
            for side, (sentence, write) in enumerate(zip(sides, writers, strict=True)):
                assert sentence is not None
                words[side] += len(sentence)
                write(replace(sentence, sent_id=name))
        if kept < FEWEST_PAIRS:
            raise too_few_pairs(text.bitext[0], kept, left_out)
    out = f"; left out: {listed_reasons(left_out)}" if left_out else ""
    split = f", {cuts.reason}" if cuts.reason else ""
    gold = f"; {pluralise(len(given), 'source line')} with given trees" if given else ""
    figures = {"pairs": kept, "source words": words[0], "target words": words[1], "given trees": len(given)}
    of_all = f"{pluralise(kept, 'pair')} of {kept + left_out.total():,}"
    line = f"{of_all}, {words[0]:,} and {words[1]:,} words{split}{gold}{out}"
    return StageReport(line=line, figures=figures)


def _tokenize_pair(
    tokenizers: tuple[Tokenize, Tokenize], given: Mapping[str, Sentence], named: NamedPair
) -> tuple[str, list[str], list[Sentence | None]]:
    name, *lines = named
    try:
        return name, lines, [given.get(lines[0]) or tokenizers[0](lines[0]), tokenizers[1](lines[1])]
    except DataError as error:
        # Each line is read alone; its name is its number, or a verse.
        raise (error.at(int(name)) if name.isdigit() else error.at(None, f"{error.path}, {name}")) from error


def too_few_pairs(path: str, count: int, left_out: Mapping[str, int]) -> DataError:
    out = f" (left out: {listed_reasons(left_out)})" if left_out else ""
    found = f"{pluralise(count, 'pair')} to learn from{out}"
    expected = f"{FEWEST_PAIRS} or more, ideally thousands"
    enough = count + sum(left_out.values()) >= FEWEST_PAIRS
    remedy = "check that the two sides fit together" if enough else "find more translated text"
    return DataError(path, None, found, expected, remedy)


def _reason_to_leave_out(lines: Sequence[str], sides: Sequence[Sentence | None], seen: set[bytes]) -> str:
    """Return the reason to leave out a pair, "" to keep it; adds kept pairs to ``seen``."""
    sizes = [0 if side is None else len(side) for side in sides]
    if not all(sizes):
        return BLANK_SIDE
    if max(sizes) > MOST_WORDS:
        return f"more than {MOST_WORDS} words"
    if lines[0] == lines[1]:
        return ALIKE
    pair = blake2b("\n".join(lines).encode("utf-8"), digest_size=8).digest()
    if pair in seen:
        return "repeating an earlier pair"
    seen.add(pair)
    return ""
