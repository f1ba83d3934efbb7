"""The bitext of a bootstrap: tokenized, without useless pairs; long pairs are split at clauses."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import numpy as np

from qsproj.conventions import ROOT, is_whole
from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.conllu import conllu_output
from qsproj.corpus.contractions import merge_contractions
from qsproj.corpus.language.recognition import check_known_language
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, UsageError, check_name, listed_reasons, pluralise
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bootstrap.clauses import Cuts, Named, find_cuts
from qsproj.pipelines.bootstrap.verses import paired_verses
from qsproj.pipelines.bootstrap.workspace import StageReport
from qsproj.progress import track

# Gold trees over the text of the source are matched by letters. The match must begin within REACH letters of
# the previous tree, or be unique and have at least LEAST_ALONE letters.
REACH = 2000
LEAST_ALONE = 20


def letters_of(text: str) -> str:
    """Return the lower-cased letters and digits of a text, which its editions share."""
    return "".join(filter(str.isalnum, text.lower()))


def find_trees(named: Sequence[Named], trees: Iterable[Sentence]) -> tuple[list[Named], dict[str, Sentence]]:
    """Match trees to the source lines of a bitext; lines not fully covered get none.

    Returns the pairs, joined where a tree spans several, and trees by source line; the tree of a line with
    several sentences has several roots.
    """
    letters = [letters_of(source) for _, source, _ in named]
    ends = list(accumulate(map(len, letters)))
    found = dict(_places("".join(letters), trees))
    line_at = {end: number for number, end in enumerate(ends)}
    pairs, given, number = list[Named](), dict[str, Sentence](), 0
    while number < len(named):
        chain, end = list[Sentence](), ends[number] - len(letters[number])
        while end in found and not (chain and end in line_at):
            end, tree = found[end]
            chain.append(tree)
        is_covered = bool(chain) and end in line_at
        lines = named[number : line_at[end] + 1 if is_covered else number + 1]
        source, target = (" ".join(filter(None, (line[side] for line in lines))) for side in (1, 2))
        if is_covered:
            given[source] = joined(chain)
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
        if place < 0 and len(own) >= LEAST_ALONE and text.find(own) == text.rfind(own):
            place = text.find(own)
        if place >= 0:
            before = place + len(own)
            yield place, (before, tree)


def joined(trees: Sequence[Sentence]) -> Sentence:
    starts = accumulate(map(len, trees), initial=0)
    heads = [
        np.where(one.heads[1:] == ROOT, ROOT, one.heads[1:] + start) for one, start in zip(trees, starts)
    ]
    forms, upos, deprels = (
        [cell for tree in trees for cell in getattr(tree, column)] for column in ("forms", "upos", "deprels")
    )
    return Sentence.from_words(forms, upos=upos, heads=np.concatenate(heads), deprels=deprels)


# Longer sides are mostly lists and tables.
MOST_WORDS = 100
# With fewer pairs most words are too rare to learn links.
FEWEST_PAIRS = 50
BLANK_SIDE, ALIKE = "a blank side", "two sides alike"
# Block size of one of several processes.
BLOCK_PAIRS = 1000

Cut = Callable[[str], Sentence | None]

LINE, VERSE = "line", "verse"
PAIRED_BY = (LINE, VERSE)


def check_codes(languages: Iterable[Sequence[str]]) -> None:
    """Check the codes of source and target of each bitext; all have the same target."""
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
            raise UsageError(f"found {len(self.bitext)} files as bitext, expected two, or one of pairs")
        if len(self.bitext) == 1 and self.paired_by == VERSE:
            raise UsageError("found 1 file as bitext, expected two of verses, to be paired by verse")

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((source, target) for _, source, target in self.named(Counter()))

    def named(self, left_out: Counter[str]) -> Iterator[Named]:
        """Yield pairs with their names; adds unpaired verses to ``left_out``, by reason."""
        if self.paired_by == VERSE:
            return paired_verses(self.bitext[0], self.bitext[1], left_out)
        pairs = read_bitext(*self.bitext, languages=self.languages)
        return ((str(number), *sides) for number, sides in enumerate(pairs, start=1))


def write_words(
    paths: Sequence[Path],
    text: SourceText,
    *,
    cut: tuple[Cut, Cut],
    trees: Iterable[Sentence] = (),
    workers: Workers = THIS_PROCESS,
) -> StageReport:
    """Write both sides of a bitext as CoNLL-U without annotation, the same pairs in both files.

    Left out, and counted: pairs with a blank side, equal sides, or more than MOST_WORDS words; repeated
    pairs; verses without a partner. ``cut``: tokenizers of both sides, from a line to a sentence, None for a
    blank line. ``trees``: gold trees over some of the source lines, in text order.

    Raises DataError when fewer than FEWEST_PAIRS pairs are left.
    """
    left_out, seen, kept, words = Counter[str](), set[bytes](), 0, [0, 0]
    named, given, cuts = text.named(left_out), dict[str, Sentence](), Cuts()
    if of_source := list(trees):
        joint, given = find_trees(list(named), of_source)
        named, cut = iter(joint), (partial(_given_or_cut, given, cut[0]), cut[1])
    if text.cut or (text.cut is None and text.paired_by == VERSE):
        named = iter(every := list(named))
        cuts = find_cuts(every, text.languages, check_links=not text.cut, whole=given)
    pairs = track(cuts.pieces(named), "cutting", unit="pair")
    done = map_in_order(partial(_cut_pair, cut), pairs, workers=workers, block=BLOCK_PAIRS)
    with ExitStack() as stack:
        writers = [stack.enter_context(conllu_output(path)) for path in paths]
        for name, lines, sides in done:
            if reason := _why_not(lines, sides, seen):
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


def _given_or_cut(given: Mapping[str, Sentence], cut: Cut, line: str) -> Sentence | None:
    return given.get(line) or cut(line)


def _cut_pair(cut: tuple[Cut, Cut], named: Named) -> tuple[str, list[str], list[Sentence | None]]:
    name, *lines = named
    return name, lines, [cut_side(line) for cut_side, line in zip(cut, lines, strict=True)]


def too_few_pairs(path: str, count: int, left_out: Mapping[str, int]) -> DataError:
    found = f"{pluralise(count, 'pair')} to learn from (left out: {listed_reasons(left_out)})"
    expected = f"{FEWEST_PAIRS} or more, ideally thousands"
    enough = count + sum(left_out.values()) >= FEWEST_PAIRS
    remedy = "check that the two sides fit together" if enough else "find more translated text"
    return DataError(path, None, found, expected, remedy)


def _why_not(lines: Sequence[str], sides: Sequence[Sentence | None], seen: set[bytes]) -> str:
    """Return the reason to leave out a pair, or ""; adds pairs that are kept to ``seen``."""
    sizes = [0 if side is None else len(side) for side in sides]
    if not all(sizes):
        return BLANK_SIDE
    if max(sizes) > MOST_WORDS:
        return f"more than {MOST_WORDS} words"
    if lines[0] == lines[1]:
        return ALIKE
    pair = blake2b("\n".join(lines).encode("utf-8"), digest_size=8).digest()
    if pair in seen:
        return "having been there before"
    seen.add(pair)
    return ""
