"""Alignments by hand, which a bitext often has for its first pairs only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.errors import DataError, UsageError, counted


def with_hand_alignments(
    pairs: Sequence[SentencePair], path: str, format: str = "pharaoh"
) -> list[SentencePair]:
    """Return the pairs of a bitext, of which the first have links by hand: as many as a file says.

    Parameters and errors as those of :func:`read_hand_alignments`.
    """
    sizes = [(len(pair.source), len(pair.target)) for pair in pairs]
    hand = read_hand_alignments(path, format, sizes=sizes)
    by_hand = [replace(pair, hand=links) for pair, links in zip(pairs, hand)]
    return [*by_hand, *pairs[len(hand) :]]


def read_hand_alignments(
    path: str, format: str = "pharaoh", *, sizes: Sequence[tuple[int, int]]
) -> list[Alignment]:
    """Return the alignments of the first pairs of a bitext, as many as a file has.

    ``path``: Read twice, so not the standard input. An empty line says that nothing of its pair is linked.
    ``format``: One that :func:`~qsproj.corpus.formats.read_alignments` reads. ``sizes``: Numbers of source
    and target words of each pair of the bitext.

    Raises UsageError when the file cannot be opened or is the standard input, or the format is unknown;
    DataError as :func:`~qsproj.corpus.formats.read_alignments`, with file and line; when there is no pair, or
    no link at all.
    """
    if path == "-":
        raise UsageError("hand alignments are read twice and cannot be - (standard input); name a file")
    count = sum(1 for _ in read_alignments(path, format))
    if not count:
        raise DataError(
            path, 1, found="no alignment", expected="those of the first pairs", remedy="check the file"
        )
    alignments = list(read_alignments(path, format, sizes[:count]))
    if not any(len(alignment.links) for alignment in alignments):
        raise DataError(
            path,
            None,
            found=f"no link in {counted(count, 'alignment')}",
            expected="links by hand",
            remedy="check the file",
        )
    return alignments
