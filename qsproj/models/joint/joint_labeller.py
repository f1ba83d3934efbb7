"""Relations of a target tree, with the source's relations as evidence: parallel arcs often share theirs.

A *sense* of a word is a source word that it may be linked to, in one of the configurations of
quasi-synchronous grammar: the relation, in the source tree, of that word to the one linked to the head.
Once both trees are known, the relation of each arc is a variable of its own, and the sum is exact::

    p(relation)  ~  exp(scale * score) * (chance of no sense + sum over senses and their relations r of
                                          chance * p(r) * exp(weights[configuration, r, tag, relation]))

*Source*: thesis 4.3 for senses and configurations, 4.7.2.3 for the corresponding factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT, Floats, Heads, Numbers, Scores
from qsproj.corpus.cells import UNIVERSAL_TAGS, bare_relation
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc import labeller
from qsproj.models.joint.joint_graph import JointBeliefs, PreparedPair
from qsproj.models.joint.joint_structure import JointStructure
from qsproj.models.joint.joint_trees import TreeParser, relation_chances
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Archive, Arrays, check_cells, checked, labels, number
from qsproj.training.choices import LEAST_SCALE, SenseRows, SenseWeights

# Families that require an arc between the target words, then all other links. Model files have rows of a
# table for these, in this order: a family added later counts among the other links.
ARC_FAMILIES = ("MONO", "SWAP", "TDOUBLE", "SGRAND", "SSIB")
LINKED = "LINKED"
CONFIGURATIONS = (*ARC_FAMILIES, LINKED)
LEAST_CHANCE = 1e-3  # senses below this probability are left out
# Initial score, natural log, of a target relation given the same source relation; half of it where they
# differ in subtypes. With 100 trees of LinES, dev LAS: 72.0 with 0, 72.2 with 4.
SAME = 2.0
_TAGS = {tag: number for number, tag in enumerate(UNIVERSAL_TAGS)}
_N_TAGS = len(UNIVERSAL_TAGS) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Senses:
    """The source words that the words of a target tree may be linked to."""

    words: Numbers  # int32[E]: target words, ascending
    configurations: NDArray[np.int8]  # int8[E]: indices into CONFIGURATIONS
    # int32[E]: the source word whose relation counts (where the source's arc is turned, SWAP, the head is
    # the dependent)
    sources: Numbers
    chances: Floats  # float64[E]: those of a word sum to at most one; the rest is unlinked


def expected_senses(structure: JointStructure, beliefs: JointBeliefs, target_heads: Heads) -> Senses:
    """Return the senses in a target tree int32[n+1]; chances are expected counts, by their sum if above 1."""
    heads, words, source_heads, sources = structure.words.T
    places = [ARC_FAMILIES.index(name) if name in ARC_FAMILIES else -1 for name in FAMILIES]
    numbers = np.array(places, dtype=np.int8)[structure.families]
    related = np.where(numbers == CONFIGURATIONS.index("SWAP"), source_heads, sources)
    # The root of the source has no relation.
    carried = (numbers >= 0) & (words > 0) & (target_heads[words] == heads) & (related != ROOT)
    fired = np.zeros((len(target_heads), len(structure.source.arcs)))
    np.add.at(fired, (words[carried], sources[carried]), beliefs.factors[carried])
    of_links = structure.links[:, 1], structure.links[:, 0]
    chances = np.concatenate([beliefs.factors[carried], np.maximum(beliefs.links - fired[of_links], 0.0)])
    likely = np.flatnonzero(chances >= LEAST_CHANCE)
    of_words = np.concatenate([words[carried], of_links[0]])[likely]
    order = np.argsort(of_words, kind="stable")
    chosen, of_words = likely[order], of_words[order]
    said = np.bincount(of_words, weights=chances[chosen], minlength=len(target_heads))
    linked = np.full(len(of_links[0]), CONFIGURATIONS.index(LINKED), dtype=np.int8)
    configurations = np.concatenate([numbers[carried], linked])[chosen]
    related = np.concatenate([related[carried], of_links[1]])[chosen]
    return Senses(of_words, configurations, related, chances[chosen] / np.maximum(said, 1.0)[of_words])


@dataclass(frozen=True, slots=True, eq=False)
class JointLabeller:
    """Evidence from source relations for target relations, in the order of the target's labeller."""

    source_relations: tuple[str, ...]
    relations: tuple[str, ...]
    # Rows by configuration; then by it and source relation; then by both and the word's tag.
    table: SenseWeights

    @staticmethod
    def untrained(source_relations: tuple[str, ...], relations: tuple[str, ...]) -> "JointLabeller":
        weights = np.zeros((_n_rows(len(source_relations)), len(relations)), dtype=np.float32)
        likeness = [
            [0.5 * ((one == other) + (bare_relation(one) == bare_relation(other))) for other in relations]
            for one in source_relations
        ]
        first, last = len(CONFIGURATIONS), len(CONFIGURATIONS) * (1 + len(source_relations))
        weights[first:last] = np.tile(SAME * np.array(likeness), (len(CONFIGURATIONS), 1))
        return JointLabeller(source_relations, relations, SenseWeights(weights))

    def with_relations(self, relations: tuple[str, ...]) -> "JointLabeller":
        more = JointLabeller.untrained(self.source_relations, relations)
        kept = [relations.index(relation) for relation in self.relations]
        more.table.weights[:, kept] = self.table.weights
        return replace(more, table=replace(self.table, weights=more.table.weights))

    def of_pair(
        self, source: TreeParser, pair: SentencePair, graph: PreparedPair, beliefs: JointBeliefs, heads: Heads
    ) -> SenseRows:
        """Return the table rows of a pair's senses, given the target's tree int32[n+1]."""
        tree, names = source.inference.best(beliefs.source), self.source_relations
        relations = relation_chances(source, pair.source, tree, names=names, given=graph.source_relations)
        return self.senses(pair.target, expected_senses(graph.structure, beliefs, heads), relations)

    def senses(self, sentence: Sentence, found: Senses, source_relations: Scores) -> SenseRows:
        """Return the table rows of a sentence's senses; ``source_relations`` float64[m+1, R]: chances."""
        chances = found.chances[:, None] * source_relations[found.sources]
        senses, relations = np.nonzero(chances >= LEAST_CHANCE)
        words = found.words[senses]
        tags = np.array([_TAGS.get(tag, _N_TAGS - 1) for tag in ("", *sentence.upos)])
        configurations, size = len(CONFIGURATIONS), len(self.source_relations)
        plain = found.configurations[senses].astype(np.int64)
        related = plain * size + relations
        tagged = related * _N_TAGS + tags[words]
        rows = [plain, configurations + related, configurations * (1 + size) + tagged]
        return SenseRows(words, chances[senses, relations], np.stack(rows, axis=1).astype(np.int32))

    def to_archive(self) -> Archive:
        header = {"source_relations": list(self.source_relations), "relations": list(self.relations)}
        return {**header, "scale": self.table.scale}, packed_weights("", self.table.weights)

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "JointLabeller":
        checks = {"source_relations": labels(1), "relations": labels(1), "scale": number(LEAST_SCALE)}
        checked(header, checks)
        source_relations, relations = tuple(header["source_relations"]), tuple(header["relations"])
        rows = _n_rows(len(source_relations))
        check_cells(rows, len(relations))
        weights = unpack_weights("", arrays, np.zeros((rows, len(relations)), dtype=np.float32))
        return JointLabeller(source_relations, relations, SenseWeights(weights, header["scale"]))


def _n_rows(n_source_relations: int) -> int:
    return len(CONFIGURATIONS) * (1 + n_source_relations * (1 + _N_TAGS))


def known_relations(relations: Sequence[str], sentence: Sentence, heads: Heads) -> Numbers:
    """Return indices in ``relations``, int32[n+1]; -1 at heads other than ``heads`` int32[n+1], and roots."""
    known = labeller.known_relations(sentence, relations)
    known[heads != sentence.heads] = -1
    if labeller.ROOT_RELATION in relations:
        known[heads == ROOT] = -1
    return known
