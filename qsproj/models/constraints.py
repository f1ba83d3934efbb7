"""Known parts of trees as constraints on inference: heads, relations, tags and spans.

Exactly one word of a span has its head outside. Known heads and spans restrict the arcs; each combination of
heads of spans is a case: a set of arcs, disjoint from others in its trees. Known relations of words without
a head change scores of (labelled) arcs.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Mask, Numbers, Rng, Scores
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.editing import misc_values
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, pluralise
from qsproj.models.tree_decoder import TreeDecoder, arcs_in, check_decoder, squares
from qsproj.trees.crossings import crossings
from qsproj.trees.family import NoTreeError

SPAN = "Span"
_SPAN = re.compile(r"(\d+)-(\d+)")
MOST_CASES = 1000  # each span multiplies the cases by its number of words; more cases are refused
Answer = TypeVar("Answer", bound=tuple[object, object])
Given: TypeAlias = "Constraints | None"
# Log probability in place of -inf where the model excludes every remaining choice.
LEAST_LOG = float(np.log(np.finfo(np.float64).tiny))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstrainedInference(TreeDecoder):
    """Inference over the trees within one of several sets of arcs, which share no tree."""

    cases: tuple[Mask, ...]  # bool[n+1, n+1] each
    evidence: Scores  # float64[n+1, n+1]: added to arc scores, natural log, finite

    @property
    def allowed(self) -> Mask:
        """bool[n+1, n+1], the arcs of all cases."""
        return np.any(self.cases, axis=0)

    def sum_cases(self, sums: Callable[[Scores], tuple[float, Scores]]) -> tuple[float, Scores]:
        """Return log Z and arc marginals over the cases that have trees; NoTreeError where none has.

        ``sums`` returns both for one case, float64[n+1, n+1]: the evidence, -inf for excluded arcs.
        """
        found = self._of_cases(sums, self.evidence)
        log_z = np.array([own for own, _ in found])
        total = float(np.logaddexp.reduce(log_z))
        return total, np.tensordot(np.exp(log_z - total), [own for _, own in found], axes=1)

    def best_case(self, best: Callable[[Scores], tuple[Heads, float]], evidence: Scores | float) -> Heads:
        """Return the best tree of all cases by ``best``, which takes a case as in :meth:`sum_cases`."""
        return max(self._of_cases(best, evidence), key=lambda found: found[1])[0]

    def _of_cases(self, asked: Callable[[Scores], Answer], evidence: Scores | float) -> list[Answer]:
        found = []
        for case in self.cases:
            try:
                found.append(asked(np.where(case, evidence, -np.inf)))
            except NoTreeError as error:
                impossible = error
        if not found:
            raise impossible
        return found

    def infer(self, scores: Scores) -> tuple[float, Scores]:
        return self.sum_cases(lambda case: self._trees.marginals(scores + case, single_root=self.single_root))

    def best(self, scores: Scores) -> Heads:
        """Return the best tree of all cases, without the evidence, unlike :meth:`infer`."""
        one_root = self.single_root
        return self.best_case(lambda case: self._trees.best(scores + case, single_root=one_root), 0.0)

    def sample(self, scores: Scores, size: int, rng: Rng) -> Numbers:
        """Draw trees of the arcs of all cases; a tree may combine arcs of several cases."""
        within = np.where(self.allowed, scores + self.evidence, -np.inf)
        return super(ConstrainedInference, self).sample(within, size, rng)

    def decode(self, scores: Scores, decode: str) -> Heads:
        check_decoder(decode)
        return self.best(self.infer(scores)[1] if decode == "mbr" else scores + self.evidence)

    def most_right(self, probabilities: Scores) -> Heads:
        """Return the tree with the highest expected number of correct heads; avoids arcs of probability 0."""
        return self.best(np.where(probabilities > 0.0, probabilities, -float(len(probabilities))))


@dataclass(frozen=True, kw_only=True, eq=False)
class Constraints:
    """The known part of the analysis of one sentence."""

    heads: Heads  # int32[n+1], -1 where unknown
    relations: tuple[str, ...]  # of each word, ``_`` where unknown
    tags: tuple[str, ...]  # of each word, ``_`` where unknown
    spans: tuple[tuple[int, int], ...] = ()  # first and last word of each

    def __len__(self) -> int:
        return len(self.relations)

    @property
    def leave_trees_free(self) -> bool:
        no_heads = bool((self.heads[1:] == NO_HEAD).all())
        return no_heads and set(self.relations) <= {UNSPECIFIED} and not self.spans

    def without_head(self, relations: Sequence[str]) -> list[int]:
        known = set(relations) - {UNSPECIFIED}
        words = enumerate(self.relations, start=1)
        return [word for word, name in words if name in known and self.heads[word] == NO_HEAD]

    def among(self, kept: NDArray[np.int64]) -> "Constraints":
        """Return the constraints on some words int64[k], 1-based, renumbered; they name no other words."""
        spans = np.searchsorted(kept, self.spans).tolist() if self.spans else []
        return Constraints(
            heads=strip_heads(self.heads, kept),
            relations=tuple(self.relations[word - 1] for word in kept),
            tags=tuple(self.tags[word - 1] for word in kept),
            spans=tuple((first + 1, last + 1) for first, last in spans),
        )

    def named(self) -> set[int]:
        known = np.flatnonzero(self.heads[1:] != NO_HEAD) + 1
        words = {*known.tolist(), *self.heads[known].tolist()} - {ROOT}
        words |= {word for word, name in enumerate(self.relations, start=1) if bare_relation(name) == "root"}
        return words.union(*(range(first, last + 1) for first, last in self.spans))

    def keep_relations(self, predicted: Sequence[str]) -> tuple[str, ...]:
        rows = zip(self.relations, predicted, strict=True)
        return tuple(new if own == UNSPECIFIED else own for own, new in rows)

    def within(self, inference: TreeDecoder) -> ConstrainedInference:
        """Return inference over the trees that have the known heads and spans, or raise SentenceError."""
        allowed, size = arcs_in(self.heads), len(self) + 1
        if not inference.admits(allowed):
            raise self._impossible(inference)
        allowed[:, 0] = False
        if inference.single_root and (self.heads == ROOT).any():
            allowed[ROOT] &= self.heads == ROOT
        for word, relation in enumerate(self.relations, start=1):
            if bare_relation(relation) == "root" and self.heads[word] == NO_HEAD:
                allowed[:, word] &= np.arange(size) == ROOT
        cases = tuple(case for case in self._cases(allowed) if inference.admits(case))
        if not cases:
            raise self._impossible(inference)
        return ConstrainedInference(**asdict(inference), cases=cases, evidence=np.zeros((size, size)))

    def _cases(self, allowed: Mask) -> list[Mask]:
        spans = sorted(self.spans)
        if prod(last - first + 1 for first, last in spans) > MOST_CASES:
            found = f"{pluralise(len(spans), 'span')}, with too many combinations of possible heads"
            remedy = "leave some spans out, or give some heads"
            raise SentenceError(found=found, expected=f"{MOST_CASES:,} ways at most", remedy=remedy)
        cases = []
        for heads in product(*(range(first, last + 1) for first, last in spans)):
            case = allowed.copy()
            for (first, last), head in zip(spans, heads, strict=True):
                inside = np.zeros(len(case), dtype=np.bool_)
                inside[first : last + 1] = True
                case[~inside, first : last + 1] &= np.arange(first, last + 1) == head
                case[inside, head] = False
            if case[:, 1:].any(axis=0).all():
                cases.append(case)
        return cases

    def _impossible(self, inference: TreeDecoder) -> SentenceError:
        heads, arcs, word = self.heads, arcs_in(self.heads), 0
        remedy, tree = "correct HEAD, or put _ in its place", "tree of the model"
        expected, roots = "a part of a tree of the model", np.flatnonzero(heads[1:] == ROOT) + 1
        if crossing := not inference.admits(arcs) and replace(inference, projective=False).admits(arcs):
            tree, remedy = "tree without crossing arcs", f"{remedy}; or train the model with --nonprojective"
        found = f"heads and {'spans' if self.spans else 'relations'} that no {tree} has together"
        if inference.single_root and len(roots) > 1:
            found, word = f"the words {', '.join(map(str, roots))} at the root", int(roots[1])
            expected = "one, as the model learned it"
        elif crossing and len(pairs := crossings(heads)):
            word, other = map(int, sorted(pairs[0]))
            found = f"arcs that cross: {heads[word]} -> {word} and {heads[other]} -> {other}"
            expected = "arcs that do not, as the model builds none"
        return SentenceError(found=found, expected=expected, remedy=remedy, word=word)


def candidate_arcs(marginals: Scores, inference: TreeDecoder, *, threshold: float) -> Mask:
    """Return bool[n+1, n+1], the arcs of probability ``threshold`` or more and those of the best tree."""
    candidates = marginals >= threshold
    if isinstance(inference, ConstrainedInference):
        candidates &= inference.allowed
    heads = inference.best(marginals)
    candidates[heads[1:], np.arange(1, len(heads))] = True
    return candidates


def strip_heads(heads: Heads, kept: NDArray[np.int64]) -> Heads:
    """Return the heads int32[k+1] of ascending words ``kept`` int64[k], renumbered; -1 for others."""
    places = np.full(len(heads), NO_HEAD, dtype=np.int32)
    places[ROOT] = ROOT
    places[kept] = np.arange(1, len(kept) + 1)
    known = heads[kept] != NO_HEAD
    stripped = np.full(len(kept) + 1, NO_HEAD, dtype=np.int32)
    stripped[1:][known] = places[heads[kept][known]]
    return stripped


def known_part(sentence: Sentence) -> Constraints:
    """Return the known part: HEAD, DEPREL, UPOS, ``Span=3-7`` in MISC; SentenceError for a bad span."""
    heads, tags = sentence.heads, sentence.upos
    return Constraints(heads=heads, relations=sentence.deprels, tags=tags, spans=spans_of(sentence))


def spans_of(sentence: Sentence) -> tuple[tuple[int, int], ...]:
    """Return first and last word of each span in MISC, sorted; SentenceError for an invalid span."""
    spans = set[tuple[int, int]]()
    for word, cell in enumerate(misc_values(sentence, SPAN), start=1):
        for text in cell.split(",") if cell else ():
            match = _SPAN.fullmatch(text)
            first, last = map(int, match.groups()) if match else (0, 0)
            if not 1 <= first <= last <= len(sentence):
                expected = f"first and last word of a span, as {SPAN}=1-{len(sentence)}"
                remedy = "name words of the sentence"
                found = f"{SPAN}={cell} in MISC"
                raise SentenceError(found=found, expected=expected, remedy=remedy, word=word)
            spans.add((first, last))
    return tuple(sorted(spans))


def span_arcs(links: Numbers, spans: Sequence[tuple[int, int]]) -> list[Numbers]:
    """Return the arcs into each span, of which a tree has one; ``links`` int32[n+1, n+1], -1 for none."""
    found = []
    for first, last in spans:
        entering = links[:, first : last + 1].copy()
        entering[first : last + 1] = -1
        found.append(entering[entering >= 0])
    return found


def decode_blocks(
    inferences: Sequence[TreeDecoder], scores: Floats, sizes: NDArray[np.int64], decode: str
) -> tuple[Heads, Floats]:
    """Run :meth:`TreeDecoder.decode_block` for sentences whose inferences differ in constraints only."""
    numbered = enumerate(inferences)
    constrained = [(place, one) for place, one in numbered if isinstance(one, ConstrainedInference)]
    trees = TreeDecoder(projective=inferences[0].projective, single_root=inferences[0].single_root)
    if not constrained:
        return trees.decode_block(scores, sizes, decode)
    ends, masked, alone = np.cumsum(sizes), scores.copy(), []
    of_sentences = squares(masked, sizes)
    for place, inference in constrained:
        own = of_sentences[place]
        if len(inference.cases) == 1:
            own[:] = np.where(inference.cases[0], own + inference.evidence, -np.inf)
        else:
            alone.append((slice(ends[place] - sizes[place], ends[place]), inference.decode(own, decode)))
    heads, chances = trees.decode_block(masked, sizes, decode)
    for words, own_heads in alone:
        heads[words], chances[words] = own_heads, np.nan
    return heads, chances
