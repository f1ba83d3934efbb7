"""Trees of which a part is known: against all trees, by every kind of parser, and what no tree can have."""

import math
from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import (
    misc_values,
    with_columns,
    with_heads,
    with_misc,
)
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, UsageError
from qsproj.models.arc.labeller import Labeller
from qsproj.models.constraints import known_part, spans_of
from qsproj.models.parser import complete
from qsproj.models.storage import load_model
from qsproj.trees.crossings import crossing_arcs
from tests.oracles.trees import all_trees

KINDS = [
    "adapted-parser", "arc-parser", "cluster-parser", "dmv", "graph-parser", "joint-parser",
    "labelled-parser", "qg-dmv", "tagging-parser", "text-parser",
]  # fmt: skip
FORMS, TAGS = ("the", "dog", "sees", "a", "cat"), ("DET", "NOUN", "VERB", "DET", "NOUN")
N = len(FORMS)


def kept(kind):
    return load_model(f"tests/kept_models/{kind}.model")


def partly(heads=(), relations=(), span=None):
    """Return the sentence with these heads and relations by word, and a span."""
    known, names = np.full(N + 1, -1), ["_"] * N
    for word, head in heads:
        known[word] = head
    for word, relation in relations:
        names[word - 1] = relation
    sentence = with_heads(Sentence.from_words(FORMS, upos=TAGS), known, names)
    return sentence if span is None else with_misc(sentence, "Span", [span] + [None] * (N - 1))


def enumerated(parser, sentence, scores, weight):
    """Return the probability of each arc among trees, each of which counts as its arcs and the weight say."""
    chances, total = np.zeros((N + 1, N + 1)), 0.0
    inference = parser.inference
    for tree in all_trees(N, projective=inference.projective, single_root=inference.single_root):
        share = weight(tree) * math.exp(sum(scores[tree[word], word] for word in range(1, N + 1)))
        total += share
        for word in range(1, N + 1):
            chances[tree[word], word] += share
    return chances / total


def outside(tree, first, last):
    """Count the words of a span whose heads lie outside."""
    return sum(not first <= tree[word] <= last for word in range(first, last + 1))


@pytest.mark.parametrize(
    ("sentence", "allows"),
    [
        (partly(), lambda tree: True),
        (partly([(1, 2), (5, 3)]), lambda tree: tree[1] == 2 and tree[5] == 3),
        (partly([(5, 2)]), lambda tree: tree[5] == 2),
        (partly([(4, 0)]), lambda tree: tree[4] == 0),
        (partly(relations=[(2, "root")]), lambda tree: tree[2] == 0),
        (partly(span="1-2"), lambda tree: outside(tree, 1, 2) == 1),
        (
            partly([(5, 3)], span="2-4,3-5"),
            lambda tree: tree[5] == 3 and outside(tree, 2, 4) == outside(tree, 3, 5) == 1,
        ),
    ],
)
@pytest.mark.parametrize("kind", ["arc-parser", "cluster-parser", "labelled-parser"])
def test_probabilities_are_those_among_all_trees_with_what_is_known(kind, sentence, allows):
    parser = kept(kind)
    bare = partly()
    if kind == "labelled-parser":
        parser = replace(parser, least=0.0)
    if kind == "labelled-parser":
        scores = parser.posterior(bare).scores.summed()[0]
    else:
        scores = parser.scores(bare) / getattr(parser, "temperature", 1.0)
    if kind == "labelled-parser" and any(name != "_" for name in sentence.deprels):
        pytest.skip("a relation weighs arcs here: see the next test")
    expected = enumerated(parser, sentence, scores, allows)
    np.testing.assert_allclose(
        parser.posterior(sentence, known_part(sentence)).marginals, expected, atol=1e-9
    )


def test_a_relation_weighs_the_arcs_by_how_likely_they_have_it():
    parser = replace(kept("labelled-parser"), least=0.0, temperature=1.0)
    posterior = parser.beliefs(partly())
    chances = np.zeros((N + 1, N + 1))
    place = int(posterior.labelled()[:, 5].sum(axis=0).argsort()[-2])
    chances[posterior.scores.heads, posterior.scores.dependents] = posterior.scores.summed()[1][:, place]
    expected = enumerated(
        parser, partly(), posterior.scores.summed()[0], lambda tree: (tree[1] == 2) * chances[tree[5], 5]
    )
    sentence = partly([(1, 2)], [(5, parser.relations.relations[place])])
    np.testing.assert_allclose(
        parser.posterior(sentence, known_part(sentence)).marginals, expected, atol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_known_holds_in_every_kind_of_parser(kind):
    parser = kept(kind)
    whole = partly(
        [(1, 2), (2, 3), (3, 0), (4, 5), (5, 3)],
        [(1, "amod"), (2, "obl"), (3, "root"), (4, "case"), (5, "nmod")],
    )
    for names in (whole.deprels, ["_"] * N):
        told = complete(parser, with_columns(whole, deprels=names), confidence=True)
        np.testing.assert_array_equal(told.heads, whole.heads)
        assert [float(chance) for chance in misc_values(told, "ArcProb")] == [1.0] * N
        assert told.upos == TAGS
        if "_" not in names:
            assert told.deprels == whole.deprels
    for decode in ("mbr",) if kind == "tagging-parser" else ("mbr", "map"):
        told = complete(parser, partly([(4, 2)], [(2, "vocative")]), decode=decode)
        assert told.heads[4] == 2
        assert told.deprels[1] == "vocative"
        assert -1 not in told.heads[1:]
        assert (told.heads == 0).sum() >= 1


@pytest.mark.parametrize("kind", ["graph-parser", "tagging-parser", "joint-parser"])
def test_the_rest_of_a_parser_of_higher_order_follows_what_is_known(kind):
    parser = kept(kind)
    free = parser.arc_probabilities(partly())
    # Of two heads with some chance the less likely one.
    word, head = max(
        ((word, head) for word in range(1, N + 1) for head in range(N + 1) if 0.02 < free[head, word] < 0.45),
        key=lambda arc: free[arc[1], arc[0]],
    )
    known = partly([(word, head)])
    chances = parser.posterior(known, known_part(known)).marginals
    assert chances[head, word] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(chances[:, 1:].sum(axis=0), 1.0, atol=1e-6)
    others = [other for other in range(1, N + 1) if other != word]
    assert np.abs(chances[:, others] - free[:, others]).max() > 1e-3


def test_a_relation_that_all_arcs_hardly_have_still_leaves_the_likeliest(monkeypatch):
    parser = kept("graph-parser")
    relation = next(name for name in parser.base.labeller.relations if name != "root")
    original = Labeller.chances

    def hardly_ever(self, encoded, heads):
        chances = original(self, encoded, heads)
        chances[:, self.relations.index(relation)] = np.where(heads == 3, 1e-3, 1e-6)
        return chances

    monkeypatch.setattr(Labeller, "chances", hardly_ever)
    assert complete(parser, partly(relations=[(5, relation)])).heads[5] == 3


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (partly([(1, 2), (2, 4), (4, 1)]), "heads and relations that no tree of the model has together"),
        (partly([(1, 3), (3, 2)]), "heads and relations that no tree without crossing arcs has together"),
        (partly([(1, 0), (4, 0)]), "the words 1, 4 at the root"),
        (partly([(1, 3), (2, 5)]), "arcs that cross: 3 -> 1 and 5 -> 2"),
        (partly([(1, 4), (2, 4), (3, 5)]), "arcs that cross: 4 -> 1 and 5 -> 3"),
        (partly([(2, 1), (3, 5)], span="2-3"), "heads and spans that no tree of the model has together"),
        (partly(span="3-9"), "Span=3-9 in MISC"),
        (partly(span="dog"), "Span=dog in MISC"),
    ],
)
def test_what_no_tree_has_is_named(sentence, said):
    for kind in ("arc-parser", "text-parser", "graph-parser"):
        with pytest.raises(SentenceError, match="found") as raised:
            complete(kept(kind), sentence)
        assert said in str(raised.value)


def test_a_converter_has_nothing_to_complete():
    with pytest.raises(UsageError, match="does not accept partial trees"):
        complete(kept("converter"), partly())


def test_spans_are_read():
    assert spans_of(partly(span="1-2,2-5")) == ((1, 2), (2, 5))
    assert spans_of(partly()) == ()


@pytest.mark.parametrize("kind", ["arc-parser", "graph-parser", "labelled-parser", "text-parser"])
def test_an_error_concerns_the_sentence_taken_last(kind):
    words, tags = ["Dogs", "bark", "loudly", "today"], ["NOUN", "VERB", "ADV", "ADV"]
    trees = [[2, 0, 2, 2], [3, 4, 0, 3], [2, 0, 2, 2]]
    sentences = [Sentence.from_words(words, upos=tags, heads=heads) for heads in trees]
    taken = []

    def noted():
        for sentence in sentences:
            taken.append(sentence)
            yield sentence

    with pytest.raises(SentenceError, match="arcs that cross"):
        list(kept(kind).parse_all(noted(), known=known_part))
    assert len(taken) == 2


def test_the_command_completes_a_file_and_names_the_line_that_it_cannot(run_cli, tmp_path):
    path, out = tmp_path / "half.conllu", tmp_path / "whole.conllu"
    gold = [one for one in read_conllu("corpora/de.conllu") if not crossing_arcs(one.heads).any()][:10]
    half = []
    for one in gold:
        heads = one.heads.copy()
        heads[2::2] = -1
        half.append(
            with_heads(
                one,
                heads,
                [name if head >= 0 else "_" for name, head in zip(one.deprels, heads[1:], strict=True)],
            )
        )
    write_conllu(half, path)
    command = ("parse", "-m", "tests/kept_models/arc-parser.model", path, "-o", out)
    assert run_cli(*command, "--fixed").code == 0
    for one, told in zip(half, read_conllu(out), strict=True):
        known = one.heads >= 0
        np.testing.assert_array_equal(told.heads[known], one.heads[known])
        assert all(own in ("_", new) for own, new in zip(one.deprels, told.deprels, strict=True))
    assert run_cli(*command).code == 0
    free = list(read_conllu(out))
    assert any((told.heads != one.heads)[one.heads >= 0].any() for one, told in zip(half, free, strict=True))
    spoilt = with_misc(half[3], "Span", [None, "2-99"] + [None] * (len(half[3]) - 2))
    write_conllu([*half[:3], spoilt], path)
    outcome = run_cli(*command, "--fixed")
    assert outcome.code == 2
    line = next(at for at, text in enumerate(path.read_text().splitlines(), 1) if "Span=2-99" in text)
    assert f"{path}:{line}: found Span=2-99 in MISC" in outcome.err
    outcome = run_cli(
        "parse", "-m", "tests/kept_models/text-parser.model", "--fixed", stdin="A line of text\n"
    )
    assert outcome.code == 2
    assert "--fixed is for CoNLL-U" in outcome.err
