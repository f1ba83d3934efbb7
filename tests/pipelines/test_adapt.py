"""Pairing of styles, and the order in which a person checks what was converted."""

import itertools

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.errors import DataError, MissingTreeError, UsageError
from qsproj.models.converter.converter import Conversion, Converter
from qsproj.pipelines.adapt import (
    ConvertedSentence,
    convert_treebank,
    least_sure_first,
    pair_styles,
    train_adaptation,
)
from qsproj.progress import notices
from tests.sentences import make_sentence


@pytest.fixture(scope="module")
def sentences():
    return list(itertools.islice(read_conllu("corpora/en.conllu"), 4))


def test_sentences_are_paired_by_their_names(sentences):
    pairs = pair_styles(sentences, reversed(sentences))
    assert [source.sent_id for source, _ in pairs] == [target.sent_id for _, target in pairs]


def test_the_first_word_that_differs_is_named():
    source, longer = make_sentence("a b", "X X"), make_sentence("a b c", "X X X")
    with pytest.raises(DataError, match="pair 1: found word 3 nothing in the source and 'c' in the target"):
        pair_styles([source], [longer])


def test_the_least_sure_come_first_by_the_word(sentences):
    def one(sentence, probability):
        probabilities = np.full(len(sentence), probability)
        conversion = Conversion(sentence.heads, sentence.deprels, probabilities)
        return ConvertedSentence(sentence, conversion, float((1 - probabilities).sum()))

    converted = [one(sentence, p) for sentence, p in zip(sentences, (0.9, 0.2, 1.0, 0.5), strict=True)]
    ranked = least_sure_first(converted)
    assert [sentence.sent_id for sentence in ranked] == [sentences[i].sent_id for i in (1, 3, 0, 2)]
    lines = ranked[0].layout.lines
    comments = [line for line in lines if line.startswith("#")]
    assert comments[-1] == f"# expected_errors = {0.8 * len(sentences[1]):.2f}"
    assert all("ArcProb=0.2000" in lines[at] for at in ranked[0].layout.word_lines)


def test_nothing_to_convert_is_said():
    bare = make_sentence("a b", "X X")
    partial = make_sentence("a b", "X X", [0, -1], "root _")
    for headless, found in ((bare, "2 words without a head"), (partial, "1 word without a head")):
        with pytest.raises(MissingTreeError, match=found):
            list(convert_treebank(Converter.untrained(), [make_sentence("a", "X", [0], "root"), headless]))
    with pytest.raises(UsageError, match="no source sentence has a head"):
        train_adaptation([(bare, bare)], rng=np.random.default_rng(1))


def test_relations_that_are_left_are_listed_in_training_and_conversion():
    old = [make_sentence("a b c", "D N V", [2, 3, 0], "det nsubj root") for _ in range(3)]
    new = [make_sentence("a b c", "D N V", [2, 3, 0], "det subj root") for _ in range(3)]
    other = make_sentence("b c d", "N V N", [2, 0, 2], "nsubj root obl:tmod")
    said = []
    with notices(said.append):
        converter, _ = train_adaptation(pair_styles(old, new), rng=np.random.default_rng(1))
        assert len(list(convert_treebank(converter, [*old, other, other]))) == 5
    assert said[0].startswith("no source tree has acl, advcl, advmod, ")
    assert " nsubj," not in said[0]
    assert said[1:] == [
        "relations of the old style are left on 2 words: obl:tmod 2; the converter has not seen them in the "
        "new style: train it with trees that have them (qsproj adapt)"
    ]


def test_trees_that_are_the_same_in_both_styles_are_named():
    trees = [make_sentence("a b c", "D N V", [2, 3, 0], "det nsubj root") for _ in range(3)]
    said = []
    with notices(said.append):
        train_adaptation(pair_styles(trees, trees), rng=np.random.default_rng(1))
    assert "the trees of both styles are the same, so that the converter changes none" in said


def test_new_trees_without_relations_are_noticed():
    old = [make_sentence("a b c", "D N V", [2, 3, 0], "det nsubj root") for _ in range(3)]
    new = [make_sentence("a b c", "D N V", [0, 1, 2], "_ _ _") for _ in range(3)]
    said = []
    with notices(said.append):
        train_adaptation(pair_styles(old, new), rng=np.random.default_rng(1))
    assert (
        "no target word has a relation, so none is learned: the converter keeps those of the source" in said
    )


def test_sentences_that_are_too_long_stay_as_they_are():
    long = make_sentence("a " * 1001, "X " * 1001, range(1001), "dep " * 1001)
    short = make_sentence("a b", "X X", [2, 0], "dep root")
    said = []
    with notices(said.append):
        found = list(convert_treebank(Converter.untrained(), [short, long]))
    assert found[1].sentence(confidence=True) is long
    assert said == ["1 sentence of more than 1,000 words written unchanged, not converted"]
