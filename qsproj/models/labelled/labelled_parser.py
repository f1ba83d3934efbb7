"""The labelled parser: a distribution over trees with relations, exact inference, and a labeller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Mask, Numbers, Rng, Scores, Weights, starts_of
from qsproj.corpus import editing
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.features.atoms import EncodedBlock, EncodedSentence
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.kernels.features.label_features import TAGS, best_relations, score_relations
from qsproj.kernels.trees.eisner_block import decode_labelled_block, possible_arcs
from qsproj.models.arc.arc_parser import ArcParser, FirstOrderParser, parts_from
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.labeller import Labeller, RelationWeights
from qsproj.models.constraints import LEAST_LOG, Given, candidate_arcs
from qsproj.models.parser import BLOCK, TrainingTree, is_plain
from qsproj.models.schema import Archive, Arrays, anything, ascending, check_cells, checked, number
from qsproj.models.tree_decoder import TreeDecoder, check_decoder, of_tree
from qsproj.training.objectives import LabelledScores


@dataclass(frozen=True)
class RelationScorer(RelationWeights):
    """Scorer of an arc's relations by the weights of its features, which do not read the tree."""

    candidates: Candidates
    prefix = "relation_"

    def scores(self, features: ArcFeatures, arcs: Scores, possible: Mask) -> LabelledScores:
        """Score the relations of possible arcs bool[n+1, n+1], beside scores of arcs float64[n+1, n+1]."""
        heads, dependents = (ends.astype(np.int32) for ends in np.nonzero(possible))
        relations = self.candidates.scores(features, heads, dependents, self.weights)
        return LabelledScores(arcs, heads, dependents, relations)

    def to_archive(self) -> Archive:
        header, arrays = super().to_archive()
        seen = np.flatnonzero(self.candidates.seen).astype(np.uint32)
        return header, {**arrays, "relation_candidates": seen}

    @classmethod
    def from_archive(cls, header: dict[str, Any], arrays: Arrays) -> RelationScorer:
        fields = cls.fields_from(header, arrays)
        size = len(fields[1])
        check_cells(TAGS * TAGS, size)
        seen = np.zeros((TAGS, TAGS, size), dtype=np.bool_)
        seen.reshape(-1)[ascending(arrays, "relation_candidates", np.uint32, most=seen.size - 1)] = True
        return cls(*fields, Candidates(seen))


ROOT_TAG = 0  # tag of the root, which is no word's dependent


@dataclass(frozen=True)
class Candidates:
    """The relations seen with each pair of tags, with a back-off for unseen pairs.

    An unseen pair may have every relation seen with its dependent's tag; if that tag is also unseen, every
    relation; arcs of the root back off apart. ``seen`` bool[TAGS, TAGS, L]: tag of the head, tag of the
    dependent, relation. *Source*: thesis 5.1.1 restricts labels by both tags; the back-off is ours.
    """

    seen: Mask

    @cached_property
    def allowed(self) -> Mask:
        """bool[TAGS, TAGS, L], relations seen or backed off to; at least one for each pair."""
        allowed = self.seen.copy()
        for heads in (slice(ROOT_TAG, ROOT_TAG + 1), slice(ROOT_TAG + 1, TAGS)):
            seen = self.seen[heads]
            backed_off: Mask = np.any(seen, axis=0)
            without = ~np.any(backed_off, axis=1)
            backed_off[without] = np.any(backed_off, axis=0) if backed_off.any() else True
            unseen = ~np.any(seen, axis=2)
            allowed[heads][unseen] = np.broadcast_to(backed_off, seen.shape)[unseen]
        return allowed

    @cached_property
    def lists(self) -> tuple[Numbers, Numbers]:
        """The same as starts int32[TAGS * TAGS + 1] and relations int32, in the form of the kernels."""
        flat = self.allowed.reshape(TAGS * TAGS, -1)
        starts = starts_of(flat.sum(axis=1))
        return starts.astype(np.int32), np.nonzero(flat)[1].astype(np.int32)

    def scores(self, features: ArcFeatures, heads: Numbers, dependents: Numbers, weights: Weights) -> Floats:
        """Score the candidates of arcs, ends int32[k], by float32[buckets, L]: float64[k, L], or -inf."""
        scores = np.empty((len(heads), weights.shape[1]))
        score_relations(features, heads, dependents, *self.lists, weights.reshape(-1), scores)
        return scores

    @staticmethod
    def of_trees(trees: Iterable[tuple[EncodedSentence, Heads, Numbers]], relations: int) -> Candidates:
        """Collect the relations seen in trees: words, heads int32[n+1], relation numbers, -1 if unknown."""
        seen = np.zeros((TAGS, TAGS, relations), dtype=np.bool_)
        for encoded, heads, numbers in trees:
            known = np.flatnonzero((heads >= ROOT) & (numbers >= 0))
            seen[encoded.tags[heads[known]], encoded.tags[known], numbers[known]] = True
        return Candidates(seen)


# Arcs less probable than LEAST by their own scores are pruned before labelling; on dev files of Danish, Dutch
# and German 0 (all arcs) and 0.1 parse alike. Candidates have at least LEAST_CHANCE before the tree is known.
LEAST, LEAST_CHANCE = 0.03, 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPosterior:
    """Beliefs about the labelled arcs of a sentence."""

    scores: LabelledScores
    log_z: float
    marginals: Scores  # float64[n+1, n+1]: probability of each arc
    chances: Floats  # float64[k, L]: of each relation given each arc of ``scores``
    inference: TreeDecoder
    free: LabelledScores  # the scores without ``columns``
    columns: Mapping[int, int]  # the known relations of some words

    def labelled(self) -> Floats:
        heads, dependents = self.scores.heads, self.scores.dependents
        probabilities = np.zeros((*self.marginals.shape, self.chances.shape[1]))
        probabilities[heads, dependents] = self.marginals[heads, dependents, None] * self.chances
        return probabilities

    def chances_of(self, heads: Heads) -> Floats:
        # Arcs of the scores are ordered by head, then by dependent.
        size = len(heads)
        ordered = self.scores.heads.astype(np.int64) * size + self.scores.dependents
        return self.chances[np.searchsorted(ordered, heads[1:].astype(np.int64) * size + np.arange(1, size))]


@dataclass(frozen=True)
class LabelledParser(FirstOrderParser[ArcScorer]):
    """A trained first-order parser whose trees are labelled.

    Relations combine its ``labeller``, which reads the predicted tree, with the earlier beliefs about them.
    ``relations``: scores added for each relation. ``least``: arcs of a smaller probability by ``scorer``
    alone are in no tree; 0: all may be. Reported probabilities are those of scores divided by
    ``temperature``, and of relations by ``relation_temperature``; trees are decoded from the unscaled scores.
    """

    labeller: Labeller
    relations: RelationScorer
    least: float = LEAST
    temperature: float = 1.0
    relation_temperature: float = 1.0
    block = BLOCK

    def beliefs(self, sentence: Sentence, given: Given = None) -> LabelledPosterior:
        encoded = self.encode(sentence)
        arcs = self.scorer.scores(self.scorer.features(encoded))
        features = self.relations.hashed(encoded)
        inference = self.constrained(sentence, given)
        if given is None or not (words := given.without_head(self.relations.relations)):
            scores = self.relations.scores(features, arcs, self._possible(arcs, inference))
            return self.believed(scores, inference)
        columns = {word: self.relations.relations.index(given.relations[word - 1]) for word in words}
        # Pruning takes the known relations into account.
        every = with_relations(self.relations.scores(features, arcs, all_arcs(len(given))), columns)
        own = np.isin(every.dependents, words)
        weighed = arcs.copy()
        weighed[every.heads[own], every.dependents[own]] += every.relations[own].max(axis=1)
        scores = self.relations.scores(features, arcs, self._possible(weighed, inference))
        return self.believed(scores, inference, columns)

    def constrained(self, sentence: Sentence, given: Given) -> TreeDecoder:
        """Return inference over the trees with known heads and spans; relations are part of these trees."""
        if given is None or given.leave_trees_free:
            return self.inference
        return given.within(self.inference)

    def believed(
        self,
        scores: LabelledScores,
        inference: TreeDecoder | None = None,
        columns: Mapping[int, int] = MappingProxyType({}),
    ) -> LabelledPosterior:
        """Sum over labelled trees; ``columns``: the known relations of some words, by index."""
        inference = inference or self.inference
        clamped = with_relations(scores, columns) if columns else scores
        summed, chances = clamped.summed()
        log_z, marginals = inference.infer(summed)
        return LabelledPosterior(clamped, log_z, marginals, chances, inference, scores, columns)

    def _possible(self, arcs: Scores, inference: TreeDecoder) -> Mask:
        every = all_arcs(len(arcs) - 1)
        if self.least == 0.0:
            return every
        return every & candidate_arcs(inference.infer(arcs)[1], inference, threshold=self.least)

    def posterior(self, sentence: Sentence, given: Given = None) -> LabelledPosterior:
        return self._tempered(self.beliefs(sentence, given))

    def _tempered(self, posterior: LabelledPosterior) -> LabelledPosterior:
        if self.temperature == 1.0:
            return posterior
        tempered = posterior.free.tempered(self.temperature)
        return self.believed(tempered, posterior.inference, posterior.columns)

    def relation_probabilities(self, sentence: Sentence) -> Floats:
        """Return the probability of every labelled arc, float64[n+1, n+1, L], before a tree is read."""
        return self.posterior(sentence).labelled()

    def heads(self, posterior: LabelledPosterior, *, decode: str = "mbr") -> Heads:
        scores, best = posterior.scores, np.empty_like(posterior.marginals)
        if decode == "map":
            return posterior.inference.best(scores.maximised())
        best_relations(posterior.marginals, scores.heads, scores.dependents, posterior.chances, best)
        return posterior.inference.best(best)

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        check_decoder(decode)
        encoded, posterior = self.encode(sentence), self.beliefs(sentence, given)
        heads = self.heads(posterior, decode=decode)
        scores = self.relation_scores(encoded, posterior, heads)
        names = tuple(self.relations.relations[best] for best in scores.argmax(axis=1).tolist())
        names = names if given is None else given.keep_relations(names)
        parsed = editing.with_predicted_heads(sentence, heads, names)
        if not confidence:
            return parsed
        arcs = of_tree(self._tempered(posterior).marginals, heads)
        of_relations = best_chances(scores, temperature=self.relation_temperature)
        if given is not None:
            of_relations[[name != UNSPECIFIED for name in given.relations]] = 1.0
        parsed = editing.with_probabilities(parsed, editing.ARC_PROBABILITY, arcs)
        return editing.with_probabilities(parsed, editing.RELATION_PROBABILITY, arcs * of_relations)

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> LabelledParser:
        arcs = ArcParser(self.scorer, self.labeller, self.inference, self.temperature)
        return replace(self, scorer=arcs.fine_tuned(trees, rng=rng).scorer)

    def relation_scores(self, encoded: EncodedSentence, posterior: LabelledPosterior, heads: Heads) -> Floats:
        """Return the score of each relation given a tree, float64[n, L], natural log; -inf for no candidate.

        The mean of the beliefs before decoding and of the scores of the labeller, which reads the tree.
        """
        words = np.arange(1, len(heads), dtype=np.int32)
        features, scores = self.labeller.features(encoded, heads), self.relations.candidates.scores
        after = scores(features, heads[1:].copy(), words, self.labeller.weights)
        return mean_scores(posterior.chances_of(heads), after)

    def parsed_block(
        self, sentences: list[Sentence], given: list[Given], *, decode: str, confidence: bool
    ) -> Iterable[Sentence]:
        """Parse several sentences: at once, unless arcs may cross or sums leave the exact range."""
        plain = is_plain(given, decode=decode, confidence=confidence)
        block = self.scorer.encode_block(sentences)
        found = self._block_trees(block) if plain and self.inference.projective else None
        if found is None:
            return super().parsed_block(sentences, given, decode=decode, confidence=confidence)
        trees, before = found
        words = np.flatnonzero(trees != NO_HEAD).astype(np.int32)
        features = self.labeller.features(block.words, trees, block.inside)
        after = self.relations.candidates.scores(features, trees[words], words, self.labeller.weights)
        best = mean_scores(before, after).argmax(axis=1)
        names = iter(np.array(self.relations.relations, dtype=np.object_).take(best).tolist())
        parsed = []
        for sentence, start in zip(sentences, block.starts.tolist(), strict=True):
            heads = trees[start : start + len(sentence) + 1] - np.int32(start)
            heads[0] = NO_HEAD
            parsed.append(editing.with_tree(sentence, heads, tuple(islice(names, len(sentence)))))
        return parsed

    def _block_trees(self, block: EncodedBlock) -> tuple[Numbers, Floats] | None:
        sizes, single_root = block.sizes, self.inference.single_root
        arcs = self.scorer.score_block(block)
        found = possible_arcs(arcs, block.starts, sizes, single_root, self.least)
        heads, dependents, counts, exact = found
        if not exact:
            return None
        features = self.relations.hashed(block.words)
        scores = self.relations.candidates.scores(features, heads, dependents, self.relations.weights)
        chances = np.empty_like(scores)
        trees = np.full(len(block.words) + 1, NO_HEAD, dtype=np.int32)
        places = np.empty(int(sizes.sum()) - len(sizes), dtype=np.int64)
        exact = decode_labelled_block(
            arcs, block.starts, sizes, single_root, heads, dependents, counts, scores, chances, trees, places
        )
        return (trees, chances[places]) if exact else None

    def to_archive(self) -> Archive:
        header, arrays = super().to_archive()
        header["relations"], relation_arrays = self.relations.to_archive()
        own = {name: getattr(self, name) for name in ("least", "temperature", "relation_temperature")}
        return {**header, **own}, {**arrays, **relation_arrays}

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **FirstOrderParser.described(header),
            "labels": "inside the tree (--labels joint)",
            "least_probability_of_an_arc": header["least"],
        }

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> LabelledParser:
        temperatures = dict.fromkeys(("temperature", "relation_temperature"), number(1e-3, 1e3))
        parts = dict.fromkeys(("relations", "labeller"), anything)
        checked(header, {"least": number(0.0, 1.0), **temperatures, **parts})
        scorer, labeller, inference = parts_from(header, arrays, ArcScorer)
        relations = RelationScorer.from_archive(header["relations"], arrays)
        if labeller is None or labeller.relations != relations.relations:
            raise ValueError("labeller and relations in the header know different relations")
        numbers = (header[name] for name in ("least", "temperature", "relation_temperature"))
        return LabelledParser(scorer, labeller, inference, relations, *numbers)


def with_relations(scores: LabelledScores, columns: Mapping[int, int]) -> LabelledScores:
    """Return scores with the known relations of some words fixed; an impossible one is least probable."""
    relations = scores.relations.copy()
    for word, column in columns.items():
        own = scores.dependents == word
        least = np.logaddexp.reduce(relations[own], axis=1) + LEAST_LOG
        kept = np.maximum(relations[own, column], least)
        relations[own] = -np.inf
        relations[own, column] = kept
    return replace(scores, relations=relations)


def best_chances(scores: Floats, *, temperature: float) -> Floats:
    others = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(1.0 / others.sum(axis=1))


def all_arcs(n: int) -> Mask:
    arcs = ~np.eye(n + 1, dtype=np.bool_)
    arcs[:, 0] = False
    return arcs


def mean_scores(before: Floats, after: Floats) -> Floats:
    return 0.5 * (np.log(np.maximum(before, LEAST_CHANCE)) + after)
