"""DEPS through links: against all pairs of edges and links, and from the command line and the API."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import graph_of, with_graph, with_heads
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.models.enhanced.enhancer import PATHS
from qsproj.pipelines.projection.projected_graphs import edges_through_links, with_edges_through_links

ENGLISH, GERMAN, LINKS = "corpora/en.conllu", "corpora/de.conllu", "corpora/en-de.pharaoh"


def steps_between(heads, dependent, head):
    """Return the steps up from a word and down to another one, by all heads above either."""
    above = []
    for word in (dependent, head):
        path = [word]
        while path[-1]:
            path.append(heads[path[-1]])
        above.append(path)
    meeting = next(word for word in above[0] if word in above[1])
    return above[0].index(meeting), above[1].index(meeting)


def drawn(rng, size):
    """Return a sentence with a tree, each head before its word or the root."""
    heads = [0] + [int(rng.integers(1, word)) for word in range(2, size + 1)]
    sentence = Sentence.from_words([f"w{word}" for word in range(size)])
    return with_heads(sentence, np.array([-1, *heads], dtype=np.int32), ["dep"] * size)


def test_edges_through_links_are_those_of_all_pairs_of_linked_words():
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        size, other = int(rng.integers(2, 7)), int(rng.integers(2, 7))
        source, target = drawn(rng, size), drawn(rng, other)
        edges = {
            (d, h)
            for d, h in product(range(1, size + 1), range(size + 1))
            if rng.random() < 0.3 or h == source.heads[d]
        }
        source = with_graph(
            source, [[(str(h), "x") for d, h in sorted(edges) if d == w + 1] for w in range(size)]
        )
        links = {(int(rng.integers(1, size + 1)), int(rng.integers(1, other + 1))) for _ in range(4)}
        pair = SentencePair(source, target, make_alignment(size, other, sorted(links)))
        single = {
            t: s
            for s, t in links
            if sum(a == s for a, _ in links) == 1 and sum(b == t for _, b in links) == 1
        } | {0: 0}
        expected = {
            (d, h, "x")
            for d, h in product(single, single)
            if d
            and h not in (d, target.heads[d])
            and (single[d], single[h]) in edges
            and source.heads[single[d]] != single[h]
            and steps_between(target.heads.tolist(), d, h) in PATHS
            and (h or steps_between(target.heads.tolist(), d, h)[1] == 0)
        }
        assert set(edges_through_links(target, pair)) == expected
        told = with_edges_through_links(with_graph(target, [[("9", "y")]] * other), pair)
        assert {
            (d, int(h), relation)
            for d, own in enumerate(graph_of(told), start=1)
            for h, relation in own
            if h != "9"
        } == expected
        found += len(expected)
    assert found > 50


def test_relations_have_the_markers_of_the_target(tmp_path):
    tree = (
        "1\t{}\t_\tVERB\t_\t_\t0\troot\t0:root\t_\n2\t{}\t_\tNOUN\t_\t_\t1\tobl\t1:obl\t_\n"
        "3\t{}\t_\tADP\t_\t_\t4\tcase\t4:case\t_\n4\t{}\t_\tNOUN\t_\t_\t2\tnmod\t2:nmod|1:nmod:of\t_\n\n"
    )
    path = tmp_path / "pair.conllu"
    path.write_text(tree.format("go", "way", "of", "life") + tree.format("gå", "väg", "av", "liv"))
    source, target = read_conllu(path)
    pair = SentencePair(source, target, make_alignment(4, 4, [(1, 1), (2, 2), (4, 4)]))
    assert list(edges_through_links(target, pair)) == [(4, 1, "nmod:av")]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """Write the English sample with DEPS: each word also hangs on the head of its head."""
    path = tmp_path_factory.mktemp("graphs") / "en.conllu"
    sentences = []
    for one in read_conllu(ENGLISH):
        heads = one.heads.tolist()
        edges = [
            [(str(head), relation)] + [(str(heads[head]), "above")] * (relation == "conj" and heads[head] > 0)
            for head, relation in zip(heads[1:], one.deprels, strict=True)
        ]
        sentences.append(with_graph(one, edges))
    write_conllu(sentences, path)
    return path


@pytest.mark.parametrize("method", ["soft", "hard", "qg"])
def test_the_command_carries_deps_over(graphs, run_cli, tmp_path, method):
    model, trees, parsed = tmp_path / "m", tmp_path / "trees", tmp_path / "parsed"
    given = ("--source", graphs, "--target", GERMAN, "--alignment", LINKS, "--method", method, "--enhanced")
    outcome = run_cli("project", *given, "-o", model, "--trees", trees)
    assert outcome.code == 0, outcome.err
    assert "DEPS: learned from the graphs of 90 source sentences" in outcome.err
    assert run_cli("parse", "-m", model, GERMAN, "-o", parsed).code == 0
    for path in (trees, parsed):
        edges = [edge for tree in read_conllu(path) for own in graph_of(tree) for edge in own]
        # Ten conjuncts are few: qg keeps none of these edges.
        assert method == "qg" or sum(relation == "above" for _, relation in edges) > 0
    if method != "hard":
        assert all(all(graph_of(tree)) for tree in read_conllu(trees))
    assert all(all(graph_of(tree)) for tree in read_conllu(parsed))


def test_without_deps_it_is_said(run_cli, tmp_path):
    outcome = run_cli(
        "project",
        "--source",
        ENGLISH,
        "--target",
        GERMAN,
        "--alignment",
        LINKS,
        "--enhanced",
        "-o",
        tmp_path / "m",
    )
    assert outcome.code == 2
    assert "no sentence has enhanced dependencies" in outcome.err
    assert not (tmp_path / "m").exists()
