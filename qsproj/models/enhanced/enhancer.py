"""A model of enhanced dependencies: which edges a tree has beside its arcs, and how its arcs are called.

Each candidate edge (:mod:`qsproj.models.enhanced.edges`) is a variable whose value is none, or one of the
patterns that training saw on such a way, chosen by a log-linear model that reads the tree. Every word can be
reached from the root: where no edges lead to it, its arc of the tree does.

*Source*: thesis 5.1.3 proposes links M beside those of the tree, which exclude each other on a pair of words.
Here the tree is decided before, candidates are few, and M is tied to pairs of arcs by features of the way
between the two words, in place of factors over undecided arcs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import ROOT
from qsproj.corpus.enhanced import Edge, graph_of, has_graph
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError
from qsproj.features.hashing import stable_hash
from qsproj.kernels.tagging.analyses import script_scores
from qsproj.models.enhanced.edges import BASIC, Candidate, Tree, filled, pattern_of
from qsproj.models.packing import packed_weights, unpack_weights
from qsproj.models.schema import Archive, Arrays, checked, word_lists
from qsproj.training.choices import Choice, ChoiceTrainer, shift_of
from qsproj.training.loop import learn

NONE = ""
HASH_BITS = 20
# A pattern that training saw less often on a way of the same relations is an exception.
LEAST_SEEN = 2
EPOCHS, RATE = 5, 0.2
# Weights below this are not kept.
FAINT = 0.01
_NOTHING = np.zeros((1, 1), dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Enhancer:
    """What tells the enhanced graph of a tree.

    ``patterns``: by signature of a candidate the relations that it may have, as patterns; empty: no edge.
    ``weights`` float32[2**HASH_BITS]: natural-log potentials of features with patterns.
    """

    patterns: Mapping[str, tuple[str, ...]]
    weights: NDArray[np.float32] = field(repr=False)

    def graph(self, sentence: Sentence) -> tuple[list[list[Edge]], list[list[float]]]:
        """Return the edges into each word, by head, and the probability of each given the tree."""
        tree = Tree(sentence)
        edges: list[list[Edge]] = [[] for _ in sentence.forms]
        chances: list[list[float]] = [[] for _ in sentence.forms]
        for one in tree.candidates():
            relation, chance = self._decided(tree, one)
            if relation:
                edges[one.dependent - 1].append((str(one.head), relation))
                chances[one.dependent - 1].append(chance)
        for word in _lost(edges, tree.heads):
            edges[word - 1].append((str(tree.heads[word]), tree.relation(word)))
            chances[word - 1].append(0.0)
        for own, of_own in zip(edges, chances, strict=True):
            order = sorted(range(len(own)), key=lambda at: int(own[at][0]))
            own[:], of_own[:] = [own[at] for at in order], [of_own[at] for at in order]
        return edges, chances

    def _decided(self, tree: Tree, one: Candidate) -> tuple[str, float]:
        """Return the likeliest relation of a candidate, empty for no edge, and its probability."""
        way = tree.signature(one)
        patterns = self.patterns.get(way, ("{0}",) if one.way == BASIC else ())
        filling = tree.filling(one) if patterns else {}
        found = {pattern: filled(pattern, filling) for pattern in patterns}
        options = [pattern for pattern in patterns if pattern == NONE or found[pattern] is not None]
        if len(options) < 2:
            return (found[options[0]] or "", 1.0) if options else ("", 1.0)
        scores = np.empty(len(options))
        features = _hashes(_features(tree, one, way, filling)), _hashes(options), _nothing(len(options))
        script_scores(*features, self.weights, shift_of(self.weights), scores)
        best = int(scores.argmax())
        return found[options[best]] or "", float(1.0 / np.exp(scores - scores[best]).sum())

    def to_archive(self) -> Archive:
        patterns = {name: list(own) for name, own in self.patterns.items()}
        return {"patterns": patterns}, packed_weights("enhanced_", self.weights)

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "Enhancer":
        checked(header, {"patterns": word_lists})
        weights = unpack_weights("enhanced_", arrays, np.zeros(1 << HASH_BITS, dtype=np.float32))
        return Enhancer({name: tuple(own) for name, own in header["patterns"].items()}, weights)


def train_enhancer(sentences: Sequence[Sentence], *, rng: np.random.Generator) -> Enhancer:
    """Learn from sentences with trees and DEPS; edges from empty nodes are left out.

    Raises NothingToLearnError when no sentence has DEPS.
    """
    check_enhanced(sentences)
    trees = [Tree(one) for one in sentences if has_graph(one)]
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for one, pattern, _ in _known(tree):
            seen[tree.signature(one)][pattern] += 1
    patterns = {
        signature: tuple(sorted(own for own, count in counts.items() if count >= LEAST_SEEN))
        for signature, counts in sorted(seen.items())
    }
    patterns = {signature: own for signature, own in patterns.items() if own not in ((), (NONE,))}
    choices: list[Choice] = []
    for tree in trees:
        for one, pattern, filling in _known(tree):
            way = tree.signature(one)
            own = patterns.get(way, ())
            if pattern not in own:
                continue
            told = filling or tree.filling(one)
            options = [other for other in own if other == NONE or filled(other, told) is not None]
            if len(options) > 1:
                features, of_options = _hashes(_features(tree, one, way, told)), _hashes(options)
                choices.append((features, of_options, _nothing(len(options)), options.index(pattern)))
    weights, _ = learn(
        ChoiceTrainer(1 << HASH_BITS, rate=RATE, faint=FAINT),
        choices,
        epochs=EPOCHS,
        rng=rng,
        patience=None,
        description="learning edges",
    )
    return Enhancer(patterns, weights)


def check_enhanced(sentences: Iterable[Sentence]) -> None:
    """Raise NothingToLearnError where no sentence has DEPS."""
    if not any(map(has_graph, sentences)):
        raise NothingToLearnError("no sentence has enhanced dependencies; is the DEPS column empty?")


def _known(tree: Tree) -> Iterator[tuple[Candidate, str, Mapping[str, str]]]:
    """Yield the candidates of a sentence with their patterns, empty where there is no edge."""
    relations = {
        (word, head): relation
        for word, edges in enumerate(graph_of(tree.sentence), start=1)
        for head, relation in edges
    }
    for one in tree.candidates():
        relation = relations.get((one.dependent, str(one.head)))
        filling = tree.filling(one) if relation or one.way == BASIC else {}
        yield one, NONE if relation is None else pattern_of(relation, filling), filling


def _features(tree: Tree, one: Candidate, way: str, filling: Mapping[str, str]) -> Iterator[str]:
    """Yield what a pattern is chosen by; ``way`` is the candidate's signature."""
    upos = tree.sentence.upos
    dependent, head = one.dependent, one.head
    tags = [upos[word - 1] if word else "ROOT" for word in (dependent, *one.passed, head)]
    yield way
    yield f"{way} tags {' '.join(tags)}"
    yield f"{way} order {dependent < head} {[dependent < word for word in one.passed]}"
    yield f"{way} parts {' '.join(filling)}"
    for part, value in filling.items():
        yield f"{part} {value}"
        yield f"{way} {part} {value}"
    for name, word in (("d", dependent), ("h", head), *(("p", word) for word in one.passed)):
        if not word:
            continue
        yield f"{way} {name} lemma {tree.lemma(word)}"
        yield f"{name} lemma {tree.lemma(word)}"
        for feature in ("VerbForm", "Voice", "PronType", "Case", "Mood"):
            yield f"{way} {name} {feature} {tree.feature(word, feature)}"
        relations = sorted({tree.relation(child) for child in tree.children[word]})
        for relation in relations:
            yield f"{way} {name} has {relation}"
        before = {tree.relation(child) for child in tree.children[word] if child < word}
        yield f"{way} {name} subject {any('subj' in relation for relation in relations)}"
        yield f"{way} {name} subject before {any('subj' in relation for relation in before)}"
        yield f"{way} {name} object {'obj' in relations} {'obl' in relations}"


def _hashes(features: Iterable[str]) -> NDArray[np.uint64]:
    return np.array([stable_hash(feature) for feature in features], dtype=np.uint64)


def _nothing(options: int) -> NDArray[np.uint64]:
    """Return features of the options themselves: none."""
    return np.broadcast_to(_NOTHING, (options, 1))


def _lost(edges: Sequence[Sequence[Edge]], heads: Sequence[int]) -> Iterator[int]:
    """Yield words that no path from the root reaches, but whose head in the tree one does.

    ``edges`` are looked at again after each, as its arc is added to them.
    """
    reached = {ROOT}
    below: dict[int, list[int]] = defaultdict(list)
    for word, own in enumerate(edges, start=1):
        for head, _ in own:
            below[int(head)].append(word)
    found = [ROOT]
    while True:
        while found:
            new = [word for word in below[found.pop()] if word not in reached]
            reached.update(new)
            found += new
        lost = next((w for w in range(1, len(heads)) if w not in reached and heads[w] in reached), None)
        if lost is None:
            return
        yield lost
        reached.add(lost)
        found = [lost]
