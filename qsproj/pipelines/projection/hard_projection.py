"""Direct projection of dependency arcs through word links (thesis 4.5, 4.6.3.3)."""

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, Heads, Numbers, Rng
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_predicted_heads
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.errors import NothingToLearnError, pluralise
from qsproj.evaluation.attachment import percentage
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions, TrainingReport
from qsproj.pipelines.projection import methods
from qsproj.pipelines.projection.methods import USUAL_ARCS, HardProjectionOptions, ProjectedArcs
from qsproj.progress import track

ENOUGH_SENTENCES = 100  # a parser of fewer training sentences comes with a warning
MORE_LINKS = "give more links: qsproj align --symmetrize grow-diag"
BANDS = (5, 10, 15, 20, 25, 30, 40, 60)  # maximum number of words of each band of lengths except the last


@dataclass(frozen=True, slots=True)
class ProjectionCounts:
    """Counts of projection, summed over sentence pairs; precision and recall are those of table 4.2."""

    pairs: int = 0
    words: int = 0  # target words
    whole: int = 0  # target sentences with a projected head on every word
    arcs: int = 0  # projected arcs
    gold: int = 0  # target words with a gold head
    judged: int = 0  # projected arcs into words with a gold head
    right: int = 0  # projected arcs that are gold arcs

    def __add__(self, other: "ProjectionCounts") -> "ProjectionCounts":
        return ProjectionCounts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def precision(self) -> float:
        """Return the percentage of projected arcs that are gold arcs; NaN without gold heads."""
        return percentage(self.right, self.judged)

    @property
    def recall(self) -> float:
        """Return the percentage of gold arcs that were projected; NaN without gold heads."""
        return percentage(self.right, self.gold)

    def summary(self) -> tuple[str, ...]:
        share = 100 * self.arcs / max(self.words, 1)
        read = f"{pluralise(self.pairs, 'pair')}, {pluralise(self.words, 'target word')}"
        arcs = f"{pluralise(self.arcs, 'arc')} projected ({share:.1f}% of the words)"
        judged = f"against the target's own heads: precision {self.precision:.1f}, recall {self.recall:.1f}"
        return f"{read}: {arcs}, {pluralise(self.whole, 'whole tree')}", *((judged,) if self.judged else ())


def one_to_one(alignment: Alignment) -> Numbers:
    """Return the one-to-one linked source word of each target word, int32[n_target + 1], -1 for none."""
    partners = np.full(alignment.n_target + 1, NO_HEAD, dtype=np.int32)
    partners[0] = ROOT
    sources, targets = alignment.links.T
    single = (np.bincount(sources)[sources] == 1) & (np.bincount(targets)[targets] == 1)
    partners[targets[single]] = sources[single]
    return partners


def _with_heavy_links(pair: SentencePair, min_weight: float) -> SentencePair:
    """Return the pair with the links of at least ``min_weight``; with all links if they have no weights."""
    alignment = pair.alignment
    if alignment.weights is None or np.all(kept := alignment.weights >= min_weight):
        return pair
    links, sure, weights = alignment.links[kept], alignment.sure[kept], alignment.weights[kept]
    return replace(pair, alignment=replace(alignment, links=links, sure=sure, weights=weights))


def through_links(pair: SentencePair) -> tuple[Heads, tuple[str, ...]]:
    """Project only arcs whose ends are both linked one-to-one: high precision, low recall (table 4.2)."""
    partners, source = one_to_one(pair.alignment), pair.source
    return _copied(source.heads, source.deprels, partners, _inverse(partners, len(source)))


def direct_projection(pair: SentencePair) -> tuple[Heads, tuple[str, ...]]:
    """Project by the Direct Projection Algorithm of Hwa et al. 2005, without its empty words.

    One-to-one links copy arcs. Of several target words linked to one source word, the last represents it and
    the others attach to it as ``dep``; of several source words linked to one target word, the highest in the
    source tree counts. An unlinked head is replaced by its nearest linked ancestor (never the root, which has
    a single dependent). In both cases Hwa et al. insert an empty word. Words without links get no head.
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


def project_tree(pair: SentencePair, choice: ProjectedArcs = USUAL_ARCS) -> tuple[Sentence, ProjectionCounts]:
    """Return the target with projected heads and relations, and counts against its gold heads, if any."""
    heads, relations = COMPLETIONS[choice.completion](_with_heavy_links(pair, choice.min_weight))
    projected, gold = heads[1:] != NO_HEAD, pair.target.heads[1:]
    known, whole = gold != NO_HEAD, int(projected.all())
    judged = projected & known
    sums = (int(one.sum()) for one in (projected, known, judged, judged & (heads[1:] == gold)))
    counts = ProjectionCounts(1, len(pair.target), whole, *sums)
    return with_predicted_heads(pair.target, heads, relations), counts


def _inverse(partners: Numbers, n_source: int) -> Numbers:
    """Return the last partner among target words of each source word, -1 for none."""
    stands_for = np.full(n_source + 1, NO_HEAD, dtype=np.int32)
    linked = np.flatnonzero(partners != NO_HEAD)
    stands_for[partners[linked]] = linked
    return stands_for


def _copied(
    source_heads: Heads, source_relations: tuple[str, ...], partners: Heads, stands_for: Heads
) -> tuple[Heads, tuple[str, ...]]:
    heads = np.full(len(partners), NO_HEAD, dtype=np.int32)
    relations = [UNSPECIFIED] * (len(partners) - 1)
    # Only arcs with two linked ends.
    for word in range(1, len(partners)):
        source_head = source_heads[partners[word]] if partners[word] > 0 else NO_HEAD
        if source_head != NO_HEAD and stands_for[source_head] not in (NO_HEAD, word):
            heads[word] = stands_for[source_head]
            relations[word - 1] = source_relations[partners[word] - 1]
    return heads, tuple(relations)


def _depths(heads: Heads) -> Numbers:
    """Return the number of arcs from the root to each word; more than n for words not connected to it."""
    depths = np.zeros(len(heads), dtype=np.int32)
    for word in range(1, len(heads)):
        steps, ancestor = 0, word
        while ancestor > 0:
            ancestor, steps = int(heads[ancestor]), steps + 1
        depths[word] = steps if ancestor == ROOT else len(heads) + steps
    return depths


@dataclass(slots=True)
class ProjectedTrees:
    """Iterate once over the target sentences of pairs with projected trees; ``counts`` sums the counts."""

    pairs: Iterable[SentencePair]
    choice: ProjectedArcs = USUAL_ARCS
    counts: ProjectionCounts = field(default_factory=ProjectionCounts)

    def __iter__(self) -> Iterator[Sentence]:
        for pair in methods.with_trees_and_tags(track(self.pairs, "projecting", unit="pair")):
            tree, more = project_tree(pair, self.choice)
            self.counts += more
            yield tree


def train_on_projection(
    trees: Iterable[Sentence], *, rng: Rng, selection: HardProjectionOptions, training: TrainingOptions
) -> tuple[ArcParser, TrainingReport, int]:
    """Train a parser on the densest trees; also return their number. UsageError if none is dense enough."""
    least = selection.min_attached
    chosen = densest_of_each_length(trees, min_attached=least, max_sentences=selection.max_sentences)
    if not chosen:
        raise none_dense_enough(least)
    parser, report = train_arc_parser(chosen, rng=rng, options=training)
    return replace(parser, attaches_marks=True, temperature=1.0), report, len(chosen)


def project_hard(
    pairs: Iterable[SentencePair], *, rng: Rng, projection: HardProjectionOptions, training: TrainingOptions
) -> methods.Projected:
    """Project arcs through links and train a parser on dense trees; UsageError without any."""
    project = partial(ProjectedTrees, pairs, projection)
    projected = project()
    parser, report, used = train_on_projection(projected, rng=rng, selection=projection, training=training)
    dense = f"with heads for {100 * projection.min_attached:g}% of their words or more"
    trained = f"trained on {used:,} of {pluralise(projected.counts.pairs, 'sentence')}, {dense}"
    lines = (*projected.counts.summary(), f"{trained}: {report.summary(parser.inference)}")
    return methods.Projected(parser, (*lines, *few_sentences(used)), trees=project)


def few_sentences(used: int, *, remedy: str = MORE_LINKS) -> tuple[str, ...]:
    """Return a warning about a parser of few sentences, none for one of more."""
    if used >= ENOUGH_SENTENCES:
        return ()
    return (f"few sentences ({used:,}) to learn from; {remedy}",)


def attached_share(tree: Sentence) -> float:
    """Return the share of words with a head; 0 for an empty sentence."""
    return float(np.mean(tree.heads[1:] != NO_HEAD)) if len(tree) else 0.0


def none_dense_enough(min_attached: float) -> NothingToLearnError:
    found = f"no projected tree has heads for {100 * min_attached:g}% of its words"
    return NothingToLearnError(f"{found}; {MORE_LINKS}")


def densest_of_each_length(
    trees: Iterable[Sentence], *, min_attached: float, max_sentences: int
) -> list[Sentence]:
    """Choose the trees with the most attached words, keeping the distribution of sentence lengths.

    Short sentences are attached more densely than long ones. So each band of lengths gets its share of
    ``max_sentences``, or less. Trees are returned in input order; ties in a band go to the earlier tree.
    """
    seen = [0] * (len(BANDS) + 1)
    bands: list[list[tuple[float, int, Sentence]]] = [[] for _ in seen]
    for number, tree in enumerate(trees):
        band = bisect_left(BANDS, len(tree))
        seen[band] += 1
        share = attached_share(tree)
        if share > 0.0 and share >= min_attached:
            push = heapq.heappush if len(bands[band]) < max_sentences else heapq.heappushpop
            push(bands[band], (share, -number, tree))
    places = (-(-max_sentences * size // max(sum(seen), 1)) for size in seen)
    chosen = chain.from_iterable(map(heapq.nlargest, places, bands))
    return [tree for *_, tree in sorted(chosen, key=lambda entry: -entry[1])]
