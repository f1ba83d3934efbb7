"""TAG variables of target words with several likely tags: their factors and scores.

TAG scores the tags of a word; TAGLINK an arc with the tags of both words (a certain tag is a variable of one
state, thesis 2.2.5), or a link with the tag of its target word; with known tags, just the arc or the link.

The score of a tag is the tagger's, minus the growth under this tag of the sum over all trees: a parser
scores trees given tags, not tags. The score of an arc with the tags of its words is the difference of the
parser's scores under these and under the best tags. The score of a link with the tag of its target word is
the difference of the tagger's table (:mod:`qsproj.models.tagging.link_tagger`) between this tag and the best
one, plus weights of the tags of both words. Each of these four parts has a learned scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.booleans import link
from qsproj.bp.factors.tags import tag, tag_link
from qsproj.bp.graph import FactorGroup
from qsproj.bp.links import Table
from qsproj.conventions import Floats, Mask, Numbers, Rng, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.features.arc_templates import arc_features
from qsproj.features.atoms import PADDING, EncodedSentence
from qsproj.features.joint_templates import link_posteriors, tag_buckets, word_hashes
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.joint.joint_structure import TRUE_STATE, UNKNOWN, JointStructure, States, TagVariables
from qsproj.models.tagging.link_tagger import LinkTagger, train_link_tagger, untagged

CERTAIN = -1  # stands for a word whose tag is certain
MOST_TAGS = 4  # alternative tags of a word, at most: the most probable ones
LEAST_GROWTH = -1.0 + 1e-9  # keeps the sum over trees above zero under every tag
# Scales of: the tagger, the growth of the sum over trees, arcs with tags, the tagger's table of links.
TagScales = tuple[float, ...]
NEUTRAL: TagScales = (1.0, 1.0, 1.0, 1.0)


class TagScores(NamedTuple):
    """Natural-log scores of TAG variables; or beliefs, as probabilities."""

    words: Floats  # float64[U, K]: of each word's tags; impossible ones are not read
    arcs: Floats  # float64[F, K, K]: of arcs, [tag of head, tag of dependent], a certain tag at 0
    links: Floats  # float64[L, K]: of links, with the tag of the target word


@dataclass(frozen=True, slots=True, eq=False)
class TagFactors:
    """The groups of a pair's TAG variables, as they send messages; ``known`` int8[V]: known states."""

    tags: TagVariables
    known: States

    @property
    def decided(self) -> States | None:
        states: States = self.known[self.tags.variables]
        return None if (states == UNKNOWN).any() else states

    def groups(self, scores: TagScores) -> list[FactorGroup]:
        tags, states = self.tags, self.decided
        free_arcs = self.known[tags.arcs] == UNKNOWN
        if states is not None:
            arcs = scores.arcs[self._cells(states)]
            links = scores.links[np.arange(len(scores.links)), states[tags.linked]]
            edges = np.concatenate([tags.arcs[free_arcs], tags.links])
            return [link(edges, np.concatenate([arcs[free_arcs], links]))]
        last = tags.variables[-1] + 1
        certain = np.full(len(tags.links), last)
        groups: list[FactorGroup] = [
            tag(tags.variables, np.where(tags.possible, scores.words, -np.inf)),
            tag_link(tags.links, certain, tags.variables[tags.linked], scores.links[:, None]),
        ]
        # The last is also that at CERTAIN.
        variables = np.append(tags.variables, last)
        for chosen, cells in self._kinds():
            ends = variables[tags.heads[chosen]], variables[tags.dependents[chosen]]
            groups.append(tag_link(tags.arcs[chosen], *ends, scores.arcs[chosen][cells]))
        if not free_arcs.all():
            # The tree is known.
            arcs = tags.arcs[~free_arcs]
            groups.append(link(arcs, np.where(self.known[arcs] == TRUE_STATE, np.inf, -np.inf)))
        return groups

    def expected(self, found: list[Floats], arcs: Floats, links: Floats) -> TagScores:
        """Return the expected count of each score, of ``found`` for each group and probabilities."""
        u, k = self.tags.possible.shape
        words, of_links = np.zeros((u, k)), np.zeros((len(links), k))
        of_arcs = np.zeros((len(arcs), k, k))
        if self.decided is not None:
            words[np.arange(u), self.decided] = 1.0
            of_links[np.arange(len(links)), self.decided[self.tags.linked]] = links
            of_arcs[self._cells(self.decided)] = arcs
            return TagScores(words, of_arcs, of_links)
        for (chosen, cells), own in zip(self._kinds(), found[2:], strict=False):
            part = np.zeros((len(chosen), k, k))
            part[cells] = own
            of_arcs[chosen] = part
        return TagScores(found[0], of_arcs, found[1][:, 0])

    def _kinds(self) -> list[tuple[NDArray[np.intp], tuple[slice, slice, slice]]]:
        heads, dependents = self.tags.heads != CERTAIN, self.tags.dependents != CERTAIN
        every, first = slice(None), slice(1)
        return [
            (np.flatnonzero(~heads & dependents), (every, first, every)),
            (np.flatnonzero(heads & ~dependents), (every, every, first)),
            (np.flatnonzero(heads & dependents), (every, every, every)),
        ]

    def _cells(self, states: States) -> tuple[NDArray[np.integer], ...]:
        # 0 is the tag at CERTAIN.
        tags = np.append(states, 0)
        return np.arange(len(self.tags.arcs)), tags[self.tags.heads], tags[self.tags.dependents]


def no_scores(tags: TagVariables) -> TagScores:
    u, k = tags.possible.shape
    return TagScores(np.zeros((u, k)), np.zeros((len(tags.arcs), k, k)), np.zeros((len(tags.links), k)))


@dataclass(frozen=True, slots=True, eq=False)
class TagChoices:
    """The words of a target sentence whose tags are uncertain."""

    words: Numbers  # int32[U]: ascending, at least one
    tags: tuple[tuple[str, ...], ...]  # the likely tags of each, at least two, that of the sentence first
    scores: Floats  # float64[U, K]: the tagger's, relative to the first, natural log; or -inf

    @property
    def possible(self) -> Mask:
        return self.scores > -np.inf

    def applied(self, sentence: Sentence, states: NDArray[np.integer]) -> Sentence:
        upos = list(sentence.upos)
        for word, names, state in zip(self.words.tolist(), self.tags, states.tolist(), strict=True):
            upos[word - 1] = names[min(state, len(names) - 1)]
        return with_columns(sentence, upos=upos)

    def with_truth(self, upos: Sequence[str]) -> "tuple[TagChoices | None, States]":
        """Return the words whose true tag is a choice (None: no word is left), and its index, int8[U]."""
        true = [upos[word - 1] for word in self.words.tolist()]
        left = [u for u, (tag, names) in enumerate(zip(true, self.tags, strict=True)) if tag in names]
        states = np.array([self.tags[u].index(true[u]) for u in left], dtype=np.int8)
        if not left:
            return None, states
        return TagChoices(self.words[left], tuple(self.tags[u] for u in left), self.scores[left]), states


def tag_choices(
    tagger: LinkTagger, pair: SentencePair, scores: Scores, *, least_probability: float
) -> tuple[Sentence, TagChoices | None]:
    """Tag the target of a pair by scores float64[n+1, T]; return it and the words with other likely tags."""
    sentence = tagger.decided(pair, scores)
    chances = tagger.chances(pair, scores)
    likely = np.minimum((chances >= least_probability).sum(axis=1), MOST_TAGS)
    likely[[0, *(i for i, tag in enumerate(pair.target.upos, start=1) if tag != UNSPECIFIED)]] = 0
    words = np.flatnonzero(likely > 1).astype(np.int32)
    if not len(words):
        return sentence, None
    counts = likely[words]
    ranked = np.argsort(-chances[words], axis=1, kind="stable")[:, : counts.max()]
    own = tagger.table.scale * np.take_along_axis(scores[words], ranked, axis=1)
    relative = np.where(np.arange(counts.max()) < counts[:, None], own - own[:, :1], -np.inf)
    rows = zip(ranked.tolist(), counts.tolist(), strict=True)
    tags = tuple(tuple(tagger.tagger.tags[number] for number in row[:count]) for row, count in rows)
    return sentence, TagChoices(words, tags, relative)


@dataclass(frozen=True, slots=True, eq=False)
class TaggedArcs:
    """The arcs of which one or both words have a choice of tags."""

    heads: Table  # int32[F]
    dependents: Table  # int32[F]
    # float64[F, K, K]: the arc's score under [tag of head, tag of dependent] minus that under the tags of
    # the sentence, natural log; a certain tag is at 0; 0 for none.
    scores: Floats

    def growth(self, choices: TagChoices, chances: Floats) -> Floats:
        """Return the growth of the sum over trees under each tag of a word, float64[U, K], natural log.

        ``chances`` float64[n+1, n+1]: probability of each arc under the tags of the sentence. Heads of a word
        exclude each other; arcs to different words are assumed independent.
        """
        own = chances[self.heads, self.dependents]
        numbers = np.full(len(chances), -1)
        numbers[choices.words] = np.arange(len(choices.words))
        weights = np.exp(choices.scores)
        certain = np.eye(1, weights.shape[1])
        tags = np.vstack([weights / weights.sum(axis=1, keepdims=True), certain])
        factors = np.exp(self.scores)
        as_head = np.einsum("frs,fs->fr", factors, tags[numbers[self.dependents]]) - 1.0
        as_dependent = np.einsum("frs,fr->fs", factors, tags[numbers[self.heads]]) - 1.0
        result = np.zeros(choices.scores.shape)
        for u, word in enumerate(choices.words.tolist()):
            below, above = self.heads == word, self.dependents == word
            grown = own[below, None] * as_head[below]
            result[u] = np.log1p(np.maximum(grown, LEAST_GROWTH)).sum(axis=0)
            grown = (own[above, None] * as_dependent[above]).sum(axis=0)
            result[u] += np.log1p(np.maximum(grown, LEAST_GROWTH))
        return np.where(choices.possible, result - result[:, :1], 0.0)


def tagged_arcs(scorer: ArcScorer, sentence: Sentence, choices: TagChoices, kept: Mask) -> TaggedArcs:
    """Score the ``kept`` arcs bool[n+1, n+1] under the alternative tags of their two words."""
    numbers = np.zeros(len(sentence) + 1, dtype=np.int64)
    numbers[choices.words] = np.arange(1, len(choices.words) + 1)
    heads, dependents = (ends.astype(np.int32) for ends in np.nonzero(kept))
    chosen = (numbers[heads] > 0) | (numbers[dependents] > 0)
    heads, dependents = heads[chosen], dependents[chosen]
    counts = np.append(1, choices.possible.sum(axis=1))
    n_tags = choices.scores.shape[1]
    cells = [
        np.stack([arcs, np.full_like(arcs, r), np.full_like(arcs, s)], axis=1)
        for r, s in product(range(n_tags), repeat=2)
        if r or s
        for arcs in [np.flatnonzero((r < counts[numbers[heads]]) & (s < counts[numbers[dependents]]))]
    ]
    arcs, head_tags, dependent_tags = np.concatenate(cells).T
    own_heads, own_dependents = heads[arcs], dependents[arcs]
    # Words with another tag than in the sentence, and the tag's number; 0 is the root, which has no other.
    changed_heads, changed_dependents = own_heads * (head_tags > 0), own_dependents * (dependent_tags > 0)
    changed = np.stack([changed_heads, head_tags, changed_dependents, dependent_tags], axis=1)
    turned = changed[:, 0] > changed[:, 2]
    changed[turned] = changed[turned][:, [2, 3, 0, 1]]
    variants, places = np.unique(changed, axis=0, return_inverse=True)
    features, stride = _variants(scorer, sentence, choices, variants)
    starts = (places.reshape(-1) * stride).astype(np.int32)
    found = scorer.scores_of(features, starts + own_heads, starts + own_dependents)
    plain = scorer.scores_of(scorer.features(scorer.encode(sentence)), heads, dependents)
    scores = np.zeros((len(heads), n_tags, n_tags))
    scores[arcs, head_tags, dependent_tags] = found - plain[arcs]
    return TaggedArcs(heads, dependents, scores)


def _variants(
    scorer: ArcScorer, sentence: Sentence, choices: TagChoices, variants: NDArray[np.integer]
) -> tuple[ArcFeatures, int]:
    states = (np.full(len(choices.words), tag) for tag in range(choices.scores.shape[1]))
    versions = [scorer.encode(choices.applied(sentence, own)) for own in states]
    atoms = np.stack([version.atoms for version in versions])
    padded = np.stack([np.pad(version.tags, PADDING) for version in versions])
    all_atoms = np.repeat(atoms[:1], len(variants), axis=0)
    all_tags = np.repeat(padded[:1], len(variants), axis=0)
    order = np.arange(len(variants))
    for words, tags in (variants[:, :2].T, variants[:, 2:].T):
        all_atoms[order, words + PADDING] = atoms[tags, words + PADDING]
        all_tags[order, words + PADDING] = padded[tags, words + PADDING]
    of_words = all_tags.reshape(-1)[PADDING : all_tags.size - PADDING]
    encoded = EncodedSentence(all_atoms.reshape(-1, atoms.shape[2]), of_words)
    return arc_features(encoded, scorer.templates, len(scorer.weights)), atoms.shape[1]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTags:
    """The parts of the scores of a pair's TAG variables."""

    tagger: Floats  # float64[U, K]: the tagger's scores relative to the first tag, natural log, 0 for none
    trees: Floats  # float64[U, K]: minus the growth of the sum over trees
    arcs: Floats  # float64[F, K, K]: the parser's, under other tags
    links: Floats  # float64[L, K]: by the tagger's table
    buckets: Numbers  # int32[L * K, T]: features

    def scores(self, scales: TagScales, weights: Floats) -> TagScores:
        tagger, trees, arcs, links = scales
        learned = score_rows(self.buckets, weights).reshape(self.links.shape)
        words = tagger * self.tagger + trees * self.trees
        return TagScores(words, arcs * self.arcs, links * self.links + learned)

    def slopes(self, by_score: TagScores) -> Floats:
        """Return derivatives by the scales, float64[4], given those by the scores."""
        slopes = by_score.words, by_score.words, by_score.arcs, by_score.links
        parts = zip(slopes, (self.tagger, self.trees, self.arcs, self.links), strict=True)
        return np.array([float((by * values).sum()) for by, values in parts])


def prepared_tags(
    pair: SentencePair,
    tagger: LinkTagger,
    choices: TagChoices,
    tagged: TaggedArcs,
    structure: JointStructure,
    marginals: Scores,
) -> tuple[TagVariables, PreparedTags]:
    numbers = np.full(len(marginals), CERTAIN, dtype=np.int32)
    numbers[choices.words] = np.arange(len(choices.words))
    of_links = np.flatnonzero(numbers[structure.links[:, 1]] != CERTAIN)
    first = structure.n_variables
    linked = numbers[structure.links[of_links, 1]]
    own_variables = np.arange(first, first + len(choices.words), dtype=np.int32)
    arcs = structure.target.arcs[tagged.heads, tagged.dependents]
    ends = numbers[tagged.heads], numbers[tagged.dependents]
    own_links = structure.link_variables[of_links]
    variables = TagVariables(own_variables, choices.possible, arcs, *ends, own_links, linked)
    links = pair.alignment.links[of_links]
    source_tags = word_hashes(pair.source).tags[links[:, 0]]
    posteriors = link_posteriors(pair.alignment)[of_links]
    names = [choices.tags[u] for u in variables.linked.tolist()]
    n_tags = choices.scores.shape[1]
    # Scores of links with tags by the tagger's table, float64[L, K].
    said = tagger.of_links([pair.source.upos[s - 1] for s in links[:, 0].tolist()], posteriors)
    places = {tag: number for number, tag in enumerate(tagger.tagger.tags)}
    columns = [[places[tag] for tag in (*row, *row[:1] * (n_tags - len(row)))] for row in names]
    own = np.take_along_axis(said, np.array(columns, dtype=np.int64).reshape(-1, n_tags), axis=1)
    scores = np.where(choices.possible, choices.scores, 0.0), -tagged.growth(choices, marginals)
    buckets = tag_buckets(names, source_tags, posteriors, n_tags)
    return variables, PreparedTags(*scores, tagged.scores, own - own[:, :1], buckets)


@dataclass(frozen=True, slots=True, eq=False)
class TargetTags:
    """Tags of target words in training."""

    tagger: LinkTagger | None = None  # stored with the parser; None: tags are those of the files
    # For each pair, its words with other likely tags, the true one among them, if decoded with the trees.
    choices: list[TagChoices | None] | None = None
    states: tuple[States, ...] = ()  # int8[U] of each, the true ones
    true: list[Sentence] | None = None  # the targets with their true tags, also trained on


GIVEN = TargetTags()


def learned_tags(
    pairs: Sequence[SentencePair], *, rng: Rng, threshold: float | None
) -> tuple[TargetTags, list[SentencePair]]:
    tagger, tagged, scores = train_link_tagger(pairs, rng=rng)
    retagged = [replace(pair, target=own) for pair, own in zip(pairs, tagged, strict=True)]
    true = [pair.target for pair in pairs]
    if threshold is None:
        return TargetTags(tagger, true=true), retagged
    choose = partial(tag_choices, tagger, least_probability=threshold)
    found = [choose(untagged(pair), own)[1] for pair, own in zip(pairs, scores, strict=True)]
    none = None, np.zeros(0, dtype=np.int8)
    left = [one.with_truth(tree.upos) if one else none for one, tree in zip(found, true, strict=True)]
    return TargetTags(tagger, [one for one, _ in left], tuple(states for _, states in left), true), retagged
