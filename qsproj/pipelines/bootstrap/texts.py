"""The bitext of a bootstrap: cut into words, without what teaches nothing."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

from qsproj.corpus.bitext import read_bitext
from qsproj.corpus.conllu import conllu_output
from qsproj.corpus.sentence import Sentence
from qsproj.errors import DataError, counted, listed_reasons
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bootstrap.clauses import cut_pair
from qsproj.pipelines.bootstrap.given_trees import GivenTrees, Named, find_trees
from qsproj.pipelines.bootstrap.verses import paired_verses
from qsproj.pipelines.bootstrap.workspace import StageReport
from qsproj.progress import track

# Longer sides are lists and tables more often than sentences.
MOST_WORDS = 100
# From fewer pairs no links worth the name are learned: most words are seen too seldom.
FEWEST_PAIRS = 50
BLANK_SIDE, ALIKE = "a blank side", "two sides alike"
# Cut at a time by one of several processes.
BLOCK_PAIRS = 1000

Cut = Callable[[str], Sentence | None]

LINE, VERSE = "line", "verse"
PAIRED_BY = (LINE, VERSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A language that syntax comes from: its treebanks, and a bitext of it and the target language."""

    treebanks: tuple[str, ...]  # CoNLL-U with trees and UPOS
    # two files, one sentence a line, or one of pairs; paired by verse: two files of ``reference TAB text``
    bitext: tuple[str, ...]
    languages: tuple[str, str]  # codes of source and target
    paired_by: str = LINE  # one of PAIRED_BY
    cut: bool = False  # whether long pairs are cut where punctuation and lengths agree, as verses always are

    def pairs(self) -> Iterator[tuple[str, str]]:
        return ((source, target) for _, source, target in self.named(Counter()))

    def pieces(self, named: Iterable[Named], whole: Container[str] = ()) -> Iterator[Named]:
        """Yield name, source and target of what is learned from: pairs, or what they are cut into.

        ``whole``: source lines that are not cut.
        """
        if not (self.cut or self.paired_by == VERSE):
            yield from named
            return
        letters = [sum(lengths) for lengths in zip(*(map(len, pair) for pair in self.pairs()), strict=True)]
        ratio = letters[1] / max(letters[0], 1)
        for name, source, target in named:
            cut = [(source, target)]
            if source and target and source not in whole:
                cut = list(cut_pair(source, target, ratio=ratio))
            for number, (one, other) in enumerate(cut, start=1):
                yield (name if len(cut) == 1 else f"{name}.{number}"), one, other

    def named(self, left_out: Counter[str]) -> Iterator[Named]:
        """Yield pairs with their names; tell ``left_out`` how many verses are not paired, by the reason."""
        if self.paired_by == VERSE:
            return paired_verses(self.bitext[0], self.bitext[1], left_out)
        return ((str(number), *sides) for number, sides in enumerate(read_bitext(*self.bitext), start=1))


def write_words(
    paths: Sequence[Path],
    text: SourceText,
    *,
    cut: tuple[Cut, Cut],
    trees: Iterable[Sentence] = (),
    workers: Workers = THIS_PROCESS,
) -> StageReport:
    """Write both sides of a bitext as CoNLL-U without annotation, the same pairs in both files.

    Left out, and counted: pairs with a blank side or more than MOST_WORDS words, with two sides alike, and
    those that were there before; verses without a partner. ``cut``: each makes a sentence of a line of its
    side; None of a blank one. ``trees``: gold trees over some of the source lines, in their order
    (:mod:`qsproj.pipelines.bootstrap.given_trees`). Raises DataError when fewer than FEWEST_PAIRS pairs are
    left.
    """
    left_out: Counter[str] = Counter()
    seen: set[bytes] = set()
    read = kept = 0
    words = [0, 0]
    named, given = text.named(left_out), GivenTrees()
    if of_source := list(trees):
        given = find_trees(list(named), of_source)
        named = iter(given.pairs)
        cut = partial(_given_or_cut, given.trees, cut[0]), cut[1]
    pairs = track(text.pieces(named, given.trees), "cutting", unit="pair")
    done = map_in_order(partial(_cut_pair, cut), pairs, workers=workers, block=BLOCK_PAIRS)
    with ExitStack() as stack:
        writers = [stack.enter_context(conllu_output(path)) for path in paths]
        for name, lines, sides in done:
            read += 1
            reason = _why_not(lines, sides, seen)
            if reason:
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
    gold = f"; {counted(len(given.trees), 'source line')} with given trees" if given.trees else ""
    return StageReport(
        line=f"{counted(kept, 'pair')} of {read:,}, {words[0]:,} and {words[1]:,} words{gold}{out}",
        figures={
            "pairs": kept,
            "source words": words[0],
            "target words": words[1],
            "given trees": len(given.trees),
        },
    )


def _given_or_cut(given: Mapping[str, Sentence], cut: Cut, line: str) -> Sentence | None:
    return given.get(line) or cut(line)


def _cut_pair(
    cut: tuple[Cut, Cut], named: tuple[str, str, str]
) -> tuple[str, tuple[str, str], list[Sentence | None]]:
    name, *lines = named
    sides = [cut_side(line) for cut_side, line in zip(cut, lines, strict=True)]
    return name, (named[1], named[2]), sides


def too_few_pairs(path: str, count: int, left_out: Mapping[str, int]) -> DataError:
    """Build the error of a bitext with fewer than FEWEST_PAIRS pairs that can be learned from."""
    return DataError(
        path,
        None,
        found=f"{counted(count, 'pair')} to learn from (left out: {listed_reasons(left_out)})",
        expected=f"{FEWEST_PAIRS} or more, thousands at best",
        remedy="find more translated text",
    )


def _why_not(lines: Sequence[str], sides: Sequence[Sentence | None], seen: set[bytes]) -> str:
    """Say why a pair is left out, or nothing; one that is not is among those ``seen`` from now on."""
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
