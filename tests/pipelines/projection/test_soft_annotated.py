"""A few target trees, in another style, of the bitext, or of ten words in all: what is said and comes out."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.pipelines.projection.methods import SoftProjectionOptions
from qsproj.pipelines.projection.priors import translated_prior
from qsproj.pipelines.projection.soft_projection import (
    annotated_report,
    different_style,
    project_soft,
)
from qsproj.styles.convert import convert
from qsproj.styles.style import UD, parse_style
from tests.sentences import make_sentence


@pytest.fixture(scope="module")
def german():
    return list(read_conllu("corpora/de.conllu"))


@pytest.fixture(scope="module")
def english():
    return list(read_conllu("corpora/en.conllu"))


def test_trees_of_one_style_are_so(german, english):
    for first in (1, 5, 20, 90):
        assert different_style(german[:first], english) == ""


def test_another_style_is_named(german, english):
    other = parse_style("prepositions=head,determiners=head")
    converted = [convert(tree, source=UD, target=other) for tree in german]
    assert (
        different_style(converted, english) == "determiners: head, not child; prepositions: head, not child"
    )
    assert different_style(converted[:1], english) == ""
    renamed = [with_columns(tree, deprels=[f"x{name}" for name in tree.deprels]) for tree in german]
    assert different_style(renamed, english) == "relations such as xdet"


def test_chains_of_conjuncts_that_are_errors_of_a_parser_are_no_style():
    tags, relations = "NOUN PUNCT NOUN CCONJ NOUN", "root punct conj cc conj"
    fan = make_sentence("cats , dogs and mice", tags, [0, 3, 1, 5, 1], relations=relations)
    chain = make_sentence("cats , dogs and mice", tags, [0, 3, 1, 5, 3], relations=relations)
    assert different_style([fan] * 20, [*[chain] * 15, *[fan] * 5]) == ""
    assert different_style([fan] * 20, [chain] * 20) == "coordination: stanford, not moscow"


def test_sentences_of_the_bitext_are_named(sample, german):
    new = make_sentence("Neue Wörter", "ADJ NOUN", [2, 0], relations="amod root")
    assert annotated_report([*german[:9], new], sample)[1:] == (
        "9 annotated sentences are in the training bitext: do not use them for testing",
    )
    assert annotated_report([new, new], sample) == ("fine-tuned on 2 annotated sentences",)
    assert "give at least 2" in annotated_report([new], sample)[0]


@pytest.mark.slow
def test_ten_words_do_no_harm(sample):
    trees = [
        make_sentence(
            "Hunde bellen laut .", "NOUN VERB ADV PUNCT", [2, 0, 2, 2], relations="nsubj root advmod punct"
        ),
        make_sentence(
            "Sie sah den alten Hund .",
            "PRON VERB DET ADJ NOUN PUNCT",
            [2, 0, 5, 5, 2, 2],
            relations="nsubj root det amod obj punct",
        ),
    ]
    gold = [pair.target for pair in sample]

    def right(annotated):
        rng = np.random.default_rng(1)
        options = SoftProjectionOptions(epochs=1)
        priors = [translated_prior([sample], rng=rng)]
        projected = project_soft([sample], priors=priors, rng=rng, options=options, annotated=annotated)
        found = [projected.parser.parse(tree).heads for tree in gold]
        return np.mean(np.concatenate([one != tree.heads for one, tree in zip(found, gold, strict=True)]))

    assert right(trees) < right([]) + 0.01
    assert sum(map(len, trees)) == 10
