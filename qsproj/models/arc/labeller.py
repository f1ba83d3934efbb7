"""Relations of the arcs of a tree: an independent softmax for each arc."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Floats, Heads, Mask, Numbers, Rng, Scores, Weights
from qsproj.corpus.cells import UNIVERSAL_TAGS, UNSPECIFIED, bare_relation
from qsproj.corpus.sentence import Sentence
from qsproj.features import arc_templates, atoms
from qsproj.kernels.features import label_features
from qsproj.kernels.features.arc_features import ArcFeatures
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Archive, Arrays, buckets, check_cells, checked, labels, one_of
from qsproj.progress import notice
from qsproj.training.loop import Steps, learn
from qsproj.training.optimiser import RowAdaGrad

HASH_BITS = 17
# With evidence, rates .03 and .1, and 2 to 8 passes, differ by at most .2 on dev files of three languages.
LABEL_EPOCHS, EVIDENCE_EPOCHS, RATE = 6, 3, 0.1
ROOT_RELATION, PUNCT_RELATION = "root", "punct"


@dataclass(frozen=True)
class RelationWeights:
    """A linear model of the relations of arcs: ``weights`` float32[buckets, L], L relations. Abstract."""

    template_set: str
    relations: tuple[str, ...]
    weights: Weights
    prefix: ClassVar[str]

    @cached_property
    def templates(self) -> arc_templates.CompiledTemplates:
        of_arcs = arc_templates.TEMPLATE_SETS[self.template_set.removesuffix(arc_templates.IN_TREE)]
        attributes = arc_templates.compile_templates(of_arcs).attributes
        own = arc_templates.LABEL_TEMPLATE_SETS[self.template_set]
        return arc_templates.compile_templates(own, attributes)

    def hashed(self, encoded: atoms.EncodedSentence) -> ArcFeatures:
        return arc_templates.arc_features(encoded, self.templates, len(self.weights))

    def to_archive(self) -> Archive:
        header = {"template_set": self.template_set, "relations": list(self.relations)}
        return {**header, "buckets": len(self.weights)}, packed_weights(self.prefix, self.weights)

    @classmethod
    def fields_from(cls, header: dict[str, Any], arrays: Arrays) -> tuple[str, tuple[str, ...], Weights]:
        known = one_of(arc_templates.LABEL_TEMPLATE_SETS)
        checked(header, {"template_set": known, "buckets": buckets, "relations": labels(1)})
        relations = tuple(header["relations"])
        check_cells(header["buckets"], len(relations))
        weights = np.zeros((header["buckets"], len(relations)), dtype=np.float32)
        return header["template_set"], relations, unpack_weights(cls.prefix, arrays, weights)


# UPOS of words with a relation: those that validators of UD demand; besides, no AUX is a subject.
TAGS_OF = {
    PUNCT_RELATION: ["PUNCT"],
    "aux": ["AUX"],
    "det": ["DET", "PRON"],
    "nsubj": sorted({*UNIVERSAL_TAGS} - {"AUX"}),
}


@dataclass(frozen=True)
class Labeller(RelationWeights):
    """A classifier of a tree's arcs; ``ignored``: columns that the parser's arc scorer ignores."""

    ignored: tuple[str, ...] = ()
    prefix = "label_"

    def encode(self, sentence: Sentence) -> atoms.EncodedSentence:
        attributes = tuple(name for name in self.templates.attributes if not atoms.reads_tree(name))
        return atoms.encode(atoms.without_columns(sentence, self.ignored), attributes)

    def encode_tree(self, sentence: Sentence) -> atoms.EncodedSentence:
        return atoms.with_tree_atoms(self.encode(sentence), sentence.heads, self.templates.attributes)

    def features(
        self, encoded: atoms.EncodedSentence, heads: Heads, inside: Mask | None = None
    ) -> ArcFeatures:
        return self.hashed(atoms.with_tree_atoms(encoded, heads, self.templates.attributes, inside))

    def label(
        self, encoded: atoms.EncodedSentence, heads: Heads, evidence: Scores | None = None
    ) -> tuple[str, ...]:
        """Return the best relation of each word's arc, ``_`` for a word without a head.

        Where the model knows the relation ``root``, exactly the children of the root get it. Relations of
        TAGS_OF are for words of these UPOS alone. ``evidence`` float64[n+1, L] is added to the scores.
        """
        scores = self.scores(encoded, heads)
        if evidence is not None:
            scores += evidence
        self._give_root(scores, heads == ROOT)
        return tuple(self._best(scores, heads, encoded.tags)[1:])

    def chances(self, encoded: atoms.EncodedSentence, heads: Heads) -> Scores:
        """Return the probability of each relation of each word's arc, float64[n+1, L]; see :meth:`label`."""
        scores = self.scores(encoded, heads)
        self._give_root(scores, heads == ROOT)
        chances: Scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def evidence(
        self, encoded: atoms.EncodedSentence, heads: Heads, words: Iterable[int], wanted: Sequence[str]
    ) -> Scores:
        """Return the log probability that each arc into some words has the wanted relation of the word.

        The result is float64[n+1, n+1], 0 for other words. ``heads`` int32[n+1]: the tree around the arc.
        ``wanted``: a relation for each word 1..n; for ``words``, one that the labeller knows.
        """
        found = np.zeros((len(heads),) * 2)
        for word in words:
            column = self.relations.index(wanted[word - 1])
            for head in set(range(len(heads))) - {word}:
                other = heads.copy()
                other[word] = head
                chance = self.chances(encoded, other)[word, column]
                found[head, word] = np.log(max(chance, np.finfo(np.float64).tiny))
        return found

    def label_block(self, block: atoms.EncodedBlock, heads: Heads) -> list[tuple[str, ...]]:
        """Apply :meth:`label` to several sentences; ``heads`` are their trees, concatenated."""
        inside = block.inside
        in_block = np.full(len(inside), NO_HEAD, dtype=np.int32)
        in_block[inside] = np.where(heads == NO_HEAD, NO_HEAD, heads + np.repeat(block.starts, block.sizes))
        at_root = np.zeros(len(inside), dtype=np.bool_)
        at_root[inside] = heads == ROOT
        scores = self.scores(block.words, in_block, inside)
        self._give_root(scores, at_root)
        found = self._best(scores, in_block, block.words.tags)
        places = zip(block.starts.tolist(), block.sizes.tolist(), strict=True)
        return [tuple(found[start + 1 : start + size]) for start, size in places]

    def scores(self, encoded: atoms.EncodedSentence, heads: Heads, inside: Mask | None = None) -> Scores:
        """Return the score of each relation of each word's arc, float64[n+1, L], natural log, as learned."""
        scores = np.empty((len(heads), len(self.relations)))
        features = self.features(encoded, heads, inside)
        # A copy, since numba would compile another version of the kernel for read-only arrays.
        label_features.score_labels(features, heads.copy(), self.weights, scores)
        return scores

    def _give_root(self, scores: Floats, at_root: Mask) -> None:
        if ROOT_RELATION in self.relations and len(self.relations) > 1:
            column = self.relations.index(ROOT_RELATION)
            scores[:, column] = -np.inf
            scores[at_root] = -np.inf
            scores[at_root, column] = 0.0

    def _best(self, scores: Floats, heads: Heads, tags: NDArray[np.uint8]) -> list[str]:
        scores[self._excluded[tags]] = -np.inf
        return self._names.take(np.where(heads >= 0, scores.argmax(axis=1), -1)).tolist()

    @cached_property
    def _excluded(self) -> Mask:
        """The relations that words of each tag cannot have by TAGS_OF: bool[256, R], by number of the tag."""
        excluded = np.zeros((256, len(self.relations)), dtype=np.bool_)
        for column, name in enumerate(map(bare_relation, self.relations)):
            if name in TAGS_OF:
                excluded[: atoms.UNKNOWN_TAG, column] = True
                excluded[[atoms.TAG_NUMBERS[tag] for tag in TAGS_OF[name]], column] = False
        excluded[excluded.all(axis=1)] = False  # few relations may be known
        return excluded

    @cached_property
    def _names(self) -> NDArray[np.object_]:
        return np.array([*self.relations, UNSPECIFIED], dtype=np.object_)

    @classmethod
    def from_archive(
        cls, header: dict[str, Any], arrays: Arrays, ignored: tuple[str, ...] = ()
    ) -> "Labeller":
        return cls(*cls.fields_from(header, arrays), ignored)


def relations_in(sentences: Iterable[Sentence]) -> set[str]:
    words = (pair for one in sentences for pair in zip(one.deprels, one.heads[1:], strict=True))
    return {relation for relation, head in words if relation != UNSPECIFIED and head >= 0}


def train_labeller(
    sentences: Sequence[Sentence],
    *,
    rng: Rng,
    template_set: str,
    epochs: int = LABEL_EPOCHS,
    start: Labeller | None = None,
    ignored: tuple[str, ...] = (),
) -> Labeller | None:
    """Train on every word that has a head and a relation; return None when there is none.

    ``start``: its templates, relations and ignored columns are kept; see :func:`with_relations` for new ones.
    """
    found = relations_in(sentences)
    if not found and start is None:
        notice("no word with a head has a relation, so none is learned: the parser writes root and dep")
        return None
    first = with_relations(start, found) if start else untrained(template_set, found, ignored=ignored)
    names = first.relations
    examples = [(first.encode_tree(one), one.heads, known_relations(one, names)) for one in sentences]
    trainer = label_trainer(first, label_features.step_labels)
    return learn(trainer, examples, epochs=epochs, rng=rng, description="training labels")[0]


def unlabelled(heads: Heads) -> tuple[str, ...]:
    return tuple(ROOT_RELATION if head == ROOT else "dep" for head in heads[1:].tolist())


def known_relations(sentence: Sentence, relations: Sequence[str]) -> Numbers:
    """Return the number of each word's relation, int32[n+1], -1 for the root and unknown ones."""
    numbers = {relation: number for number, relation in enumerate(relations)}
    return np.array([-1, *(numbers.get(relation, -1) for relation in sentence.deprels)], dtype=np.int32)


def untrained(template_set: str, relations: Iterable[str], *, ignored: tuple[str, ...] = ()) -> Labeller:
    ordered = tuple(sorted(relations))
    weights = np.zeros((1 << HASH_BITS, len(ordered)), dtype=np.float32)
    return Labeller(template_set, ordered, weights, ignored)


def with_relations(labeller: Labeller, relations: Iterable[str]) -> Labeller:
    """Add relations, each from that without subtype, else from the mean: zeros could win everywhere."""
    ordered = tuple(sorted({*labeller.relations, *relations}))
    weights = np.repeat(labeller.weights.mean(axis=1, keepdims=True), len(ordered), axis=1)
    known = {relation: number for number, relation in enumerate(labeller.relations)}
    for column, relation in enumerate(ordered):
        like = known.get(relation, known.get(bare_relation(relation)))
        if like is not None:
            weights[:, column] = labeller.weights[:, like]
    return replace(labeller, relations=ordered, weights=weights)


LabelExample = tuple[atoms.EncodedSentence, Heads, NDArray[Any]]


def label_trainer(start: Labeller, kernel: Callable[..., float]) -> Steps[LabelExample, Labeller]:
    """Return a trainer by steps of ``kernel``, a function of ``label_features``."""
    descent = RowAdaGrad(start.weights.copy(), rate=RATE)

    def step(example: LabelExample) -> float:
        encoded, heads, known = example
        return descent.step(kernel, start.hashed(encoded), heads, known)

    return Steps(step, lambda: replace(start, weights=descent.mean()))


def start_residual(prior: Labeller | None, template_set: str, relations: Iterable[str]) -> Labeller:
    """Return the prior's labeller, or an untrained one, with templates that add features to the prior's."""
    if prior is None:
        return untrained(f"{template_set}{arc_templates.IN_TREE}", relations)
    in_tree = arc_templates.IN_TREE if prior.template_set.endswith(arc_templates.IN_TREE) else ""
    return replace(with_relations(prior, relations), template_set=f"{template_set}{in_tree}")


def train_on_evidence(start: Labeller, examples: Sequence[LabelExample], *, rng: Rng) -> Labeller:
    """Train on encoded trees, their heads, and log-likelihood ratios of their relations float64[n+1, L]."""
    trainer = label_trainer(start, label_features.step_label_evidence)
    return learn(trainer, examples, epochs=EVIDENCE_EPOCHS, rng=rng, description="training labels")[0]
