"""The stage of a bootstrap that links words, and the check that there is something to link."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.alignments import write_alignments
from qsproj.corpus.pairs.pairing import pair_files
from qsproj.corpus.sentence import Alignment
from qsproj.errors import DataError, counted
from qsproj.parallel import Workers
from qsproj.pipelines.bootstrap.fitting import fit_of
from qsproj.pipelines.bootstrap.workspace import StageReport
from qsproj.progress import notice

# Links below it are noise more often than not; what remains is weighed by its probability.
LEAST_LINK = 0.15
LIKELY_LINK = 0.5
# Where lengths tell nothing, so many pairs are aligned twice, as they are and with one side shifted by a
# line, to tell translations from sentences that stand side by side by chance. Of news, speeches and verses,
# 1.9 to 7 times as many words have a likely link where the sides belong together; 1.3 times in Chinese that
# is cut poorly, and no more in Korean.
LOOKED_AT = 1000
LEAST_RATIO = 1.15


@dataclass(slots=True)
class LinkCounts:
    """Counts of links. Mutable; final."""

    pairs: int = 0
    target_words: int = 0
    links: float = 0.0
    linked: int = 0

    def counted(self, alignments: Iterable[Alignment]) -> Iterator[Alignment]:
        for alignment in alignments:
            self.pairs += 1
            self.target_words += alignment.n_target
            if alignment.weights is not None:
                self.links += float(alignment.weights.sum())
                likely = alignment.links[alignment.weights >= LIKELY_LINK, 1]
                self.linked += len(np.unique(likely))
            yield alignment

    @property
    def share_linked(self) -> float:
        return self.linked / max(self.target_words, 1)


def check_translations(source: str, target: str, *, name: str) -> None:
    """Check that two files of CoNLL-U, which a message calls ``name``, translate each other.

    Raises DataError when in the first LOOKED_AT pairs neither lengths, numbers and names go together, nor
    more words have a likely link than if one side is shifted. Where only links tell nothing, as in languages
    that are hard to link, that is no error; where lengths tell little, it is said.
    """
    pairs = [(one.forms, other.forms) for one, other in islice(pair_files(source, target), LOOKED_AT)]
    fit = fit_of([(" ".join(one), " ".join(other)) for one, other in pairs])
    if fit.shift == 0:
        return
    sides = [list(side) for side in zip(*pairs, strict=True)]
    share = share_linked(pairs)
    by_chance = share_linked(list(zip(sides[0], sides[1][1:] + sides[1][:1], strict=True)))
    if share <= LEAST_RATIO * by_chance:
        found = (
            f"a likely link for {100 * share:.0f}% of the words of the first {counted(len(pairs), 'pair')}, "
            f"{100 * by_chance:.0f}% with one side shifted by a line"
        )
        if not fit.by_chance:
            notice(f"{name}: found {found}: check that line i of one side translates line i of the other")
            return
        raise DataError(
            name,
            None,
            found=f"lengths that do not go together, and {found}",
            expected=f"{LEAST_RATIO} times as many where the sides translate each other",
            remedy="check that line i of one side translates line i of the other",
        )


def share_linked(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Return the share of the target words that have a likely link when these pairs alone are aligned."""
    counts = LinkCounts()
    for _ in counts.counted(align_words(pairs, threshold=LIKELY_LINK)):
        pass
    return counts.share_linked


def link_words(
    paths: Sequence[Path], *, source: str, target: str, unspaced: str | None, name: str, workers: Workers
) -> StageReport:
    """Align the words of two files of CoNLL-U, and weigh the links; checks as :func:`check_translations`."""
    check_translations(source, target, name=name)
    counts = LinkCounts()
    pairs = ((one.forms, other.forms) for one, other in pair_files(source, target))
    alignments = align_words(pairs, threshold=LEAST_LINK, unspaced=unspaced, workers=workers)
    write_alignments(counts.counted(alignments), paths[0], with_weights=True)
    share = counts.share_linked
    return StageReport(
        line=f"{100 * share:.0f}% of the target words have a likely link, "
        f"{counts.links / max(counts.target_words, 1):.2f} links a word are expected",
        figures={"linked": share, "links a word": counts.links / max(counts.target_words, 1)},
    )
