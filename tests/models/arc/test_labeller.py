"""Relations of arcs: what the tree adds, and what uncertain evidence teaches above another labeller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.features.atoms import encode_block
from qsproj.kernels.features.label_features import step_label_evidence, step_labels
from qsproj.models.arc.labeller import (
    label_trainer,
    start_residual,
    train_labeller,
    train_on_evidence,
    untrained,
)
from tests.sentences import make_sentence

# A noun before the verb is its subject or its object, an adposition of its own its oblique.
WITH = make_sentence("um x y z", "ADP NOUN VERB NOUN", [2, 3, 0, 3], relations="case obl root nsubj")
WITHOUT = make_sentence("um x y z", "ADP NOUN VERB NOUN", [3, 3, 0, 3], relations="compound nsubj root obj")


def rng():
    return np.random.default_rng(1)


def right(labeller, trees):
    found = [labeller.label(labeller.encode(tree), tree.heads) for tree in trees]
    pairs = [
        pair for tree, got in zip(trees, found, strict=True) for pair in zip(tree.deprels, got, strict=True)
    ]
    return float(np.mean([one == other for one, other in pairs]))


@pytest.fixture(scope="module")
def german():
    return list(read_conllu("corpora/de.conllu"))


def test_the_tree_tells_apart_what_words_alone_do_not():
    same = "delexicalised"
    flat, in_tree = (
        train_labeller([WITH, WITHOUT], rng=rng(), template_set=name, epochs=30)
        for name in (same, f"{same}-in-tree")
    )
    arc = np.array([-1, -1, 3, -1, -1], dtype=np.int32)
    assert right(in_tree, [WITH, WITHOUT]) == 1.0
    assert flat.label(flat.encode(WITH), arc) == flat.label(flat.encode(WITHOUT), arc)
    assert right(flat, [WITH, WITHOUT]) < 1.0


def test_only_words_tagged_as_marks_are_punct():
    """Also in a block, and however sure the weights are; other tags than those of UD forbid nothing."""
    tree = make_sentence("a b c d", "VERB SYM PUNCT FOREIGN", [0, 1, 1, 1])
    labeller = untrained("words", ["dep", "punct", "root"])
    labeller.weights[:, 1] = 1.0
    expected = ("root", "dep", "punct", "punct")
    assert labeller.label(labeller.encode(tree), tree.heads) == expected
    attributes = labeller.templates.attributes
    assert (
        labeller.label_block(encode_block([tree] * 2, attributes), np.tile(tree.heads, 2)) == [expected] * 2
    )


@pytest.mark.parametrize(
    ("relation", "expected"),
    [("det", "dep dep dep det det det"), ("aux:pass", "dep dep aux:pass dep dep aux:pass")],
)
def test_only_determiners_and_pronouns_are_det_and_only_auxiliaries_are_aux(relation, expected):
    tree = make_sentence("a b c d e f", "VERB ADJ AUX DET PRON FOREIGN", [0, 1, 1, 1, 1, 1])
    labeller = untrained("words", ["dep", relation])
    labeller.weights[:, labeller.relations.index(relation)] = 1.0
    assert labeller.label(labeller.encode(tree), tree.heads) == tuple(expected.split())


def test_a_labeller_that_reads_tags_starts_one_that_reads_words(german):
    prior = train_labeller(german[:20], rng=rng(), template_set="delexicalised-in-tree", epochs=3)
    start = start_residual(prior, "words", {"obj:new"})
    assert set(start.relations) == {*prior.relations, "obj:new"}
    assert abs(right(start, german[20:]) - right(prior, german[20:])) < 0.03
    flat = replace(prior, template_set="delexicalised")
    assert start_residual(flat, "words", ()).template_set == "words"
    assert start_residual(None, "words", {"a", "b"}).relations == ("a", "b")


def test_sure_evidence_teaches_what_labels_do(german):
    """Infinite evidence for one relation is the relation; the steps are the same."""
    first = untrained("words-in-tree", {name for tree in german for name in tree.deprels})
    numbers = {name: number for number, name in enumerate(first.relations)}
    steps = [label_trainer(first, kernel) for kernel in (step_labels, step_label_evidence)]
    for tree in german[:5]:
        labels = np.array([-1, *(numbers[name] for name in tree.deprels)], dtype=np.int32)
        evidence = np.where(np.arange(len(numbers)) == labels[:, None], 0.0, -1e6)
        evidence[0] = 0.0
        losses = [
            trainer.step((first.encode_tree(tree), tree.heads, known))
            for trainer, known in zip(steps, (labels, evidence), strict=True)
        ]
        assert losses[0] == pytest.approx(losses[1])
    one, other = (trainer.averaged().weights for trainer in steps)
    np.testing.assert_allclose(one, other, atol=1e-5)
    assert one.any()


def test_no_evidence_teaches_nothing(german):
    prior = train_labeller(german[:20], rng=rng(), template_set="words-in-tree", epochs=2)
    obj = prior.relations.index("obj")

    def learned(evidence):
        examples = []
        for tree in german[:10]:
            known = np.zeros((len(tree) + 1, len(prior.relations)))
            known[1:, obj] = evidence
            examples.append((prior.encode_tree(tree), tree.heads, known))
        return train_on_evidence(prior, examples, rng=rng()).weights

    assert np.array_equal(learned(0.0), prior.weights)
    assert (learned(2.0) - prior.weights)[:, obj].sum() > 0
