"""Enhanced dependencies: ways in a tree against all paths, patterns, what is learned, and what is written."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import collapsed_graph, graph_of, misc_values, with_columns, with_graph
from qsproj.corpus.sentence import Sentence
from qsproj.errors import NothingToLearnError
from qsproj.models.enhanced.enhancer import (
    HASH_BITS,
    LIKELY,
    PATHS,
    EnhancedParser,
    Enhancer,
    Tree,
    filled,
    pattern_of,
    train_enhancer,
)
from qsproj.models.packing import joined
from qsproj.models.storage import load_model
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.trees.crossings import crossing_arcs
from tests.sentences import make_sentence

CORPUS = "corpora/en.conllu"


def ways_to(heads, dependent):
    """Return the steps up and down from a word to every other one and the root, breadth first."""
    neighbours = {word: [] for word in range(len(heads))}
    for word, head in enumerate(heads):
        if head >= 0:
            neighbours[word].append((head, "up"))
            neighbours[head].append((word, "down"))
    found, queue = {dependent: (0, 0)}, deque([dependent])
    while queue:
        word = queue.popleft()
        for other, step in neighbours[word]:
            if other not in found:
                up, down = found[word]
                found[other] = (up + 1, down) if step == "up" else (up, down + 1)
                queue.append(other)
    return found


def by_rules(sentence):
    """Return a sentence with DEPS by rule: lemmas of markers, conjuncts that share a head."""
    tree = Tree(sentence)
    graph = []
    for word in range(1, len(sentence) + 1):
        relation, head = tree.relation(word), tree.heads[word]
        marker = tree.conjunction(word) if relation == "conj" else tree.marker(word, "case")
        edges = [(str(head), f"{relation}:{marker}" if marker else relation)]
        if relation == "conj":
            edges.append((str(tree.heads[head]), tree.relation(head)))
        graph.append(edges)
    return with_graph(sentence, graph)


@pytest.fixture(scope="module")
def treebank():
    return [by_rules(one) for one in read_conllu(CORPUS)]


def test_candidates_are_all_words_on_the_ways_that_edges_take(treebank):
    for sentence in treebank[:20]:
        tree = Tree(sentence)
        candidates = list(tree.candidates())
        expected = {
            (word, other, way)
            for word in range(1, len(sentence) + 1)
            for other, way in ways_to(tree.heads, word).items()
            if way in PATHS and (other != 0 or way[1] == 0)
        }
        assert {(one.dependent, one.head, one.way) for one in candidates} == expected
        assert len(candidates) == len(expected)
        for one in candidates:
            assert len(one.passed) == sum(one.way) - 1


@given(
    st.lists(st.sampled_from(["nmod", "obl", "of", "in", "gen", "arg", "x"]), min_size=1, max_size=4),
    st.dictionaries(
        st.sampled_from(["{0}", "{1}", "{case}", "{mark1}", "{Case}"]),
        st.sampled_from(["nmod", "obl:arg", "of", "in", "gen"]),
    ),
)
def test_a_pattern_gives_back_the_relation_that_it_was_made_of(parts, filling):
    relation = ":".join(parts)
    assert filled(pattern_of(relation, filling), filling) == relation


def test_markers_are_lemmas_of_function_words_and_forms_of_others():
    sentence = make_sentence(
        "According to us $ 5 gone",
        "VERB ADP PRON SYM NUM VERB",
        [3, 1, 6, 5, 6, 0],
        "case fixed obl case obl root",
    )
    tree = Tree(with_columns(sentence, lemmas=["accord", "TO", "we", "$", "5", "go"]))
    assert tree.marker(3, "case") == "according_to"
    assert tree.marker(5, "case") == ""  # no letter
    without = make_sentence("İçin _ ev", "ADP ADP NOUN", [3, 3, 0], "case mark root")
    assert Tree(without).marker(3, "case") == "için"
    assert Tree(without).marker(3, "mark") == ""


def relative_clause(pronoun, role, above):
    """Return "book <above> man *that* sees", where *that* has a role in the clause, with its graph."""
    words, relations = f"{above} book {pronoun} man sees", f"root {above} {role} nsubj acl:relcl"
    sentence = make_sentence(words, "VERB NOUN PRON NOUN VERB", [0, 1, 5, 5, 2], relations)
    sentence = with_columns(sentence, feats=["_", "_", "PronType=Rel", "_", "_"])
    edges = [
        [("0", "root")],
        [("1", above), ("5", role)],
        [("2", "ref")],
        [("5", "nsubj")],
        [("2", "acl:relcl")],
    ]
    return with_graph(sentence, edges)


def test_an_antecedent_has_the_role_of_the_relative_pronoun_whatever_its_own():
    """Roles and relations of antecedents that were never seen together, and one never seen at all."""
    roles = ("obj", "nsubj"), ("iobj", "obj"), ("obl", "obl")
    main = [make_sentence("sees man", "VERB NOUN", [0, 1], f"root {role}") for role, _ in roles]
    trees = [with_graph(one, [[("0", "root")], [("1", one.deprels[1])]]) for one in main]
    seen = [relative_clause("that", *both) for both in roles]
    enhancer = train_enhancer([*seen, *trees] * 5, rng=np.random.default_rng(1))
    for both in (("obj", "obl"), ("iobj", "nsubj"), ("obl", "obj"), ("obj", "vocative")):
        unseen = relative_clause("which", *both)
        assert enhancer.graph(unseen)[0] == [sorted(own) for own in graph_of(unseen)]


def test_models_of_older_builds_read_the_relation_of_the_topmost_word(treebank):
    enhancer = train_enhancer(treebank[:60], rng=np.random.default_rng(1))
    header, arrays = enhancer.to_archive()
    assert Enhancer.from_archive(header, arrays).patterns == enhancer.patterns
    del header["with_top"]
    tree = Tree(relative_clause("that", "obj", "vocative"))
    (way,) = (one for one in tree.candidates() if (one.dependent, one.head) == (3, 2))
    assert tree.signature(way) == "20 obj,acl,*"
    named = tree.signature(way, with_top=True)
    assert named == "20 obj,acl,vocative"
    older = Enhancer.from_archive({"patterns": {**header["patterns"], named: ["ref"]}}, arrays)
    assert ("2", "ref") in older.graph(tree.sentence)[0][2]


def test_a_model_within_another_has_to_parse(treebank):
    tagger = train_tagger(treebank[:5], rng=np.random.default_rng(1))
    header, arrays = joined({"model": ("parser_", tagger)})
    with pytest.raises(ValueError, match="a model of kind tagger does not parse"):
        EnhancedParser.from_archive({"parser": {"kind": "tagger", **header}, "enhancer": {}}, arrays)


def test_edges_are_as_probable_as_their_paths(treebank):
    enhancer = train_enhancer(treebank[:60], rng=np.random.default_rng(1))
    compared = 0
    for sentence in treebank[60:]:
        heads = sentence.heads.tolist()
        arcs = np.random.default_rng(len(sentence)).uniform(0.9, 1.0, (len(heads),) * 2)
        (graph, given), (same, whole) = (
            enhancer.graph(sentence),
            enhancer.graph(sentence, lambda arcs=arcs: arcs, confidence=True),
        )
        rows = zip(graph, given, same, whole, strict=True)
        for word, (edges, of_edges, others, of_others) in enumerate(rows, start=1):
            before, after = dict(zip(edges, of_edges, strict=True)), dict(zip(others, of_others, strict=True))
            for edge, chance in after.items():
                up, down = ([one, *above(heads, one)] for one in (word, int(edge[0])))
                path = np.prod([arcs[heads[one], one] for one in set(up) ^ set(down)])
                assert chance == pytest.approx((before[edge] or 1.0) * path)
                compared += 1
    assert compared > 100


def test_what_rules_have_made_is_learned(treebank):
    enhancer = train_enhancer(treebank[:60], rng=np.random.default_rng(1))
    right = total = 0
    for sentence in treebank[60:]:
        graph, chances = enhancer.graph(sentence)
        for gold, own, of_own in zip(graph_of(sentence), graph, chances, strict=True):
            right += len(set(gold) & set(own))
            total += max(len(gold), len(own))
            assert len(own) == len(of_own)
            assert all(0.0 <= chance <= 1.0 for chance in of_own)
    assert right / total > 0.95


def test_an_edge_beside_the_tree_is_written_from_two_fifths_on(treebank):
    """Its own probability times those of the arcs of its way: .41 is enough, .39 is not."""
    enhancer = train_enhancer(treebank[:60], rng=np.random.default_rng(1))
    tried = 0
    for sentence in treebank:
        heads = sentence.heads.tolist()
        graph, chances = enhancer.graph(sentence)
        for word, (edges, of_edges) in enumerate(zip(graph, chances, strict=True), start=1):
            for (head, relation), chance in zip(edges, of_edges, strict=True):
                # Of a conjunct and the head of its first conjunct: two arcs.
                if int(head) == heads[word] or int(head) != heads[heads[word]] or chance < 0.9:
                    continue
                for product, stays in ((0.41, True), (0.39, False)):
                    arcs = np.ones((len(heads),) * 2)
                    arcs[heads[word], word] = product / chance
                    found = enhancer.graph(sentence, lambda arcs=arcs: arcs)[0][word - 1]
                    assert ((head, relation) in found) == stays
                tried += 1
    assert tried > 2


def test_an_edge_stands_on_the_arcs_of_its_way(treebank):
    enhancer = train_enhancer(treebank[:60], rng=np.random.default_rng(1))
    dropped = spared = 0
    for sentence in treebank:
        tree, (graph, chances) = Tree(sentence), enhancer.graph(sentence)
        arcs = np.random.default_rng(len(sentence)).uniform(0.4, 1.0, (len(sentence) + 1,) * 2)
        expected = []
        for word, (edges, of_edges) in enumerate(zip(graph, chances, strict=True), start=1):
            kept = []
            for edge, chance in zip(edges, of_edges, strict=True):
                head = int(edge[0])
                # Both ends' words up to where their ways to the root meet.
                up, down = ([one, *above(tree.heads, one)] for one in (word, head))
                for one in set(up) ^ set(down):
                    chance *= arcs[tree.heads[one], one]
                if head == tree.heads[word] or chance > LIKELY:
                    kept.append(edge)
            expected.append(kept)
            dropped += len(edges) - len(kept)
        assert enhancer.graph(sentence, lambda arcs=arcs: arcs)[0] == expected
        asked = Mock(return_value=np.ones_like(arcs))
        assert enhancer.graph(sentence, asked) == (graph, chances)
        # Arcs are inferred where an edge stands on them, and then once.
        heads = [[int(head) for head, _ in edges] for edges in graph]
        beside = any(set(own) - {head} for own, head in zip(heads, tree.heads[1:], strict=True))
        assert asked.call_count == beside
        spared += not beside
    assert dropped > 1 and spared > 1


def above(heads, word):
    """Return the words above a word, the root last."""
    found = []
    while word > 0:
        word = heads[word]
        found.append(word)
    return found


def test_every_word_is_reached_whatever_the_weights(treebank):
    rng = np.random.default_rng(4)
    enhancer = train_enhancer(treebank[:40], rng=rng)
    # Patterns of all ways for all signatures, no edge among them, and weights that make anything likely.
    wild = {name: ("", *own) for name, own in enhancer.patterns.items()}
    wild |= {relation: ("", "{0}") for sentence in treebank for relation in sentence.deprels}
    lost = 0
    for _ in range(5):
        weights = rng.normal(size=1 << HASH_BITS).astype(np.float32)
        for sentence in treebank[:40]:
            graph, _ = replace(enhancer, patterns=wild, weights=weights).graph(sentence)
            reached, queue = {"0"}, deque(["0"])
            while queue:
                above = queue.popleft()
                for word, edges in enumerate(graph, start=1):
                    if str(word) not in reached and any(head == above for head, _ in edges):
                        reached.add(str(word))
                        queue.append(str(word))
            assert len(reached) == len(sentence) + 1
            lost += sum(
                (str(head), relation) not in edges
                for edges, head, relation in zip(graph, sentence.heads[1:], sentence.deprels, strict=True)
            )
    assert lost > 5


def test_without_deps_there_is_nothing_to_learn():
    with pytest.raises(NothingToLearnError, match="is the DEPS column empty"):
        train_enhancer(list(read_conllu(CORPUS)), rng=np.random.default_rng(1))


def test_empty_nodes_are_passed_over_and_stay(tmp_path):
    text = (
        "1\ta\ta\tX\t_\t_\t0\troot\t0:root\t_\n1.1\tgo\t_\t_\t_\t_\t_\t_\t1:conj\t_\n"
        "2\tb\tb\tX\t_\t_\t1\torphan\t1.1:obj|1:dep\t_\n\n"
    )
    path = tmp_path / "empty.conllu"
    path.write_text(text)
    (sentence,) = read_conllu(path)
    assert graph_of(sentence)[1] == (("1.1", "obj"), ("1", "dep"))
    assert collapsed_graph(sentence)[1] == (("1", "conj>obj"), ("1", "dep"))
    write_conllu([with_graph(sentence, [[("0", "root")], [("2", "x"), ("1", "dep"), ("1", "a")]])], path)
    assert path.read_text() == text.replace("1.1:obj|1:dep", "1:a|1:dep|2:x")
    assert graph_of(Sentence.from_words(["a"])) == ((),)


def test_the_command_learns_deps_and_writes_them(treebank, run_cli, tmp_path):
    train, test = tmp_path / "train.conllu", tmp_path / "test.conllu"
    write_conllu(treebank[:60], train)
    write_conllu([with_graph(one, [()] * len(one)) for one in treebank[60:]], test)
    model, out = tmp_path / "enhanced.model", tmp_path / "out.conllu"
    outcome = run_cli("train", train, "-o", model, "--enhanced", "--epochs", "2")
    assert outcome.code == 0, outcome.err
    assert run_cli("parse", "-m", model, test, "-o", out, "--confidence").code == 0
    for one in read_conllu(out):
        assert all(graph_of(one))
        for edges, cell in zip(graph_of(one), misc_values(one, "DepsProb"), strict=True):
            assert len(cell.split(",")) == len(edges)
        assert load_model(model).parse(with_columns(one, deprels=["_"] * len(one))).heads.tolist() == (
            one.heads.tolist()
        )
    assert "enhanced dependencies" in run_cli("info", model).out
    outcome = run_cli("train", CORPUS, "-o", model, "--enhanced")
    assert outcome.code == 2
    assert "en.conllu: no sentence has enhanced dependencies" in outcome.err
    # Known heads hold here, too.
    write_conllu([one for one in treebank[:60] if not crossing_arcs(one.heads).any()], test)
    assert run_cli("parse", "-m", model, test, "-o", out, "--fixed").code == 0
    for one, told in zip(read_conllu(test), read_conllu(out), strict=True):
        assert one.heads.tolist() == told.heads.tolist()
    # Trees given whole keep their DEPS, to which no predicted probability belongs.
    assert run_cli("parse", "-m", model, test, "-o", out, "--fixed", "--confidence").code == 0
    assert "ArcProb=" in out.read_text() and "DepsProb=" not in out.read_text()
