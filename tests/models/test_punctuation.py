"""Punctuation marks: attached as the guidelines say, and as far as a parser has learned."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import misc_values, with_heads
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc import punctuation
from qsproj.models.arc.punctuation import (
    PUNCT,
    TOGETHER,
    paired_marks,
    tree_of_words,
    with_marks_attached,
)
from qsproj.models.constraints import known_part
from qsproj.models.storage import load_model
from qsproj.models.tree_decoder import DECODERS, TreeDecoder
from qsproj.trees import projective
from qsproj.trees.crossings import crossing_arcs

TREES = TreeDecoder(projective=True, single_root=True)
# Word, tag, head; heads of marks are those of the guidelines.
SENTENCES = {
    "subordinate clause first": "If/SCONJ/3 she/PRON/3 sang/VERB/6 ,/PUNCT/3 we/PRON/6 left/VERB/0 ./PUNCT/6",
    "subordinate clause last": "They/PRON/2 left/VERB/0 ,/PUNCT/6 because/SCONJ/6 she/PRON/6 sang/VERB/2",
    "conjuncts": "apples/NOUN/0 ,/PUNCT/3 pears/NOUN/1 ,/PUNCT/6 and/CCONJ/6 nuts/NOUN/1 !/PUNCT/1",
    "clause between commas": "The/DET/2 man/NOUN/7 ,/PUNCT/5 who/PRON/5 came/VERB/2 ,/PUNCT/5 left/VERB/0",
    "brackets": "He/PRON/2 met/VERB/0 Ann/PROPN/2 (/PUNCT/6 his/PRON/6 aunt/NOUN/3 )/PUNCT/6 !/PUNCT/2",
    "after a conjunction": "He/PRON/2 ate/VERB/0 and/CCONJ/7 ,/PUNCT/5 then/ADV/7 ,/PUNCT/5 left/VERB/2",
    "conjunction alone": "He/PRON/2 ate/VERB/0 and/CCONJ/5 ,/PUNCT/5 left/VERB/2",
    "a mark first": "—/PUNCT/3 You/PRON/3 came/VERB/0 …/PUNCT/3",
}


def mark_heads(forms, tags, heads):
    return punctuation.mark_heads(tree_of_words(forms, tags, heads), paired_marks(forms))


def parts(text):
    rows = [word.rsplit("/", 2) for word in text.split()]
    forms, tags, heads = zip(*rows, strict=True)
    return forms, tags, np.array([-1, *map(int, heads)], dtype=np.int32)


@pytest.mark.parametrize("text", SENTENCES.values(), ids=SENTENCES)
def test_marks_are_attached_by_the_guidelines(text):
    forms, tags, heads = parts(text)
    marks = [place for place, tag in enumerate(tags, start=1) if tag == PUNCT]
    assert mark_heads(forms, tags, heads) == {mark: heads[mark] for mark in marks}
    # Whatever the marks depended on, and even where words depend on a mark.
    other = heads.copy()
    other[marks] = 1 if heads[1] == 0 else int(np.flatnonzero(heads == 0)[0])
    assert mark_heads(forms, tags, other) == mark_heads(forms, tags, heads)


def shortest_arc_over(mark, words, heads):
    """Return the dependent of the shortest arc between words that passes over a mark; None: no arc."""
    spans = ((min(word, heads[word]), max(word, heads[word]), word) for word in words)
    over = [(last - first, word) for first, last, word in spans if first < mark < last]
    return min(over)[1] if over else None


@pytest.mark.parametrize("seed", range(20))
def test_a_mark_depends_on_the_dependent_of_the_shortest_arc_over_it(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 16))
    is_mark = rng.random(size) < 0.3
    is_mark[rng.integers(size)] = False
    words = (np.flatnonzero(~is_mark) + 1).tolist()
    among = np.concatenate([[0], words])
    scores = rng.normal(size=(len(words) + 1, len(words) + 1))
    (tree,) = projective.sample(scores, 1, rng, single_root=True)
    heads = np.zeros(size + 1, dtype=np.int32)
    heads[0], heads[words] = -1, among[tree[1:]]
    root = int(np.flatnonzero((heads == 0) & np.isin(np.arange(size + 1), words))[0])
    heads[1:][is_mark] = root
    tags = [PUNCT if mark else "NOUN" for mark in is_mark]
    # Forms differ, so that no two marks enclose anything.
    found = mark_heads([str(place) for place in range(size)], tags, heads)
    assert found.keys() == set((np.flatnonzero(is_mark) + 1).tolist())
    for mark, head in found.items():
        inside = shortest_arc_over(mark, [word for word in words if heads[word] > 0], heads)
        assert head == (root if inside is None else inside)
    attached = heads.copy()
    attached[list(found)] = list(found.values())
    assert not crossing_arcs(attached).any()


def test_probabilities_of_marks_are_means():
    forms, tags, heads = parts(SENTENCES["clause between commas"])
    scores = np.random.default_rng(3).normal(size=(8, 8))
    sure = scores.copy()
    for word in (1, 2, 4, 5, 7):
        sure[heads[word], word] += 60.0
    own = TREES.infer(sure)[1]
    mixed = TREES.infer(with_marks_attached(sure, forms, tags, TREES))[1]
    # The tree of the words is certain; of the arcs into a mark it leaves those that cross nothing.
    for mark in (3, 6):
        expected = 0.5 * own[:, mark] + 0.5 * (np.arange(8) == heads[mark])
        np.testing.assert_allclose(mixed[:, mark], expected, atol=1e-6)
    np.testing.assert_allclose(mixed[:, [1, 2, 4, 5, 7]], own[:, [1, 2, 4, 5, 7]], atol=1e-6)


def test_closing_marks_gain_the_arcs_of_opening_ones_to_the_words_between(monkeypatch):
    forms, tags, _ = parts(SENTENCES["brackets"])
    first, last = 4, 7
    scores = np.random.default_rng(7).normal(size=(9, 9))
    found = with_marks_attached(scores, forms, tags, TREES, temperature=2.0)
    monkeypatch.setattr(punctuation, "TOGETHER", 0.0)
    alone = with_marks_attached(scores, forms, tags, TREES, temperature=2.0)
    expected = np.zeros_like(scores)
    expected[5:7, last] = TOGETHER * TREES.infer(alone / 2.0)[1][5:7, first]
    np.testing.assert_allclose(found - alone, expected, atol=1e-12)


@pytest.mark.parametrize("words", ["a/NOUN/2 (/X/0 b/NOUN/2 )/PUNCT/2", "a/NOUN/0 (/PUNCT/1 )/PUNCT/1"])
def test_pairs_of_other_tags_or_without_words_gain_nothing(words, monkeypatch):
    forms, tags, _ = parts(words)
    scores = np.random.default_rng(2).normal(size=(len(forms) + 1,) * 2)
    found = with_marks_attached(scores, forms, tags, TREES)
    monkeypatch.setattr(punctuation, "TOGETHER", 0.0)
    np.testing.assert_array_equal(found, with_marks_attached(scores, forms, tags, TREES))


def test_sentences_without_marks_stay():
    scores = np.random.default_rng(0).normal(size=(3, 3))
    assert with_marks_attached(scores, ("a", "b"), ("NOUN", "VERB"), TREES) is scores


@pytest.mark.parametrize("seed", range(5))
def test_marks_alone_depend_on_the_first(seed):
    for scale in (1.0, 30.0):
        scores = scale * np.random.default_rng(seed).normal(size=(5, 5))
        changed = with_marks_attached(scores, ("?", "!", ".", ")"), (PUNCT,) * 4, TREES)
        assert [TREES.decode(changed, way).tolist() for way in DECODERS] == [[-1, 0, 1, 1, 1]] * 2


@pytest.mark.parametrize("crossing", [False, True])
def test_parsers_attach_marks_alike_in_blocks_and_singly_around_known_heads(crossing):
    parser = replace(load_model("tests/kept_models/arc-parser.model"), attaches_marks=True, temperature=2.0)
    parser = parser.allowing_crossings() if crossing else parser
    gold = list(read_conllu("corpora/de.conllu"))[:12]
    blocks = list(parser.parse_all(gold, confidence=True))
    for one, other in zip(blocks, gold, strict=True):
        alone = parser.parse(other, confidence=True)
        assert one.heads.tolist() == alone.heads.tolist()
        assert misc_values(one, "ArcProb") == misc_values(alone, "ArcProb")
    # Known: each second head, with that of a mark that the guidelines attach elsewhere.
    for sentence in gold:
        heads = np.where(np.arange(len(sentence) + 1) % 2, -1, sentence.heads)
        mark = next(place for place in range(len(sentence), 0, -1) if sentence.upos[place - 1] == PUNCT)
        heads[mark] = mark - 1
        partial = with_heads(sentence, heads)
        parsed = parser.parse(partial, given=known_part(partial))
        (again,) = parser.parse_all([partial], known=known_part)
        assert parsed.heads[heads >= 0].tolist() == heads[heads >= 0].tolist()
        assert parsed.heads.tolist() == again.heads.tolist()


def test_evidence_of_the_heads_of_marks_is_left_to_decoding():
    """It would count twice: a mark with a known relation and no known head."""
    forms, tags, _ = parts(SENTENCES["conjuncts"])
    scores = np.random.default_rng(1).normal(size=(len(forms) + 1,) * 2)
    sentence = Sentence.from_words(forms, upos=tags)
    evidence = np.zeros_like(scores)
    evidence[:, 2] = np.arange(len(scores))
    without = known_part(sentence).within(TREES)
    known = replace(without, evidence=evidence)
    of_both = [with_marks_attached(scores, forms, tags, one, temperature=2.0) for one in (without, known)]
    np.testing.assert_array_equal(*of_both)
