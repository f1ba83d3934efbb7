"""Direct projection of dependency arcs through word links (thesis 4.5, 4.6.3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Heads
from qsproj.corpus.editing import with_heads
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import counted, unknown_name
from qsproj.evaluation.attachment import percentage
from qsproj.pipelines.projection.method_options import MIN_WEIGHT

UNLABELLED = "_"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionCounts:
    """Counts of projection, summed over sentence pairs; precision and recall are those of table 4.2."""

    pairs: int = 0
    words: int = 0  # of the target
    arcs: int = 0  # that were projected
    whole: int = 0  # target sentences in which every word got a head
    gold: int = 0  # target words whose gold head is known
    judged: int = 0  # projected arcs into words whose gold head is known
    right: int = 0  # projected arcs among them that have it

    def __add__(self, other: ProjectionCounts) -> ProjectionCounts:
        """Return the counts of both."""
        sums = {one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        return ProjectionCounts(**sums)

    @property
    def precision(self) -> float:
        """Percentage of the projected arcs that are gold arcs; NaN when no gold head is known."""
        return percentage(self.right, self.judged)

    @property
    def recall(self) -> float:
        """Percentage of the gold arcs that were projected; NaN when no gold head is known."""
        return percentage(self.right, self.gold)

    def summary(self) -> tuple[str, ...]:
        """Say how much was projected and, where that is known, how much of it is right."""
        share = 100 * self.arcs / max(self.words, 1)
        projected = (
            f"{counted(self.pairs, 'pair')}, {counted(self.words, 'target word')}: "
            f"{counted(self.arcs, 'arc')} projected ({share:.1f}% of the words), "
            f"{counted(self.whole, 'whole tree')}"
        )
        if not self.judged:
            return (projected,)
        judged = f"against the target's own heads: precision {self.precision:.1f}, recall {self.recall:.1f}"
        return projected, judged


def one_to_one(alignment: Alignment) -> NDArray[np.int32]:
    """Return, for each target word, the source word it is linked to one-to-one, int32[n_target + 1].

    -1 for a word with no link, with several, or whose source word has several. The root is linked to the
    root.
    """
    partners = np.full(alignment.n_target + 1, NO_HEAD, dtype=np.int32)
    partners[0] = ROOT
    sources, targets = alignment.links[:, 0], alignment.links[:, 1]
    single = (np.bincount(sources, minlength=alignment.n_source + 1)[sources] == 1) & (
        np.bincount(targets, minlength=alignment.n_target + 1)[targets] == 1
    )
    partners[targets[single]] = sources[single]
    return partners


def heavy_links(pair: SentencePair, min_weight: float) -> SentencePair:
    """Return the pair with the links that weigh at least ``min_weight``; all, where none has a weight.

    A file of links made for methods that weigh many candidates serves here, too.
    """
    alignment = pair.alignment
    if alignment.weights is None or np.all(kept := alignment.weights >= min_weight):
        return pair
    links = Alignment(
        alignment.n_source,
        alignment.n_target,
        alignment.links[kept],
        alignment.sure[kept],
        alignment.weights[kept],
    )
    return SentencePair(pair.source, pair.target, links)


def through_links(pair: SentencePair) -> tuple[Heads, tuple[str, ...]]:
    """Project arcs through one-to-one links alone: high precision, low recall (thesis table 4.2).

    A target word gets a head where it and the head of its source word are both linked one-to-one; -1 and
    ``_`` where nothing was projected.
    """
    partners = one_to_one(pair.alignment)
    return _copied(pair.source.heads, pair.source.deprels, partners, _inverse(partners, len(pair.source)))


def direct_projection(pair: SentencePair) -> tuple[Heads, tuple[str, ...]]:
    """Project by the Direct Projection Algorithm of Hwa et al. 2005, without its empty words.

    One-to-one links copy arcs. Of several target words linked to one source word, the last stands for it and
    the others hang on it, as ``dep``; of several source words linked to one target word, the highest in the
    source tree counts. Where the head of a source word is linked to nothing, its nearest linked ancestor
    stands in for it (never the root: there is but one root): Hwa et al. put an empty word in both places,
    which a treebank of real words cannot have. Target words without links get no head, as there.
    """
    source, alignment = pair.source, pair.alignment
    depth = _depths(source.heads)
    partners = np.full(alignment.n_target + 1, NO_HEAD, dtype=np.int32)
    partners[0] = ROOT
    for source_word, target_word in alignment.links.tolist():
        current = partners[target_word]
        if current == NO_HEAD or depth[source_word] < depth[current]:
            partners[target_word] = source_word
    stands_for = _inverse(partners, len(source))
    bridged = source.heads.copy()
    for word in sorted(range(1, len(source) + 1), key=depth.__getitem__):
        head = bridged[word]
        if head > 0 and stands_for[head] == NO_HEAD:
            bridged[word] = bridged[head] if bridged[head] > 0 else NO_HEAD
    heads, relations = _copied(bridged, source.deprels, partners, stands_for)
    labels = list(relations)
    for word in range(1, alignment.n_target + 1):
        representative = stands_for[partners[word]] if partners[word] > 0 else word
        if representative not in (word, NO_HEAD):
            heads[word] = representative
            labels[word - 1] = "dep"
    return heads, tuple(labels)


COMPLETIONS: dict[str, Callable[[SentencePair], tuple[Heads, tuple[str, ...]]]] = {
    "none": through_links,
    "hwa": direct_projection,
}


def project_tree(
    pair: SentencePair, *, completion: str = "none", min_weight: float = MIN_WEIGHT
) -> tuple[Sentence, ProjectionCounts]:
    """Return the target sentence with projected heads and relations, and how well that went.

    Heads that the target had are used for nothing but the counts. Links that weigh less than ``min_weight``
    are not followed.
    """
    if completion not in COMPLETIONS:
        raise unknown_name("completion", completion, list(COMPLETIONS))
    heads, relations = COMPLETIONS[completion](heavy_links(pair, min_weight))
    projected, gold = heads[1:] != NO_HEAD, pair.target.heads[1:]
    known = gold != NO_HEAD
    counts = ProjectionCounts(
        pairs=1,
        words=len(pair.target),
        arcs=int(projected.sum()),
        whole=int(projected.all()),
        gold=int(known.sum()),
        judged=int((projected & known).sum()),
        right=int((projected & known & (heads[1:] == gold)).sum()),
    )
    return with_heads(pair.target, heads, relations), counts


def _inverse(partners: NDArray[np.int32], n_source: int) -> NDArray[np.int32]:
    """Return for each source word the last target word that is its partner, -1 where there is none."""
    stands_for = np.full(n_source + 1, NO_HEAD, dtype=np.int32)
    linked = np.flatnonzero(partners != NO_HEAD)
    stands_for[partners[linked]] = linked
    return stands_for


def _copied(
    source_heads: Heads,
    source_relations: tuple[str, ...],
    partners: NDArray[np.int32],
    stands_for: NDArray[np.int32],
) -> tuple[Heads, tuple[str, ...]]:
    """Copy the arc of each linked target word whose source head is linked too."""
    heads = np.full(len(partners), NO_HEAD, dtype=np.int32)
    relations = [UNLABELLED] * (len(partners) - 1)
    for word in range(1, len(partners)):
        source_head = source_heads[partners[word]] if partners[word] > 0 else NO_HEAD
        if source_head == NO_HEAD or stands_for[source_head] in (NO_HEAD, word):
            continue
        heads[word] = stands_for[source_head]
        relations[word - 1] = source_relations[partners[word] - 1]
    return heads, tuple(relations)


def _depths(heads: Heads) -> NDArray[np.int32]:
    """Return the number of arcs from each word to the root; above n for words whose way up breaks off."""
    depths = np.zeros(len(heads), dtype=np.int32)
    for word in range(1, len(heads)):
        steps, ancestor = 0, word
        while ancestor > 0:
            ancestor, steps = int(heads[ancestor]), steps + 1
        depths[word] = steps if ancestor == ROOT else len(heads) + steps
    return depths
