"""The bitext of a bootstrap: cut into words, without what teaches nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
from qsproj.pipelines.bootstrap.workspace import Told
from qsproj.progress import track

# Longer sides are lists and tables more often than sentences.
MOST_WORDS = 100
# From fewer pairs no links worth the name are learned: most words are seen too seldom.
FEWEST_PAIRS = 50
BLANK_SIDE = "a blank side"
# Cut at a time by one of several processes.
BLOCK_PAIRS = 1000

Cut = Callable[[str], Sentence | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A language that syntax comes from: its treebanks, and a bitext of it and the target language.

    Attributes
    ----------
    treebanks : tuple of str
        CoNLL-U with trees and UPOS.
    bitext : tuple of str
        Two files, one sentence a line, or one of pairs parted by a tab or ``|||``; see
        :func:`qsproj.corpus.bitext.read_bitext`.
    languages : tuple of two str
        Codes of source and target.
    """

    treebanks: tuple[str, ...]
    bitext: tuple[str, ...]
    languages: tuple[str, str]


def write_words(
    paths: Sequence[Path],
    bitext: Sequence[str],
    *,
    cut: tuple[Cut, Cut],
    workers: Workers = THIS_PROCESS,
) -> Told:
    """Write both sides of a bitext as CoNLL-U without annotation, the same pairs in both files.

    Left out, and counted: pairs with a blank side or more than MOST_WORDS words, with two sides alike, and
    those that were there before.

    Parameters
    ----------
    paths : two paths
        Where source and target go.
    bitext : one or two str
        As :func:`qsproj.corpus.bitext.read_bitext` takes them.
    cut : two callables
        Each makes a sentence of a line of its side; None of a blank one.
    workers : Workers
        Who cuts; the result does not depend on it.

    Raises
    ------
    UsageError, DataError
        As :func:`qsproj.corpus.bitext.read_bitext`, and when fewer than FEWEST_PAIRS pairs are left.
    """
    left_out: Counter[str] = Counter()
    seen: set[bytes] = set()
    total = kept = 0
    words = [0, 0]
    pairs = track(read_bitext(*bitext), "cutting", unit="pair")
    done = map_in_order(partial(_cut_pair, cut), pairs, workers=workers, block=BLOCK_PAIRS)
    with ExitStack() as stack:
        writers = [stack.enter_context(conllu_output(path)) for path in paths]
        for total, (lines, sides) in enumerate(done, start=1):
            reason = _why_not(lines, sides, seen)
            if reason:
                left_out[reason] += 1
                continue
            kept += 1
            for side, (sentence, write) in enumerate(zip(sides, writers, strict=True)):
                assert sentence is not None
                words[side] += len(sentence)
                write(replace(sentence, sent_id=str(total)))
        if kept < FEWEST_PAIRS:
            raise too_few_pairs(bitext[0], kept, left_out)
    out = f"; left out: {listed_reasons(left_out)}" if left_out else ""
    return Told(
        line=f"{counted(kept, 'pair')} of {total:,}, {words[0]:,} and {words[1]:,} words{out}",
        figures={"pairs": kept, "source words": words[0], "target words": words[1]},
    )


def _cut_pair(cut: tuple[Cut, Cut], lines: tuple[str, str]) -> tuple[tuple[str, str], list[Sentence | None]]:
    return lines, [cut_side(line) for cut_side, line in zip(cut, lines, strict=True)]


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
        return "two sides alike"
    pair = blake2b("\n".join(lines).encode("utf-8"), digest_size=8).digest()
    if pair in seen:
        return "having been there before"
    seen.add(pair)
    return ""
