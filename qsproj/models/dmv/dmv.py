"""The dependency model with valence: a parser of tags that can be trained without trees."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Rng, Scores, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import ARC_PROBABILITY, with_misc, with_predicted_heads
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import UsageError, check_name
from qsproj.kernels.dmv.dmv_best import dmv_best_by_arcs
from qsproj.kernels.dmv.dmv_expectation import dmv_arcs
from qsproj.models.arc.labeller import Labeller, unlabelled
from qsproj.models.constraints import ConstrainedInference, Given, strip_heads
from qsproj.models.packing import joined
from qsproj.models.parser import ArcPosterior, Parser, Posterior, TrainingTree, trees_of
from qsproj.models.schema import Archive, Arrays, checked, labels, one_of, shaped
from qsproj.models.tree_decoder import DECODERS, TreeDecoder, arcs_in
from qsproj.parallel import Workers, map_in_order
from qsproj.trees import second_order
from qsproj.trees.crossings import nearest_projective
from qsproj.trees.family import NoTreeError
from qsproj.trees.second_order import SecondOrderScores

# A model of tags alone makes the full stop a head, since it is in almost every sentence (thesis 4.6.3.2,
# footnote 2). Its attachment is a convention, better followed by a rule: it is stripped and reattached.
PUNCTUATION_TAG = "PUNCT"
Tags = NDArray[np.int16]  # numbers of tags in an inventory
Summed = TypeVar("Summed", bound=tuple[Floats, ...])
STRENGTH = 80.0  # pseudo-count of the prior model's decisions with each sibling
# Limit in words; time and memory of a chart with siblings grow with the cube of the length.
LONGEST = 120
PARSING_FLOOR = 1e-9  # ensures a tree for every new sentence, also with decisions of probability 0
LEAST_EVIDENCE = -200.0  # the least log probability of a known relation of an arc
TREES = TreeDecoder(projective=True, single_root=True)
# Evidence for the arcs of a case, float64[k+1, k+1], -inf for impossible ones; 0: all trees.
Case = Scores | float


def kept_words(upos: Sequence[str], *, punctuation: str) -> NDArray[np.int64]:
    """Return the words (1-based) that a model reads; ``strip``: without punctuation, unless that is all."""
    everything = np.arange(1, len(upos) + 1)
    if punctuation == "keep":
        return everything
    words = everything[[tag != PUNCTUATION_TAG for tag in upos]]
    return words if len(words) else everything


def attach_stripped(heads: Heads, kept: NDArray[np.int64], n: int) -> Heads:
    """Reattach stripped words to a projective tree int32[k+1] over the ``kept`` of n words.

    To the dependent of the shortest arc over it, or without such an arc to the root's child; our rule, after
    the guidelines of Universal Dependencies for ``punct``. The tree stays projective.
    """
    places = np.concatenate([[ROOT], kept])
    whole = np.full(n + 1, NO_HEAD, dtype=np.int32)
    whole[kept] = places[heads[1:]]
    top = kept[np.flatnonzero(heads[1:] == ROOT)[0]]
    dependents = kept[whole[kept] != ROOT]
    low = np.minimum(dependents, whole[dependents])
    high = np.maximum(dependents, whole[dependents])
    for word in np.setdiff1d(np.arange(1, n + 1), kept):
        over = np.flatnonzero((low < word) & (word < high))
        whole[word] = dependents[over[np.argmin((high - low)[over])]] if len(over) else top
    return whole


def tag_numbers(upos: Sequence[str], inventory: Sequence[str]) -> Tags:
    places = {tag: number for number, tag in enumerate(inventory)}
    return np.array([places.get(tag, 0) for tag in upos], dtype=np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class DmvParameters:
    """Probabilities of the dependency model with valence over T tags.

    ``stop`` float64[T, 2, 2]: of stopping, [head tag, direction {left, right}, valence {none yet, some}].
    ``child`` float64[T, 2, T]: of a dependent's tag, [head tag, direction, dependent tag]. ``root``
    float64[T]: of the tag of the root's one child.

    *Source*: Klein and Manning 2004; thesis eq. 4.4, 4.5.
    """

    stop: Floats
    child: Floats
    root: Floats

    def floored(self, floor: float) -> "DmvParameters":
        child, root = np.maximum(self.child, floor), np.maximum(self.root, floor)
        return DmvParameters(np.clip(self.stop, floor, 1.0 - floor), child, root)

    def over(self, places: Tags) -> "DmvParameters":
        child, root = self.child[places][:, :, places], self.root[places]
        return DmvParameters(self.stop[places], normalised(child, 0.0), normalised(root, 0.0))


def log_dirichlet(smoothing: float, stop: Floats, *others: Floats) -> float:
    """Return the log density, up to a constant, of probabilities of stopping and of other decisions."""
    if smoothing == 0.0:
        return 0.0
    logs = [np.log(stop), np.log1p(-stop), *map(np.log, others)]
    return smoothing * float(sum(values.sum() for values in logs))


class DmvCounts(NamedTuple):
    """(Expected) counts, laid out as parameters; ``stop`` has a last axis {stop, go on}."""

    stop: Floats
    child: Floats
    root: Floats

    def estimate(self, smoothing: float) -> DmvParameters:
        return DmvParameters(**frequencies(self._asdict(), smoothing))


def frequencies(counts: Mapping[str, Floats], smoothing: float) -> dict[str, Floats]:
    """Return relative frequencies after adding ``smoothing``; uniform ones where all counts are 0."""
    found = {name: normalised(own, smoothing) for name, own in counts.items()}
    # Laid out as arrays from files.
    return found | {"stop": np.ascontiguousarray(found["stop"][..., 0])}


def added(one: Summed, other: Summed) -> Summed:
    return type(one)(*map(np.add, one, other))


def summed(
    count: Callable[[Any], tuple[Summed, float]], parts: Iterable[Any], workers: Workers
) -> tuple[Summed, float]:
    results = map_in_order(count, parts, workers=workers)
    return reduce(lambda total, more: (added(total[0], more[0]), total[1] + more[1]), results)


def check_possible(logs: Floats, what: str = "sentences") -> None:
    impossible = int((logs == -np.inf).sum())
    if impossible:
        found = f"{impossible} {what} have probability 0 under the parameters they are to improve"
        raise UsageError(f"{found}; add smoothing")


def normalised(counts: Floats, smoothing: float) -> Floats:
    """Add ``smoothing`` to counts and divide each row of the last axis by its sum."""
    smoothed = counts + smoothing
    totals = smoothed.sum(axis=-1, keepdims=True)
    empty = totals == 0.0
    return np.where(empty, 1.0 / counts.shape[-1], smoothed / np.where(empty, 1.0, totals))


def uniform_parameters(tags: int) -> DmvParameters:
    child, root = np.full((tags, 2, tags), 1.0 / tags), np.full(tags, 1.0 / tags)
    return DmvParameters(np.full((tags, 2, 2), 0.5), child, root)


@dataclass(frozen=True, slots=True, eq=False)
class SiblingParameters:
    """Probabilities of the decisions of a DMV over T tags, given the tag of the most recent sibling.

    ``sibling_stop`` float64[T, 2, T+1]: of stopping, [head tag, direction, sibling's tag]; the last is for
    none yet. ``sibling_child`` float64[T, 2, T+1, T]: of a dependent's tag. Sums over trees are exact.

    *Source*: thesis 4.6.1; unlike there, the decision to stop also reads the sibling.
    """

    sibling_stop: Floats
    sibling_child: Floats


def whatever_the_sibling(stop: Floats, child: Floats) -> SiblingParameters:
    """Return parameters independent of the sibling, from ``stop`` float64[T, 2, 2], ``child`` of a DMV."""
    tags = len(child)
    stops = np.repeat(stop[:, :, 1:], tags + 1, axis=2)
    stops[:, :, tags] = stop[:, :, 0]
    return SiblingParameters(stops, np.repeat(child[:, :, None], tags + 1, axis=2))


def learn_siblings(trees: Iterable[tuple[Tags, Heads]], start: SiblingParameters) -> SiblingParameters:
    """Count the decisions of trees, tags int16[n] and heads int32[n+1] of each, with ``start`` as a prior."""
    tags = len(start.sibling_child)
    stops = STRENGTH * np.stack([start.sibling_stop, 1.0 - start.sibling_stop], axis=-1)
    children = STRENGTH * start.sibling_child
    for own, heads in trees:
        previous, outermost = second_order.sequences(heads)
        of_word = np.concatenate([[ROOT], own]).astype(np.int64)
        below = np.flatnonzero(heads[1:] != ROOT) + 1
        above = heads[below]
        sibling = np.where(previous[below] == above, tags, of_word[previous[below]])
        place = of_word[above], (below > above).astype(np.int64), sibling
        np.add.at(children, (*place, of_word[below]), 1.0)
        np.add.at(stops[..., 1], place, 1.0)
        for side, last in enumerate(outermost[1:].T):
            sibling = np.where(last == np.arange(1, len(heads)), tags, of_word[last])
            np.add.at(stops[:, side, :, 0], (of_word[1:], sibling), 1.0)
    children /= children.sum(axis=-1, keepdims=True)
    return SiblingParameters(stops[..., 0] / stops.sum(axis=-1), children)


def sibling_scores(tags: Tags, parameters: SiblingParameters, root: Floats) -> SecondOrderScores:
    """Return the log probabilities of a sentence's decisions, tags int16[n]."""
    of_word = np.concatenate([[ROOT], tags]).astype(np.int64)
    size, none = len(of_word), len(root)
    stop, child = parameters.sibling_stop, parameters.sibling_child
    # Tag of the sibling, [head, previous].
    sibling = np.where(np.eye(size, dtype=bool), none, of_word)
    side = (np.arange(size) > np.arange(size)[:, None]).astype(np.int64)
    steps = np.log1p(-stop)[:, :, :, None] + np.log(child)
    siblings = steps[of_word[:, None, None], side[:, :, None], sibling[:, None, :], of_word[None, :, None]]
    siblings[ROOT] = 0.0
    arcs = np.zeros((size, size))
    arcs[ROOT] = np.log(root)[of_word]
    stops = np.log(stop)[of_word[:, None], side, of_word[None, :]]
    stops[ROOT] = 0.0
    childless = np.log(stop)[of_word, :, none]
    return second_order.second_order_scores(arcs, siblings=siblings, stops=stops, childless=childless)


def over_all_words(
    among_kept: Scores, kept: NDArray[np.int64], n: int, inference: TreeDecoder | None = None
) -> Scores:
    """Return probabilities of arcs over all n words; stripped words have one head, by rule."""
    places = np.concatenate([[ROOT], kept])
    whole = np.zeros((n + 1, n + 1))
    whole[np.ix_(places, places)] = among_kept
    if len(kept) < n:
        heads = attach_stripped((inference or TREES).best(among_kept), kept, n)
        stripped = np.setdiff1d(np.arange(1, n + 1), kept)
        whole[heads[stripped], stripped] = 1.0
    return whole


@dataclass(frozen=True, eq=False)
class SentenceGrammar:
    """Decisions of a grammar for one sentence, tags int16[n]; ``siblings``: given the most recent sibling."""

    tags: Tags
    parameters: DmvParameters
    siblings: SecondOrderScores | None

    @cached_property
    def arc_weights(self) -> Floats:
        tags, size = self.tags, len(self.tags)
        weights = np.zeros((size + 1, size + 1))
        sides = np.triu(np.ones((size, size), dtype=np.int64))
        weights[1:, 1:] = self.parameters.child[tags[:, None], sides, tags[None, :]]
        weights[ROOT, 1:] = self.parameters.root[tags]
        np.fill_diagonal(weights, 0.0)
        return weights

    def best(self, case: Case = 0.0) -> tuple[Heads, float]:
        if self.siblings is not None:
            return second_order.best(replace(self.siblings, arcs=self.siblings.arcs + case), single_root=True)
        with np.errstate(divide="ignore"):
            own = np.log(self.arc_weights) + case
        heads, stop = np.full(len(self.tags), NO_HEAD, dtype=np.int16), self.parameters.stop
        arcs = np.ascontiguousarray(own[1:, 1:]), own[ROOT, 1:]
        score = dmv_best_by_arcs(self.tags, np.log(stop), np.log1p(-stop), *arcs, heads)
        if score == -np.inf:
            raise NoTreeError(own, single_root=True)
        return np.concatenate([[NO_HEAD], heads]).astype(np.int32), score

    def sums(self, case: Case = 0.0) -> tuple[float, Scores]:
        """Return log Z and arc marginals float64[n+1, n+1] of the trees within a case."""
        if self.siblings is not None:
            scores = replace(self.siblings, arcs=self.siblings.arcs + case)
            found = second_order.posterior(scores, single_root=True)
            return found.log_z, found.marginals
        own, marginals = self.arc_weights * np.exp(case), np.zeros_like(self.arc_weights)
        given = np.ascontiguousarray(own[1:, 1:]), own[ROOT, 1:]
        log_z, *arcs = dmv_arcs(self.tags, self.parameters.stop, *given)
        marginals[1:, 1:], marginals[ROOT, 1:] = arcs
        return log_z, marginals

    def best_within(self, inference: ConstrainedInference | None) -> Heads:
        return self.best()[0] if inference is None else inference.best_case(self.best, inference.evidence)

    def probabilities(self, inference: ConstrainedInference | None) -> Scores:
        return (self.sums() if inference is None else inference.sum_cases(self.sums))[1]


@dataclass(frozen=True)
class Dmv(Parser):
    """A trained dependency model with valence over UPOS tags.

    ``inventory``: the T tags; the first represents all unknown tags. ``punctuation``: ``keep``, generated
    like any word, or ``strip``, left out and attached by rule. ``labeller``: None: relations are ``root`` or
    ``dep``. ``siblings``: in place of ``stop`` and ``child`` in sentences of up to LONGEST words.

    *Source*: Klein and Manning 2004; thesis 4.6.1.
    """

    inventory: tuple[str, ...]
    parameters: DmvParameters
    punctuation: str = "keep"
    labeller: Labeller | None = None
    siblings: SiblingParameters | None = None

    refuses_training = None
    reads = ("upos",)

    def parsed(self, sentence: Sentence, *, decode: str, confidence: bool, given: Given) -> Sentence:
        """Parse a sentence of at least one word; punctuation attached by rule has no ``ArcProb=``."""
        check_name("decoder", decode, DECODERS)
        kept, inference = self._constrained(sentence, given)
        grammar = self._of_sentence(sentence, kept)
        probabilities = grammar.probabilities(inference)
        if decode == "map":
            heads = grammar.best_within(inference)
        else:
            heads = (inference or TREES).best(probabilities)
        whole = attach_stripped(heads, kept, len(sentence))
        relations = self.relations(sentence, whole)
        relations = relations if given is None else given.keep_relations(relations)
        parsed = with_predicted_heads(sentence, whole, relations)
        if not confidence:
            return parsed
        values: list[str | None] = [None] * len(sentence)
        for place, word in enumerate(kept, start=1):
            values[word - 1] = f"{min(probabilities[heads[place], place], 1.0):.4f}"
        return with_misc(parsed, ARC_PROBABILITY, values)

    def _constrained(
        self, sentence: Sentence, given: Given
    ) -> tuple[NDArray[np.int64], ConstrainedInference | None]:
        """Return the unstripped words, and inference over their trees that agree with the known parts.

        Punctuation in known heads or spans is not stripped; it heads only its known dependents, where it can.
        """
        kept = self._kept(sentence)
        if given is None or given.leave_trees_free:
            return kept, None
        given.within(TREES)
        words = np.union1d(kept, np.array(sorted(given.named()), dtype=np.int64))
        own = given.among(words)
        inference = own.within(TREES)
        leaves = np.flatnonzero(~np.isin(words, kept)) + 1
        arcs = arcs_in(own.heads) & (own.heads != NO_HEAD)
        cases = [case.copy() for case in inference.cases]
        for case in cases:
            case[leaves] &= arcs[leaves]
        inference = replace(inference, cases=tuple(filter(TREES.admits, cases)) or inference.cases)
        wanted = given.without_head(self.labeller.relations) if self.labeller else []
        if not wanted or self.labeller is None:
            return words, inference
        best = self._of_sentence(sentence, words).best_within(inference)
        heads = attach_stripped(best, words, len(sentence))
        evidence = self.labeller.evidence(self.labeller.encode(sentence), heads, wanted, given.relations)
        places = np.concatenate([[ROOT], words])
        # The grammar multiplies probabilities, so none may be 0.
        evidence = np.maximum(evidence[np.ix_(places, places)], LEAST_EVIDENCE)
        return words, replace(inference, evidence=evidence)

    def fine_tuned(self, trees: Sequence[TrainingTree], *, rng: Rng) -> "Dmv":
        from qsproj.models.dmv.dmv_training import fine_tuned_dmv

        return fine_tuned_dmv(self, trees_of(trees), rng=rng)

    def complete(self, sentence: Sentence) -> Sentence:
        """Return the sentence with its most probable tree among those with its known heads.

        Crossing arcs are removed first; where no tree has all remaining heads, none is kept.
        """
        kept = self._kept(sentence)
        grammar = self._of_sentence(sentence, kept)
        known = arcs_in(strip_heads(nearest_projective(sentence.heads), kept))
        try:
            heads = grammar.best(np.where(known, 0.0, -np.inf))[0]
        except NoTreeError:
            heads = grammar.best()[0]
        whole = attach_stripped(heads, kept, len(sentence))
        kept_arcs = zip(whole[1:] == sentence.heads[1:], sentence.deprels, self.relations(sentence, whole))
        relations = (own if same and own != UNSPECIFIED else other for same, own, other in kept_arcs)
        return with_predicted_heads(sentence, whole, tuple(relations))

    def relations(self, sentence: Sentence, heads: Heads) -> tuple[str, ...]:
        if self.labeller is None:
            return unlabelled(heads)
        return self.labeller.label(self.labeller.encode(sentence), heads)

    def posterior(self, sentence: Sentence, given: Given = None) -> Posterior:
        """Return beliefs; punctuation attached by rule has its one head with probability 1."""
        kept, inference = self._constrained(sentence, given)
        among_kept = self._of_sentence(sentence, kept).probabilities(inference)
        return ArcPosterior(over_all_words(among_kept, kept, len(sentence), inference))

    def log_likelihood(self, sentence: Sentence) -> float:
        """Return the natural log probability of the sentence's tags, without stripped punctuation."""
        return self._of_sentence(sentence, self._kept(sentence)).sums()[0]

    def to_archive(self) -> Archive:
        header, arrays = joined({"labeller": ("", self.labeller)})
        own = {"inventory": list(self.inventory), "punctuation": self.punctuation}
        of_siblings = {} if self.siblings is None else asdict(self.siblings)
        return own | header, asdict(self.parameters) | of_siblings | arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        return {"tags": header["inventory"]}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "Dmv":
        checked(header, {"inventory": labels(1), "punctuation": one_of(("keep", "strip"))})
        inventory = tuple(header["inventory"])
        tags = len(inventory)
        chances = partial(shaped, arrays, least=0.0, most=1.0)
        child, root = chances("child", (tags, 2, tags)), chances("root", (tags,))
        parameters = DmvParameters(chances("stop", (tags, 2, 2)), child, root)
        siblings, relations = None, header.get("labeller")
        if "sibling_stop" in arrays:
            child = chances("sibling_child", (tags, 2, tags + 1, tags))
            siblings = SiblingParameters(chances("sibling_stop", (tags, 2, tags + 1)), child)
        labeller = None if relations is None else Labeller.from_archive(relations, arrays)
        return Dmv(inventory, parameters, header["punctuation"], labeller, siblings)

    def _kept(self, sentence: Sentence) -> NDArray[np.int64]:
        check_sentence(sentence, least=1)
        return kept_words(sentence.upos, punctuation=self.punctuation)

    def _of_sentence(self, sentence: Sentence, kept: NDArray[np.int64]) -> SentenceGrammar:
        tags, siblings = tag_numbers(sentence.upos, self.inventory)[kept - 1], None
        if self.siblings is not None and len(kept) <= LONGEST:
            stop = np.clip(self.siblings.sibling_stop, PARSING_FLOOR, 1.0 - PARSING_FLOOR)
            floored = SiblingParameters(stop, np.maximum(self.siblings.sibling_child, PARSING_FLOOR))
            siblings = sibling_scores(tags, floored, np.maximum(self.parameters.root, PARSING_FLOOR))
        return SentenceGrammar(tags, self.parameters.floored(PARSING_FLOOR), siblings)

    def with_siblings(self, trees: Iterable[Sentence]) -> "Dmv":
        """Return the model with probabilities given the most recent sibling, estimated from whole trees."""
        seen = []
        for tree in trees:
            kept = kept_words(tree.upos, punctuation=self.punctuation)
            heads = strip_heads(tree.heads, kept)
            if len(tree) and is_whole(heads):
                seen.append((tag_numbers(tree.upos, self.inventory)[kept - 1], heads))
        own = self.parameters
        start = self.siblings or whatever_the_sibling(own.stop, own.child)
        return replace(self, siblings=learn_siblings(seen, start))
