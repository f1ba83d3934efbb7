"""Projection of arcs: word by word on small pairs, and on the sample."""

import numpy as np
import pytest

from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import UsageError
from qsproj.pipelines.projection.hard_projection import (
    ProjectedTrees,
    ProjectionCounts,
    direct_projection,
    one_to_one,
    project_tree,
    through_links,
)
from qsproj.pipelines.projection.methods import ProjectedArcs
from tests.sentences import make_sentence

ENGLISH = make_sentence(
    "She likes old cats .", "PRON VERB ADJ NOUN PUNCT", [2, 0, 4, 2, 2], "nsubj root amod obj punct"
)


def pair(forms, links, source=ENGLISH, tag="X"):
    words = forms.split()
    target = make_sentence(forms, " ".join(tag for _ in words))
    return SentencePair(source, target, make_alignment(len(source), len(words), links))


def test_only_links_that_share_no_word_are_one_to_one():
    alignment = make_alignment(3, 4, [(1, 1), (2, 2), (2, 3), (3, 4), (1, 4)])
    assert one_to_one(alignment).tolist() == [0, -1, -1, -1, -1]
    assert one_to_one(make_alignment(2, 3, [(1, 3), (2, 1)])).tolist() == [0, 2, -1, 1]


def test_arcs_follow_links():
    heads, relations = through_links(pair("Sie mag alte Katzen .", [(i, i) for i in range(1, 6)]))
    assert heads.tolist() == ENGLISH.heads.tolist()
    assert relations == ENGLISH.deprels


def test_a_word_whose_head_is_not_linked_gets_no_head():
    heads, relations = through_links(pair("alte Katzen mag sie", [(3, 1), (4, 2), (1, 4)]))
    assert heads.tolist() == [-1, 2, -1, -1, -1]
    assert relations == ("amod", "_", "_", "_")


def test_hwa_hangs_a_group_on_its_last_word():
    # "likes" is three words in the target.
    heads, relations = direct_projection(pair("Sie hat gern Katzen", [(1, 1), (2, 2), (2, 3), (4, 4)]))
    assert heads.tolist() == [-1, 3, 3, 0, 3]
    assert relations == ("nsubj", "dep", "root", "obj")


def test_hwa_takes_the_highest_of_several_source_words():
    heads, _ = direct_projection(pair("Sie mag Altkatzen", [(1, 1), (2, 2), (3, 3), (4, 3)]))
    assert heads.tolist() == [-1, 2, 0, 2]


def test_hwa_counts_the_arcs_to_the_root_whatever_words_they_pass():
    """Words 2 and 6 share a partner; 2 is higher, by way of word 1."""
    source = make_sentence("a b c d e f", "X X X X X X", [3, 1, 0, 3, 4, 5])
    links = [(2, 1), (6, 1), (1, 2), (5, 3), (3, 4)]
    heads, _ = direct_projection(pair("B A E C", links, source=source))
    assert heads.tolist() == [-1, 2, 4, 4, 0]


def test_hwa_steps_over_an_unlinked_head_but_not_to_the_root():
    # "cats" has no partner: "old" hangs on the verb. Without the verb, nothing becomes a second root.
    heads, _ = direct_projection(pair("Sie mag alte", [(1, 1), (2, 2), (3, 3)]))
    assert heads.tolist() == [-1, 2, 0, 2]
    heads, _ = direct_projection(pair("Sie alte Katzen", [(1, 1), (3, 2), (4, 3)]))
    assert heads.tolist() == [-1, -1, 3, -1]


def test_projected_heads_are_always_a_partial_tree():
    rng = np.random.default_rng(2)
    for _ in range(200):
        n_target = int(rng.integers(1, 8))
        links = {
            (int(rng.integers(1, 6)), int(rng.integers(1, n_target + 1))) for _ in range(rng.integers(0, 9))
        }
        example = pair(" ".join("w" for _ in range(n_target)), sorted(links))
        for project in (through_links, direct_projection):
            heads, relations = project(example)
            assert len(relations) == n_target
            assert np.count_nonzero(heads[1:] == 0) <= 1
            for word in range(1, n_target + 1):
                above = {word}
                while (word := int(heads[word])) > 0:
                    assert word not in above
                    above.add(word)


def test_counts_judge_only_words_with_a_gold_head():
    target = make_sentence("Sie mag alte Katzen", "X X X X", [2, 0, 2, -1])
    example = SentencePair(ENGLISH, target, make_alignment(5, 4, [(1, 1), (2, 2), (3, 3), (4, 4)]))
    _, counts = project_tree(example)
    assert counts == ProjectionCounts(pairs=1, words=4, arcs=4, whole=1, gold=3, judged=3, right=2)
    assert counts.precision == pytest.approx(200 / 3)
    assert counts.recall == pytest.approx(200 / 3)
    assert (counts + counts).right == 4


def test_the_sample_projects_well_through_its_own_links(sample):
    projected = ProjectedTrees(sample)
    assert len(list(projected)) == 90
    counts = projected.counts
    assert counts.pairs == 90
    assert 88 < counts.precision < 93
    assert 75 < counts.recall < 82


def test_unparsed_sources_are_refused():
    bare = make_sentence("She sleeps", "PRON VERB")
    with pytest.raises(UsageError, match="parse the source first"):
        list(ProjectedTrees([pair("Sie schläft", [(1, 1)], source=bare)]))


def test_untagged_targets_are_refused():
    with pytest.raises(UsageError, match="no target word has a UPOS tag; tag the target first"):
        list(ProjectedTrees([pair("Sie schläft", [(1, 1)], tag="_")]))


def test_light_links_are_not_followed():
    alignment = make_alignment(5, 2, [(1, 1), (2, 2), (3, 2)], weights=[0.9, 0.8, 0.3])
    target = make_sentence("Sie mag", "X X")
    example = SentencePair(ENGLISH, target, alignment)
    assert project_tree(example)[0].heads.tolist() == [-1, 2, 0]
    assert project_tree(example, ProjectedArcs(min_weight=0.2))[0].heads.tolist() == [-1, -1, -1]
    assert project_tree(example, ProjectedArcs(min_weight=0.85))[0].heads.tolist() == [-1, -1, -1]
