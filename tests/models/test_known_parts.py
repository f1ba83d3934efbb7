"""Every kind of parser given a known part of the tree: heads, relations, tags and spans.

Known heads, relations, tags and spans are drawn at random. What a parser returns must be a tree of the model
that has them, by itself: nothing is put back. It is the same with and without probabilities, in blocks and
singly; where inference is exact, it is the best such tree of all, and probabilities are sums over them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.cells import bare_relation
from qsproj.corpus.editing import graph_of, misc_values, with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, UsageError, WrongTypeError
from qsproj.models.constraints import Constraints
from qsproj.models.dmv.dmv import PARSING_FLOOR
from qsproj.models.parser import Parser
from qsproj.models.storage import KINDS, load_model
from qsproj.models.tree_decoder import TreeDecoder
from tests.oracles import dmv as valence
from tests.oracles.trees import all_trees, is_projective, is_tree

PARSERS = sorted(set(KINDS) - {"converter", "link-chooser", "tagger"})
DECODERS = {kind: ("mbr", "map") for kind in PARSERS} | {
    "cluster-parser": ("mbr", "map", "max-z"),
    "tagging-parser": ("mbr",),
}
WORDS = (
    ("the", "DET"), ("dog", "NOUN"), ("sees", "VERB"), ("a", "DET"), ("cat", "NOUN"), ("quickly", "ADV"),
    ("I", "PRON"), ("old", "ADJ"), (".", "PUNCT"), (",", "PUNCT"), ("in", "ADP"), ("sleeps", "VERB"),
)  # fmt: skip
CASES = 20


def kept(kind):
    return load_model(f"tests/kept_models/{kind}.model")


def inference_of(parser):
    """Return whether trees are projective, and whether they have one root; of grammars both."""
    for layer in [getattr(parser, "converter", parser), *parser.layers()]:
        if hasattr(layer, "inference"):
            return layer.inference.projective, layer.inference.single_root
    return True, True


def drawn_sentence(rng, n):
    words = [WORDS[place] for place in rng.integers(len(WORDS), size=n)]
    return Sentence.from_words([form for form, _ in words], upos=[tag for _, tag in words])


def drawn(rng, kind, parser, *, n=None, relations=True):
    """Return a sentence, and constraints that some tree of the model has."""
    n = n or int(rng.integers(2, 6))
    sentence = drawn_sentence(rng, n)
    projective, single_root = inference_of(parser)
    trees = all_trees(n, projective=projective, single_root=single_root)
    tree = trees[rng.integers(len(trees))]
    known = rng.random(n + 1) < 0.4
    heads = np.where(known, tree, -1).astype(np.int32)
    heads[0] = -1
    spans = []
    for _ in range(2):
        first, last = sorted(rng.integers(1, n + 1, size=2).tolist())
        if last > first and len(entering(tree, first, last)) == 1 and rng.random() < 0.6:
            spans.append((first, last))
    names = ["_"] * n
    if relations:
        inventory = relations_of(parser)
        for word in range(1, n + 1):
            if rng.random() < 0.3 and tree[word] != 0:
                names[word - 1] = str(rng.choice([*inventory, "strange"]))
    tags = ["_"] * n
    if kind == "tagging-parser":
        own = parser.tagger.tags
        tags = [str(rng.choice(own)) if rng.random() < 0.4 else "_" for _ in range(n)]
    given = Constraints(heads=heads, relations=tuple(names), tags=tuple(tags), spans=tuple(spans))
    return sentence, given


def relations_of(parser):
    for layer in parser.layers():
        labeller = getattr(layer, "labeller", None)
        if labeller is not None and hasattr(labeller, "relations"):
            return [name for name in labeller.relations if not name.startswith("root")]
    return ["dep"]


def entering(tree, first, last):
    return [word for word in range(first, last + 1) if not first <= tree[word] <= last]


def satisfies(tree, given):
    return all(known in (-1, head) for known, head in zip(given.heads[1:], tree[1:], strict=True)) and all(
        len(entering(tree, *span)) == 1 for span in given.spans
    )


def check(parser, parsed, given):
    """Check that a tree is one of the model, and has what is known."""
    tree = parsed.heads.tolist()
    projective, single_root = inference_of(parser)
    assert is_tree(tree)
    assert not projective or is_projective(tree)
    assert not single_root or tree.count(0) == 1
    assert satisfies(tree, given)
    assert all(own in ("_", name) for own, name in zip(given.relations, parsed.deprels, strict=True))
    assert all(own in ("_", name) for own, name in zip(given.tags, parsed.upos, strict=True))


@pytest.mark.parametrize("kind", PARSERS)
def test_a_parsed_sentence_has_what_is_known_of_it(kind):
    parser, rng = kept(kind), np.random.default_rng(1)
    cases = [drawn(rng, kind, parser) for _ in range(CASES)]
    sentences = [sentence for sentence, _ in cases]
    for decode in DECODERS[kind]:
        singly = [parser.parse(one, decode=decode, given=given) for one, given in cases]
        sure = [parser.parse(one, decode=decode, given=given, confidence=True) for one, given in cases]
        parts = iter([given for _, given in cases])
        blocks = list(parser.parse_all(sentences, decode=decode, known=lambda _, parts=parts: next(parts)))
        for (_, given), alone, with_chances, among in zip(cases, singly, sure, blocks, strict=True):
            check(parser, alone, given)
            for other in (with_chances, among):
                np.testing.assert_array_equal(other.heads, alone.heads)
                assert other.deprels == alone.deprels
                assert graph_of(other) == graph_of(alone)


SHAPED = ("arc-parser", "cluster-parser", "graph-parser", "labelled-parser", "tagging-parser")
FAMILIES = (None, ("grand",), ("childseq", "valence"))


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", SHAPED)
def test_trees_of_every_shape_have_what_is_known(kind, projective, single_root):
    """Trees whose arcs may cross, or that have several roots; of the second order by each set of factors."""
    inference = TreeDecoder(projective=projective, single_root=single_root)
    parser, rng = kept(kind), np.random.default_rng(9)
    if kind in ("graph-parser", "tagging-parser"):
        parser = replace(parser, base=replace(parser.base, inference=inference))
    else:
        parser = replace(parser, inference=inference)
    for number in range(CASES // 2):
        if kind == "graph-parser":
            families = FAMILIES[number % len(FAMILIES)]
            parser = replace(parser, options=replace(parser.options, families=families))
        sentence, given = drawn(rng, kind, parser)
        for decode in DECODERS[kind]:
            parsed = parser.parse(sentence, decode=decode, given=given)
            check(parser, parsed, given)
            sure = parser.parse(sentence, decode=decode, given=given, confidence=True)
            np.testing.assert_array_equal(parsed.heads, sure.heads)


def test_enhanced_dependencies_have_the_known_relations():
    parser, rng, seen = kept("enhanced-parser"), np.random.default_rng(10), 0
    for _ in range(CASES):
        sentence, given = drawn(rng, "enhanced-parser", parser)
        parsed = parser.parse(sentence, given=given)
        for word, name in enumerate(given.relations, start=1):
            edges = dict(graph_of(parsed)[word - 1])
            if name != "_" and str(parsed.heads[word]) in edges:
                assert bare_relation(edges[str(parsed.heads[word])]) == bare_relation(name)
                seen += 1
    assert seen > CASES // 2


@pytest.mark.parametrize("kind", PARSERS)
def test_probabilities_are_those_of_trees_that_have_what_is_known(kind):
    parser, rng = kept(kind), np.random.default_rng(2)
    for _ in range(CASES // 2):
        sentence, given = drawn(rng, kind, parser)
        chances = parser.posterior(sentence, given).marginals
        np.testing.assert_allclose(chances[:, 1:].sum(axis=0), 1.0, atol=1e-6)
        parsed = parser.parse(sentence, given=given, confidence=True)
        for word, text in enumerate(misc_values(parsed, "ArcProb"), start=1):
            if given.heads[word] != -1:
                assert chances[given.heads[word], word] == pytest.approx(1.0, abs=1e-6)
            if text is not None:
                assert float(text) == pytest.approx(chances[parsed.heads[word], word], abs=2e-3)
                assert float(text) > 0.0 or len(given.spans) > 0


@pytest.mark.parametrize("kind", PARSERS)
def test_nothing_known_changes_nothing(kind):
    parser, rng = kept(kind), np.random.default_rng(3)
    for n in (2, 5, 9):
        sentence = drawn_sentence(rng, n)
        nothing = Constraints(heads=np.full(n + 1, -1, dtype=np.int32), relations=("_",) * n, tags=("_",) * n)
        free = parser.parse(sentence, confidence=True)
        bound = parser.parse(sentence, confidence=True, given=nothing)
        np.testing.assert_array_equal(free.heads, bound.heads)
        assert (free.deprels, free.upos, free.layout) == (bound.deprels, bound.upos, bound.layout)
        np.testing.assert_array_equal(
            parser.posterior(sentence).marginals, parser.posterior(sentence, nothing).marginals
        )


def arc_weights(parser, sentence, given):
    """Return the log weight of a tree by arc scores, at the temperature of decoding and of probabilities."""
    scores = parser.scores(sentence)
    return lambda tree, temperature: (
        sum(scores[tree[word], word] for word in range(1, len(tree))) / temperature
    )


def labelled_weights(parser, sentence, given):
    scores = parser.beliefs(sentence).scores
    names = parser.relations.relations
    arcs = {
        (int(head), int(word)): (scores.arcs[head, word] + scores.relations[place])
        for place, (head, word) in enumerate(zip(scores.heads, scores.dependents, strict=True))
    }

    def weight(tree, temperature, best=False):
        total = 0.0
        for word in range(1, len(tree)):
            own = arcs[tree[word], word] / temperature
            name = given.relations[word - 1]
            if name in names and given.heads[word] == -1:
                least = np.logaddexp.reduce(own) + math.log(np.finfo(np.float64).tiny)
                total += max(own[names.index(name)], least)
            else:
                total += own.max() if best else np.logaddexp.reduce(own)
        return total

    return weight


def grammar_weights(parser, sentence, given):
    grammar = getattr(parser, "base", None) or parser
    tags = [grammar.inventory.index(tag) if tag in grammar.inventory else 0 for tag in sentence.upos]
    root = np.maximum(grammar.parameters.root, PARSING_FLOOR)

    def weight(tree, temperature):
        if grammar.siblings is None:
            floored = grammar.parameters.floored(PARSING_FLOOR)
            events = valence.events(tags, tree)
            return sum(
                math.log(valence.probability(event, floored.stop, floored.child, floored.root))
                for event in events
            )
        stops = np.clip(grammar.siblings.sibling_stop, PARSING_FLOOR, 1.0 - PARSING_FLOOR)
        children = np.maximum(grammar.siblings.sibling_child, PARSING_FLOOR)
        total = math.log(root[tags[tree.index(0, 1) - 1]])
        for head in range(1, len(tree)):
            for side, words in enumerate((range(head - 1, 0, -1), range(head + 1, len(tree)))):
                own, last = tags[head - 1], len(grammar.inventory)
                for word in words:
                    if tree[word] == head:
                        dependent = tags[word - 1]
                        total += math.log((1 - stops[own, side, last]) * children[own, side, last, dependent])
                        last = dependent
                total += math.log(stops[own, side, last])
        return total

    return weight


def whole(parser):
    """Return a labelled parser that prunes nothing, a grammar that strips nothing: all trees are there."""
    return replace(parser, least=0.0) if hasattr(parser, "least") else parser


EXACT = {
    "arc-parser": arc_weights,
    "cluster-parser": arc_weights,
    "labelled-parser": labelled_weights,
    "dmv": grammar_weights,
    "qg-dmv": grammar_weights,
}


@pytest.mark.parametrize("siblings", [True, False])
@pytest.mark.parametrize("kind", sorted(EXACT))
def test_of_exact_models_the_best_tree_of_all_and_its_probabilities(kind, siblings):
    parser, rng = whole(kept(kind)), np.random.default_rng(4)
    grammar = kind in ("dmv", "qg-dmv")
    if grammar:
        own = parser if kind == "dmv" else parser.base
        # Punctuation has a tag here that the grammar generates.
        own = replace(own, punctuation="keep", labeller=None)
        own = own.with_siblings([]) if siblings else replace(own, siblings=None)
        parser = own if kind == "dmv" else parser.over(own)
    elif hasattr(parser, "temperature"):
        # In place of siblings: of these there is one kind of scores.
        parser = replace(parser, temperature=1.0 if siblings else 1.7)
    projective, single_root = inference_of(parser)
    temperature = getattr(parser, "temperature", 1.0)
    for _ in range(CASES):
        sentence, given = drawn(rng, kind, parser, relations=kind == "labelled-parser")
        weight = EXACT[kind](parser, sentence, given)
        trees = all_trees(len(sentence), projective=projective, single_root=single_root)
        fitting = [tree for tree in trees if satisfies(tree, given)]
        logs = np.array([weight(tree, temperature) for tree in fitting])
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        chances = np.zeros((len(sentence) + 1,) * 2)
        for tree, share in zip(fitting, shares, strict=True):
            for word in range(1, len(tree)):
                chances[tree[word], word] += share
        found = parser.posterior(sentence, given).marginals
        np.testing.assert_allclose(found[:, 1:], chances[:, 1:], atol=1e-6)
        likeliest = tuple(parser.parse(sentence, decode="map", given=given).heads.tolist())
        extra = {"best": True} if kind == "labelled-parser" else {}
        best = max(weight(tree, 1.0, **extra) for tree in fitting)
        assert weight(likeliest, 1.0, **extra) == pytest.approx(best, abs=1e-6)
        if temperature == 1.0 and kind != "labelled-parser":
            right = tuple(parser.parse(sentence, given=given).heads.tolist())
            expected = max(sum(chances[tree[word], word] for word in range(1, len(tree))) for tree in fitting)
            own_share = sum(chances[right[word], word] for word in range(1, len(right)))
            assert own_share == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", PARSERS)
def test_all_that_is_known_comes_out(kind):
    """A whole tree is known: it is the tree, with probability 1."""
    parser, rng = kept(kind), np.random.default_rng(5)
    projective, single_root = inference_of(parser)
    trees = all_trees(5, projective=projective, single_root=single_root)
    for _ in range(5):
        sentence = drawn_sentence(rng, 5)
        heads = np.array(trees[rng.integers(len(trees))], dtype=np.int32)
        names = tuple("root" if head == 0 else "strange" for head in heads[1:])
        given = Constraints(heads=heads, relations=names, tags=("_",) * 5)
        parsed = parser.parse(sentence, given=given, confidence=True)
        np.testing.assert_array_equal(parsed.heads, heads)
        assert parsed.deprels == names
        assert {*misc_values(parsed, "ArcProb")} == {"1.0000"}
        assert {*misc_values(parsed, "RelProb")} <= {None, "1.0000"}


@pytest.mark.parametrize("kind", PARSERS)
def test_the_contract_is_whole(kind):
    parser = kept(kind)
    assert isinstance(parser, Parser)
    assert parser.layers()[0] is parser
    assert set(parser.reads) <= {"forms", "upos", "xpos", "lemmas", "feats", "heads", "deprels"}
    assert parser.base is None or isinstance(parser.base, Parser)
    free = parser.allowing_crossings()
    if free is not None:
        given = Constraints(
            heads=np.array([-1, 3, 4, -1, -1], dtype=np.int32), relations=("_",) * 4, tags=("_",) * 4
        )
        sentence = Sentence.from_words(list("abcd"), upos=["NOUN"] * 4)
        with pytest.raises(SentenceError, match="arcs that cross"):
            parser.parse(sentence, given=given)
        assert free.parse(sentence, given=given).heads[1:3].tolist() == [3, 4]


@pytest.mark.parametrize("decode", ["mbr", "map"])
def test_trees_over_several_tag_sequences_have_what_is_known(decode):
    parser, rng = replace(kept("text-parser"), readings=16), np.random.default_rng(8)
    for _ in range(CASES):
        sentence, given = drawn(rng, "text-parser", parser)
        sentence = with_columns(sentence, upos=["_"] * len(sentence))
        parsed = parser.parse(sentence, given=given, decode=decode)
        check(parser, parsed, given)
        sure = parser.parse(sentence, given=given, decode=decode, confidence=True)
        np.testing.assert_array_equal(parsed.heads, sure.heads)
        chances = parser.posterior(sentence, given).marginals
        assert all(chances[head, word] > 1 - 1e-9 for word, head in enumerate(given.heads) if head != -1)


def test_a_converter_reads_whole_trees():
    converter = kept("converter")
    assert "heads" in converter.reads
    sentence = Sentence.from_words(["a"], upos=["X"], heads=[0], deprels=["root"])
    with pytest.raises(UsageError, match="does not accept partial trees"):
        list(converter.parse_all([sentence], known=lambda _: None))


@pytest.mark.parametrize("kind", ["arc-parser", "labelled-parser", "graph-parser", "text-parser", "dmv"])
def test_untagged_sentences_are_taken_among_others(kind):
    parser = kept(kind)
    sentence = with_columns(drawn_sentence(np.random.default_rng(6), 4), upos=["_"] * 4)
    tagged = drawn_sentence(np.random.default_rng(7), 4)
    assert len(list(parser.parse_all([tagged, sentence]))) == 2


def test_a_partial_sentence_is_no_known_part():
    sentence = Sentence.from_words(["a", "b"], upos=["X", "X"], heads=[2, None])
    for given in (sentence, [2, 0], "x"):
        with pytest.raises(WrongTypeError, match=r"as given, expected its known part; .* qsproj.complete"):
            kept("arc-parser").parse(sentence, given=given)
