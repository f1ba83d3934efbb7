"""Adaptation features against a slow twin; their gradient against finite differences."""

import itertools

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.features.adaptation_templates import (
    ARC_TEMPLATES,
    COLUMNS,
    GIVEN,
    RELATION_TEMPLATES,
    TURN_TEMPLATES,
    compile_templates,
    encode_source,
    function_words,
)
from qsproj.features.hashing import stable_hash
from qsproj.features.qg_configurations import CONFIGURATION_NAMES, configurations
from qsproj.kernels.adaptation import adaptation_features as kernels
from qsproj.kernels.adaptation.source_paths import (
    MAX_DOWN,
    MAX_UP,
    NONE,
    PAIR,
    path_between,
    turned_trees,
    workspace,
)
from qsproj.kernels.features.sparse_gradient import DONE
from tests.oracles import finite_differences
from tests.oracles.source_paths import features_of, node_value, path

HASH_BITS = 24
TAGS = ("ADP", "NOUN", "AUX", "VERB")
HASHED_COLUMNS = (*GIVEN, "inner", "outer", "previous", "next")
RELATIONS = ("case", "nmod:poss", "comp:aux@x", "conj")


def deep_sentence(n):
    """Return a sentence that is one long chain with side branches, so that some paths are too long."""
    heads = [-1, *(k + 1 for k in range(1, n)), 0]
    heads[3] = n
    return Sentence(
        sent_id=None,
        forms=tuple(f"w{k % 4}" for k in range(n)),
        lemmas=("_",) * n,
        upos=tuple(TAGS[k % 4] for k in range(n)),
        xpos=("_",) * n,
        feats=("_",) * n,
        deprels=tuple(RELATIONS[k % 4] for k in range(n)),
        heads=frozen_heads(heads),
    )


def sentences():
    sample = list(itertools.islice(read_conllu("corpora/en.conllu"), 0, 60, 8))
    partial = deep_sentence(7)
    heads = partial.heads.copy()
    heads[4] = -1
    return [*sample, deep_sentence(12), Sentence(**{**fields(partial), "heads": frozen_heads(heads)})]


def fields(sentence):
    return {name: getattr(sentence, name) for name in Sentence.__slots__}


def turned_nodes(sentence, rng):
    nodes = encode_source(sentence)
    turned = (rng.random(len(nodes.heads)) < 0.4) & (nodes.heads > 0)
    trees = np.empty_like(nodes.turned_heads)
    turned_trees(nodes.heads, turned, ~function_words(nodes), trees)
    return nodes._replace(turned_heads=trees)


def all_arcs(sentence):
    size = len(sentence) + 1
    return [(head, dependent) for head in range(size) for dependent in range(1, size) if head != dependent]


def test_columns_of_nodes_hold_what_the_twin_says():
    for sentence in sentences():
        atoms = encode_source(sentence).atoms
        for node, name in itertools.product(range(len(sentence) + 1), HASHED_COLUMNS):
            value = node_value(sentence, node, name)
            wanted = int(NONE) if value == "<none>" else stable_hash(value)
            assert int(atoms[node, COLUMNS.index(name)]) == wanted, (node, name)


@pytest.mark.parametrize("templates", [ARC_TEMPLATES, TURN_TEMPLATES, RELATION_TEMPLATES])
def test_equal_features_share_a_bucket_and_others_do_not(templates):
    """The map from the twin's features to the kernel's buckets is one to one."""
    rng = np.random.default_rng(3)
    compiled = compile_templates(templates, hash_bits=HASH_BITS)
    buckets = {}
    for sentence in sentences():
        nodes = turned_nodes(sentence, rng)
        room, out = workspace(len(templates))
        for head, dependent in all_arcs(sentence):
            count = kernels.arc_buckets(nodes, compiled, head, dependent, room, out)
            twins = features_of(sentence, templates, head, dependent, nodes.turned_heads)
            assert count == len(twins)
            for feature, bucket in zip(twins, out[:count].tolist(), strict=True):
                assert buckets.setdefault(feature, bucket) == bucket, feature
    # 24 bits and some ten thousand features: a few collide.
    assert len(set(buckets.values())) > 0.995 * len(buckets)


def random_sentence(rng, n):
    """Return a random tree of few tags and relations, so that siblings are often alike."""
    order = rng.permutation(n) + 1
    heads = np.full(n + 1, -1, np.int32)
    for place, word in enumerate(order):
        heads[word] = rng.choice([0, *order[:place]])
    tags = tuple(TAGS[k] for k in rng.integers(0, 4, n))
    relations = tuple(RELATIONS[k] for k in rng.integers(0, 2, n))
    blank = ("_",) * n
    return Sentence(
        sent_id=None,
        forms=tags,
        lemmas=blank,
        upos=tags,
        xpos=blank,
        feats=blank,
        deprels=relations,
        heads=frozen_heads(heads),
    )


def test_each_atom_of_pairs_tells_what_the_twins_tells():
    rng = np.random.default_rng(6)
    templates = tuple((f"pair.{name}",) for name in PAIR)
    compiled = compile_templates(templates, hash_bits=HASH_BITS)
    buckets = {}
    for _ in range(30):
        sentence = random_sentence(rng, 9)
        nodes = turned_nodes(sentence, rng)
        room, out = workspace(len(templates))
        for head, dependent in all_arcs(sentence):
            count = kernels.arc_buckets(nodes, compiled, head, dependent, room, out)
            twins = features_of(sentence, templates, head, dependent, nodes.turned_heads)
            for feature, bucket in zip(twins, out[:count].tolist(), strict=True):
                assert buckets.setdefault(feature, bucket) == bucket, feature
    assert len(set(buckets.values())) == len(buckets)


def test_scores_are_sums_of_the_twins_weights():
    rng = np.random.default_rng(1)
    compiled = compile_templates(ARC_TEMPLATES, hash_bits=16)
    weights = rng.normal(size=1 << 16).astype(np.float32)
    for sentence in sentences():
        nodes = turned_nodes(sentence, rng)
        scores = np.zeros((len(sentence) + 1,) * 2)
        kernels.add_scores(nodes, compiled, weights, 0.5, scores)
        kernels.add_scores(nodes, compiled, weights, 0.25, scores)
        room, out = workspace(len(ARC_TEMPLATES))
        for head, dependent in all_arcs(sentence):
            count = kernels.arc_buckets(nodes, compiled, head, dependent, room, out)
            wanted = 0.75 * sum(float(weights[bucket]) for bucket in out[:count].tolist())
            assert scores[head, dependent] == pytest.approx(wanted, abs=1e-9)
        assert not scores[:, 0].any()
        assert not scores.diagonal().any()


def test_shapes_tell_the_configurations_of_quasi_synchronous_grammar_apart():
    up, down = np.empty(MAX_UP, np.int64), np.empty(MAX_DOWN, np.int64)
    for sentence in sentences():
        nodes = encode_source(sentence)
        names = configurations(sentence.heads)
        for head, dependent in all_arcs(sentence):
            ups, downs, ancestor = path_between(nodes.heads, nodes.depths, head, dependent, up, down)
            found = path(sentence.heads.tolist(), head, dependent)
            assert (ancestor < 0) == (found is None)
            if found is None:
                continue
            assert (ups, downs, ancestor) == (len(found[0]), len(found[1]), found[2])
            wanted = {
                (1, 0): "parent-child",
                (0, 1): "child-parent",
                (1, 1): "siblings",
                (2, 0): "grandparent-grandchild",
            }.get((ups, downs), "c-command" if downs == 1 and ups > 1 else "other")
            assert CONFIGURATION_NAMES[names[head, dependent]] == wanted


def test_gradient_by_finite_differences():
    """Of a linear function of the scores, by a few weights that fire."""
    rng = np.random.default_rng(2)
    sentence = deep_sentence(6)
    nodes = turned_nodes(sentence, rng)
    compiled = compile_templates(ARC_TEMPLATES, hash_bits=8)
    slopes = rng.normal(size=(7, 7))
    slopes[:, 0] = 0.0
    np.fill_diagonal(slopes, 0.0)

    def value(weights):
        scores = np.zeros((7, 7))
        kernels.add_scores(nodes, compiled, weights, 0.5, scores)
        return float((slopes * scores).sum())

    gradient = np.zeros(256, dtype=np.float32)
    touched = np.empty(36 * len(ARC_TEMPLATES), np.uint64)
    used, stopped = kernels.gather_arcs(nodes, compiled, slopes, 0.5, gradient, touched, 0, 0)
    wanted = finite_differences.gradient(value, np.zeros(256), step=1.0)
    np.testing.assert_allclose(gradient, wanted, atol=1e-4)
    assert set(touched[:used].tolist()) >= set(np.flatnonzero(wanted).tolist())
    assert stopped == DONE


def test_turn_scores_and_their_gradient_are_those_of_source_arcs():
    rng = np.random.default_rng(4)
    sentence = deep_sentence(6)
    nodes = turned_nodes(sentence, rng)
    compiled = compile_templates(TURN_TEMPLATES, hash_bits=8)
    weights = rng.normal(size=256).astype(np.float32)
    scores, everything = np.empty(7), np.zeros((7, 7))
    kernels.turn_scores(nodes, compiled, weights, scores)
    kernels.add_scores(nodes, compiled, weights, 1.0, everything)
    for word in range(7):
        head = sentence.heads[word]
        assert scores[word] == (pytest.approx(everything[head, word]) if head > 0 else -np.inf)
    slopes = np.where(np.isfinite(scores), rng.normal(size=7), 0.5)
    gradient, again = np.zeros((2, 256), dtype=np.float32)
    touched = np.empty(36 * len(TURN_TEMPLATES), np.uint64)
    kernels.gather_turns(nodes, compiled, slopes, gradient, touched, 0, 0)
    by_arc = np.zeros((7, 7))
    words = np.flatnonzero(nodes.heads > 0)
    by_arc[nodes.heads[words], words] = slopes[words]
    kernels.gather_arcs(nodes, compiled, by_arc, 1.0, again, touched, 0, 0)
    np.testing.assert_allclose(gradient, again, atol=1e-6)
    assert gradient.any()


def plain_turned_trees(heads, turned, nests):
    """Build the four trees by moving phrases about."""
    n = len(heads) - 1
    over = {word: [] for word in range(n + 1)}
    for word in sorted(range(1, n + 1), key=lambda k: (k < heads[k], abs(k - heads[k]))):
        if turned[word]:
            over[heads[word]].append(word)

    def top(word):
        return top(over[word][-1]) if over[word] else word

    trees = []
    for other, move in itertools.product((False, True), repeat=2):
        tree = [-1] * (n + 1)

        def place(word, head, tree=tree, other=other, move=move):
            """Hang the phrase of ``word`` on ``head``, and all phrases in it where they belong."""
            tree[top(word)] = head
            inside = word
            for one in over[word][:-1]:
                following = over[word][over[word].index(one) + 1]
                place(one, following if nests[word] != other else top(word))
            if over[word]:
                place(over[word][-1], head)
                tree[inside] = over[word][0] if nests[word] != other else top(word)
            for dependent in range(1, n + 1):
                if heads[dependent] == word and not turned[dependent]:
                    place(dependent, top(word) if move else word)

        for dependent in range(1, n + 1):
            if heads[dependent] in (-1, 0):
                place(dependent, heads[dependent])
        trees.append(tree)
    return trees


def test_turned_trees_against_moving_phrases():
    rng = np.random.default_rng(5)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        order = rng.permutation(n) + 1
        heads = np.full(n + 1, -1, np.int32)
        for place, word in enumerate(order):
            heads[word] = rng.choice([0, *order[:place]]) if rng.random() < 0.95 else -1
        turned = (rng.random(n + 1) < 0.5) & (heads > 0)
        nests = rng.random(n + 1) < 0.5
        trees = np.empty((4, n + 1), np.int32)
        turned_trees(heads, turned, nests, trees)
        assert trees.tolist() == plain_turned_trees(heads.tolist(), turned, nests)
