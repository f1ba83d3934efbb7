"""Arcs under other tags against retagged sentences, and what the sum over trees grows by."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.joint.tag_choices import TagChoices, TaggedArcs, tagged_arcs
from tests.oracles.factor_graphs import log_sum
from tests.oracles.trees import all_trees

WORDS = ("Vi", "såg", "en", "katt", "som", "sov")
UPOS = ("PRON", "VERB", "DET", "NOUN", "PRON", "VERB")
TAGS = {2: ("VERB", "AUX"), 3: ("DET", "NUM", "ADV"), 6: ("VERB", "NOUN")}


def choices_of(tags):
    most = max(map(len, tags.values()))
    scores = [[-0.5 * k if k < len(names) else -np.inf for k in range(most)] for names in tags.values()]
    return TagChoices(np.array(list(tags), dtype=np.int32), tuple(tags.values()), np.array(scores))


@pytest.mark.parametrize("template_set", ["words", "morphology"])
def test_arcs_score_as_in_the_retagged_sentence(template_set):
    """All arcs and pairs of tags, neighbours among them, whose tags are features of each other's arcs."""
    rng = np.random.default_rng(2)
    blank = ArcScorer.untrained(template_set, hash_bits=16)
    scorer = ArcScorer(template_set, rng.normal(size=len(blank.weights)).astype(np.float32))
    sentence = Sentence.from_words(WORDS, upos=UPOS)
    kept = ~np.eye(7, dtype=bool)
    kept[:, 0] = kept[5, 2] = False
    found = tagged_arcs(scorer, sentence, choices_of(TAGS), kept)

    def scores(retagged):
        upos = [retagged.get(word, tag) for word, tag in enumerate(UPOS, start=1)]
        return scorer.scores(scorer.features(scorer.encode(with_columns(sentence, upos=upos))))

    plain = scores({})
    ends = list(zip(found.heads.tolist(), found.dependents.tolist()))
    assert set(ends) == {(h, d) for h, d in np.argwhere(kept).tolist() if h in TAGS or d in TAGS}
    for (h, d), own in zip(ends, found.scores, strict=True):
        for r, s in itertools.product(range(3), repeat=2):
            names = TAGS.get(h, ("",)), TAGS.get(d, ("",))
            if r >= len(names[0]) or s >= len(names[1]):
                assert own[r, s] == 0.0
                continue
            changed = {word: tags[k] for word, tags, k in zip((h, d), names, (r, s)) if k}
            assert own[r, s] == pytest.approx(scores(changed)[h, d] - plain[h, d], abs=1e-4)


def test_the_sum_over_trees_grows_by_what_is_said():
    """Exact where the arcs that change exclude each other, the heads of a word, or are one arc from it."""
    rng, n = np.random.default_rng(3), 3
    scores, changes = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    trees = all_trees(n, projective=False, single_root=False)
    choices = choices_of({2: ("NOUN", "VERB")})
    for arcs in ([(0, 2), (1, 2), (3, 2)], [(2, 1)]):

        def log_z(changed, arcs=arcs):
            table = scores + np.array(
                [[changed * changes[h, d] * ((h, d) in arcs) for d in range(4)] for h in range(4)]
            )
            return log_sum([sum(table[tree[d], d] for d in range(1, n + 1)) for tree in trees])

        weights = np.exp([sum(scores[tree[d], d] for d in range(1, n + 1)) for tree in trees])
        marginals = np.zeros((4, 4))
        for tree, weight in zip(trees, weights / weights.sum()):
            for d in range(1, n + 1):
                marginals[tree[d], d] += weight
        heads, dependents = np.array(arcs, dtype=np.int32).T
        tables = np.zeros((len(arcs), 2, 2))
        for table, (h, d) in zip(tables, arcs):
            table[(1, 0) if h == 2 else (0, 1)] = changes[h, d]
        grown = TaggedArcs(heads, dependents, tables).growth(choices, marginals)
        np.testing.assert_allclose(grown, [[0.0, log_z(1.0) - log_z(0.0)]], atol=1e-9)


def test_an_uncertain_word_at_the_other_end_counts_by_its_tags():
    """The change of an arc is the mean over the tags of its other word, by what the tagger says of them."""
    choices = choices_of({1: ("NOUN", "VERB"), 2: ("ADJ", "ADV")})
    tables = np.array([[[0.0, 0.7], [-0.4, 1.1]]])
    chances = np.zeros((3, 3))
    chances[1, 2] = 0.3
    arcs = TaggedArcs(np.array([1], dtype=np.int32), np.array([2], dtype=np.int32), tables)
    tags = np.exp([0.0, -0.5]) / np.exp([0.0, -0.5]).sum()

    def log_of(means):
        return np.log(1.0 + 0.3 * (means - 1.0))

    by_head, by_dependent = log_of(np.exp(tables[0]) @ tags), log_of(tags @ np.exp(tables[0]))
    expected = [[0.0, by_head[1] - by_head[0]], [0.0, by_dependent[1] - by_dependent[0]]]
    np.testing.assert_allclose(arcs.growth(choices, chances), expected, atol=1e-9)
