"""Enhanced dependencies: the edges of a tree beside its arcs, the enhanced relations of arcs, and a parser.

An edge is described by the path between its ends in the tree: the number of steps up from the dependent and
down to the head, and the relations of the arcs on it. Its relation is stored as a pattern, which the sentence
fills in: ``{0}`` and ``{1}`` are the relations of the dependent and of the word above it, ``{case}`` its case
marker, so that ``nmod:of`` is ``{0}:{case}``; from a relative clause to its antecedent, ``{rel}`` is the
relation of the relative pronoun. A log-linear model that reads the tree chooses none or one of the patterns
seen on such a path. A word that no edges lead to from the root keeps its arc of the tree.

*Source*: thesis 5.1.3 proposes links M beside those of the tree, which exclude each other on a pair of words.
Here the tree is decoded before, and M is tied to pairs of arcs by features of the path between the two words,
in place of factors over undecided arcs; the probabilities of these arcs count, too.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any
from unicodedata import category

import numpy as np

from qsproj.conventions import ROOT, Hashes, Rng, Scores, Weights
from qsproj.corpus.cells import UNSPECIFIED, bare_relation
from qsproj.corpus.characters import lower_letters
from qsproj.corpus.editing import EDGE_PROBABILITY, graph_of, has_graph, with_graph, with_misc
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.token import Edge
from qsproj.errors import NothingToLearnError
from qsproj.features.hashing import hashes_of
from qsproj.kernels.tagging.analyses import script_scores
from qsproj.models.constraints import Given
from qsproj.models.packing import joined, packed_weights, unpack_weights
from qsproj.models.parser import BLOCK, KnownPart, Parser, Wrapper, parser_in
from qsproj.models.schema import Archive, Arrays, anything, checked, flag, one_of, word_lists
from qsproj.models.storage import KINDS, described, kind_of
from qsproj.training.choices import Choice, ChoiceTrainer, shift_of
from qsproj.training.loop import learn

# Steps up and down of the paths of edges: nearly all of those in English, Swedish, Dutch, Czech.
PATHS = ((1, 0), (2, 0), (1, 1), (0, 1), (1, 2), (0, 2), (3, 0), (2, 1))
BASIC = PATHS[0]
MARKERS = ("case", "mark", "cc")  # markers that are part of a relation
RELATIVE, OF_WORDS = "{rel}", ("{rel}", "{0}", "{1}")  # parts of patterns that are relations of words
CONTENT_TAGS = ("ADJ", "NOUN", "VERB")
NONE = ""  # the pattern of a candidate without an edge
HASH_BITS = 20
# Patterns that training saw less often on a path of the same relations are exceptions.
LEAST_SEEN = 2
EPOCHS, RATE = 5, 0.2
FAINT = 0.01  # weights below this are dropped
LIKELY = 0.4  # of an edge and the tree arcs on its path together; chosen on English-EWT dev


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of words: the dependent, the head, and the words on the path between them."""

    dependent: int
    head: int
    way: tuple[int, int]
    passed: tuple[int, ...]  # from the dependent to the head, both left out


@dataclass(frozen=True, eq=False)
class Tree:
    """A parsed sentence from which edges are derived; words are 1..n."""

    sentence: Sentence

    @cached_property
    def heads(self) -> list[int]:
        return [int(head) for head in self.sentence.heads]

    @cached_property
    def children(self) -> list[list[int]]:
        children: list[list[int]] = [[] for _ in self.heads]
        for word, head in enumerate(self.heads):
            if head >= ROOT:
                children[head].append(word)
        return children

    @cached_property
    def bare(self) -> list[str]:
        return ["", *map(bare_relation, self.sentence.deprels)]

    def relation(self, word: int) -> str:
        return self.sentence.deprels[word - 1] if word else ""

    def lemma(self, word: int) -> str:
        lemma = self.sentence.lemmas[word - 1]
        return lower_letters(self.sentence.forms[word - 1] if lemma == UNSPECIFIED else lemma)

    def feature(self, word: int, name: str) -> str:
        pairs = (pair.partition("=") for pair in self.sentence.feats[word - 1].split("|")) if word else ()
        return next((value.lower() for key, _, value in pairs if key == name), "")

    def marker(self, word: int, relation: str) -> str:
        """Return a word's first dependent by this relation with its fixed dependents.

        Adjectives, nouns and verbs are forms, others lemmas: *according to*, not *accord to*. Empty where a
        word has other characters than letters, which validators of UD do not allow.
        """
        child = next((one for one in self.children[word] if self.bare[one] == relation), None)
        if child is None:
            return ""
        fixed = [other for other in self.children[child] if self.relation(other) == "fixed"]
        marker = "_".join(
            lower_letters(self.sentence.forms[one - 1])
            if self.sentence.upos[one - 1] in CONTENT_TAGS
            else self.lemma(one)
            for one in (child, *fixed)
        )
        letters = marker.replace("_", "")
        return marker if letters and all(category(letter)[0] in "LM" for letter in letters) else ""

    @cached_property
    def relatives(self) -> list[int]:
        """The first dependent of each word that is a relative pronoun, determiner or adverb, or 0."""
        own = ["rel" in self.feature(word, "PronType").split(",") for word in range(len(self.heads))]
        return [next(filter(own.__getitem__, row), 0) for row in self.children]

    def conjunction(self, word: int) -> str:
        own = self.marker(word, "cc")
        if own or not word:
            return own
        row = [one for one in self.children[self.heads[word]] if one > word and self.bare[one] == "conj"]
        return next(filter(None, (self.marker(one, "cc") for one in row)), "")

    @cached_property
    def parts(self) -> list[dict[str, str]]:
        """The markers and the case of each word, by their names in patterns."""
        marked = [{name: self.marker(w, name) for name in MARKERS} for w in range(len(self.heads))]
        more = [{"cc": self.conjunction(w), "Case": self.feature(w, "Case")} for w in range(len(self.heads))]
        return [own | more[word] for word, own in enumerate(marked)]

    @cached_property
    def below(self) -> list[list[tuple[str, bool]]]:
        """The distinct relations of the dependents of each word, and whether these come before it."""
        return [sorted({(self.relation(c), c < at) for c in row}) for at, row in enumerate(self.children)]

    def candidates(self) -> Iterator[Candidate]:
        for word in range(1, len(self.heads)):
            above = [word]
            for up in range(4):
                for way in (one for one in PATHS if one[0] == up):
                    yield from self._down(above, way)
                if self.heads[above[-1]] < ROOT:
                    break
                above.append(self.heads[above[-1]])

    def _down(self, above: list[int], way: tuple[int, int]) -> Iterator[Candidate]:
        paths = [[above[-1]]]
        for _ in range(way[1]):
            before = above[-2:-1]
            further = ((path, child) for path in paths for child in self.children[path[-1]])
            paths = [[*path, child] for path, child in further if len(path) > 1 or [child] != before]
        for path in paths:
            if way[1] == 0 or path[-1] != ROOT:
                yield Candidate(above[0], path[-1], way, (*above[1:], *path[1:])[:-1])

    def signature(self, one: Candidate, *, with_top: bool = False) -> str:
        """Return the path of a candidate and the relations of its arcs; of a tree arc its relation alone.

        ``with_top``: also the relation of the topmost word, whose arc is not on the path.
        """
        if one.way == BASIC:
            return self.bare[one.dependent]
        passed = [self.bare[word] for word in (one.dependent, *one.passed, one.head)]
        if not with_top:
            passed[one.way[0]] = "*"
        return f"{one.way[0]}{one.way[1]} {','.join(passed)}"

    def filling(self, one: Candidate) -> Mapping[str, str]:
        """Return the parts of patterns by name, those of the dependent and of the word above it.

        Below an antecedent, these are the relation and the markers of the relative pronoun.
        """
        if one.way[0] == 0:
            word = self.relatives[one.head]
            filled, words = {RELATIVE: self.relation(word)}, {"": word}
        else:
            above = max(self.heads[one.dependent], ROOT)
            filled = {"{0}": self.relation(one.dependent), "{1}": self.relation(above)}
            words = {"": one.dependent, "1": above}
        for name, word in words.items():
            filled |= {f"{{{part}{name}}}": value for part, value in self.parts[word].items()}
        return {part: value for part, value in filled.items() if value}


def pattern_of(relation: str, filling: Mapping[str, str]) -> str:
    """Return the pattern of a relation: first that of a word, then markers, else the literal text."""
    first, *rest = relation.split(":")
    of_words = ((whole, filling[whole]) for whole in OF_WORDS if whole in filling)
    if found := next((one for one in of_words if f"{relation}:".startswith(f"{one[1]}:")), None):
        first, rest = found[0], relation[len(found[1]) :].split(":")[1:]
    parts = {value: part for part, value in reversed(list(filling.items())) if part not in OF_WORDS}
    return ":".join([first, *(parts.get(part, part) for part in rest)])


def filled(pattern: str, filling: Mapping[str, str]) -> str | None:
    """Return the relation of a pattern; None where the sentence lacks a part of it."""
    parts = [filling.get(part) if part.startswith("{") else part for part in pattern.split(":")]
    return None if None in parts else ":".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Enhancer:
    """Predictor of graphs: ``patterns`` by signature, and log-linear ``weights`` float32[2**HASH_BITS].

    ``with_top``: signatures name the relation of the topmost word, as in models of older builds.
    """

    patterns: Mapping[str, tuple[str, ...]]
    weights: Weights = field(repr=False)
    with_top: bool = False

    def graph(
        self, sentence: Sentence, arcs: Callable[[], Scores] | None = None, *, confidence: bool = False
    ) -> tuple[list[list[Edge]], list[list[float]]]:
        """Return the edges into each word, by head, and the probability of each.

        ``arcs`` returns the probability of each arc, float64[n+1, n+1]; it is called once, if edges beside
        the tree, or with ``confidence`` any edges, need it. Other probabilities are those given the tree.
        """
        tree, asked = Tree(sentence), None if arcs is None else cache(arcs)
        found: list[list[tuple[int, str, float]]] = [[] for _ in sentence.forms]
        for one in tree.candidates():
            relation, chance = self._decided(tree, one)
            if relation and asked and (confidence or one.way != BASIC):
                # All words on the path but the highest are below an arc of it.
                path = enumerate((one.dependent, *one.passed, one.head))
                chance *= np.prod([asked()[tree.heads[word], word] for at, word in path if at != one.way[0]])
            if relation and (one.way == BASIC or asked is None or chance > LIKELY):
                found[one.dependent - 1].append((one.head, relation, chance))
        for word in _lost(found, tree.heads):
            chance = float(asked()[tree.heads[word], word]) if asked and confidence else 0.0
            found[word - 1].append((tree.heads[word], tree.relation(word), chance))
        for own in found:
            own.sort(key=lambda edge: edge[0])
        edges = [[(str(head), relation) for head, relation, _ in own] for own in found]
        return edges, [[chance for _, _, chance in own] for own in found]

    def _decided(self, tree: Tree, one: Candidate) -> tuple[str, float]:
        way = tree.signature(one, with_top=self.with_top)
        patterns = self.patterns.get(way, ("{0}",) if one.way == BASIC else ())
        filling = tree.filling(one) if patterns else {}
        relations = ((pattern, filled(pattern, filling)) for pattern in patterns)
        found = {pattern: relation for pattern, relation in relations if relation is not None}
        if len(found) < 2:
            return next(iter(found.values()), ""), 1.0
        scores = np.empty(len(found))
        script_scores(*_inputs(tree, one, way, filling, found), self.weights, shift_of(self.weights), scores)
        best = int(scores.argmax())
        return list(found.values())[best], float(1.0 / np.exp(scores - scores[best]).sum())

    def to_archive(self) -> Archive:
        patterns = {name: list(own) for name, own in self.patterns.items()}
        return {"patterns": patterns, "with_top": self.with_top}, packed_weights("enhanced_", self.weights)

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "Enhancer":
        header = {"with_top": True, **header}
        checked(header, {"patterns": word_lists, "with_top": flag})
        weights = unpack_weights("enhanced_", arrays, np.zeros(1 << HASH_BITS, dtype=np.float32))
        patterns = {name: tuple(own) for name, own in header["patterns"].items()}
        return Enhancer(patterns, weights, header["with_top"])


@dataclass(frozen=True)
class EnhancedParser(Wrapper[Parser]):
    """A parser that also writes DEPS; empty nodes stay, but lose their edges to words."""

    base: Parser
    enhancer: Enhancer

    block = BLOCK
    parse_all = Parser.parse_all

    def parsed_block(
        self, sentences: list[Sentence], given: list[Given], *, decode: str, confidence: bool
    ) -> Iterator[Sentence]:
        """Parse sentences with tree and DEPS; with ``confidence``, their ``DepsProb=`` in MISC."""
        parts = iter([own for own in given if own is not None])
        known: KnownPart | None = None if None in given else lambda _: next(parts)
        parsed = self.base.parse_all(sentences, decode=decode, confidence=confidence, known=known)
        for one, own in zip(parsed, given, strict=True):
            yield self.enhanced(one, confidence=confidence, arcs=partial(self._arcs, one, own))

    def _arcs(self, sentence: Sentence, given: Given) -> Scores:
        return self.base.posterior(sentence, given).marginals

    def enhanced(
        self, sentence: Sentence, *, confidence: bool = False, arcs: Callable[[], Scores] | None = None
    ) -> Sentence:
        graph, chances = self.enhancer.graph(sentence, arcs, confidence=confidence)
        found = with_graph(sentence, graph)
        if confidence:
            found = with_misc(
                found, EDGE_PROBABILITY, [",".join(f"{own:.4f}" for own in row) for row in chances]
            )
        return found

    def to_archive(self) -> Archive:
        header, arrays = joined({"parser": ("parser_", self.base), "enhancer": ("", self.enhancer)})
        return header | {"parser": {"kind": kind_of(self.base), "model": header["parser"]}}, arrays

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        part = header["parser"]
        return {"enhanced": "DEPS", "parser": described(part["kind"], part["model"])}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "EnhancedParser":
        checked(header, {"parser": anything, "enhancer": anything})
        part = checked(header["parser"], {"kind": one_of(KINDS), "model": anything})
        parser = parser_in(part["kind"], part["model"], arrays, "parser_")
        return EnhancedParser(parser, Enhancer.from_archive(header["enhancer"], arrays))


def train_enhancer(sentences: Sequence[Sentence], *, rng: Rng) -> Enhancer:
    """Train on sentences with DEPS, edges from empty nodes left out; else NothingToLearnError."""
    check_enhanced(sentences)
    trees = [Tree(one) for one in sentences if has_graph(one)]
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for one, pattern, _ in _known(tree):
            seen[tree.signature(one)][pattern] += 1
    patterns = {}
    for signature, counts in sorted(seen.items()):
        frequent = tuple(sorted(own for own, count in counts.items() if count >= LEAST_SEEN))
        if frequent not in ((), (NONE,)):
            patterns[signature] = frequent
    choices: list[Choice] = []
    for tree in trees:
        for one, pattern, filling in _known(tree):
            way = tree.signature(one)
            own = patterns.get(way, ())
            if pattern not in own:
                continue
            filler = filling or tree.filling(one)
            options = [other for other in own if filled(other, filler) is not None]
            if len(options) > 1:
                choices.append((*_inputs(tree, one, way, filler, options), options.index(pattern)))
    trainer = ChoiceTrainer(1 << HASH_BITS, rate=RATE, faint=FAINT)
    what = "learning edges"
    weights, _ = learn(trainer, choices, epochs=EPOCHS, rng=rng, patience=None, description=what)
    return Enhancer(patterns, weights)


def check_enhanced(sentences: Iterable[Sentence]) -> None:
    if not any(map(has_graph, sentences)):
        raise NothingToLearnError("no sentence has enhanced dependencies; is the DEPS column empty?")


def _known(tree: Tree) -> Iterator[tuple[Candidate, str, Mapping[str, str]]]:
    graph = enumerate(graph_of(tree.sentence), start=1)
    relations = {(word, head): relation for word, edges in graph for head, relation in edges}
    for one in tree.candidates():
        relation = relations.get((one.dependent, str(one.head)))
        filling = tree.filling(one) if relation or one.way == BASIC else {}
        yield one, NONE if relation is None else pattern_of(relation, filling), filling


def _inputs(
    tree: Tree, one: Candidate, way: str, filling: Mapping[str, str], options: Collection[str]
) -> tuple[Hashes, Hashes, Hashes]:
    """Return the hashed features of a candidate, and its patterns, which have no features of their own."""
    nothing: Hashes = np.broadcast_to(np.uint64(0), (len(options), 1))
    return hashes_of(_features(tree, one, way, filling)), hashes_of(options), nothing


def _features(tree: Tree, one: Candidate, way: str, filling: Mapping[str, str]) -> Iterator[str]:
    upos, dependent, head = tree.sentence.upos, one.dependent, one.head
    tags = [upos[word - 1] if word else "ROOT" for word in (dependent, *one.passed, head)]
    yield way
    yield f"{way} tags {' '.join(tags)}"
    pronouns = [tree.relatives[word] > 0 for word in (*one.passed[-1:], head)]
    yield f"{way} relative {'rel' in tree.feature(dependent, 'PronType')} {pronouns}"
    yield f"{one.way} {[tree.relation(word) for word in (dependent, *one.passed, head)]}"
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
        relations = list(dict.fromkeys(relation for relation, _ in tree.below[word]))
        yield from (f"{way} {name} has {relation}" for relation in relations)
        early = any("subj" in relation and before for relation, before in tree.below[word])
        yield f"{way} {name} subject {any('subj' in relation for relation in relations)}"
        yield f"{way} {name} subject before {early}"
        yield f"{way} {name} object {'obj' in relations} {'obl' in relations}"


def _lost(found: Sequence[Sequence[tuple[int, str, float]]], heads: Sequence[int]) -> Iterator[int]:
    reached = {ROOT}
    below: dict[int, list[int]] = defaultdict(list)
    for word, own in enumerate(found, start=1):
        for head, _, _ in own:
            below[head].append(word)
    new = [ROOT]
    while True:
        while new:
            further = [word for word in below[new.pop()] if word not in reached]
            reached.update(further)
            new += further
        lost = next((w for w in range(1, len(heads)) if w not in reached and heads[w] in reached), None)
        if lost is None:
            return
        yield lost
        reached.add(lost)
        new = [lost]
