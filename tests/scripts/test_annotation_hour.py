"""The simulated hour of a speaker: what answers cost, wrong ones, and the tables."""

from __future__ import annotations

import numpy as np
import pytest

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.pipelines.bootstrap.suggestions import SuggestedQuestion
from qsproj.pipelines.suggest import Costs
from scripts.experiments.transfer import annotation_hour as hour


@pytest.fixture(scope="module")
def gold():
    return list(read_conllu("corpora/de.conllu"))[:60]


def speaker(gold=(), **lexicon):
    tags = {word: tuple(tags.split()) for word, tags in lexicon.items()}
    return hour.Speaker(gold, tags, Costs(), 0.5)


def test_wrong_answers_are_still_trees(gold):
    rng = np.random.default_rng(1)
    wrong = words = 0
    for one in gold:
        other = hour.with_mistakes(one, 0.2, rng)
        for word in range(1, len(one) + 1):
            at, steps = word, 0
            while at != 0:
                at, steps = int(other.heads[at]), steps + 1
                assert steps <= len(one), "a cycle"
        words += 3 * len(one)
        wrong += int((one.heads != other.heads).sum())
        wrong += sum(a != b for a, b in zip((*one.upos, *one.deprels), (*other.upos, *other.deprels)))
    assert 0.08 < wrong / words < 0.2


def test_an_answer_settles_the_words_that_have_this_tag_alone(gold):
    words = ("is", "was", "stay", "x")
    asked = SuggestedQuestion(
        name="be", tags=("VERB", "AUX"), in_text=9, in_bitext=9, wrong=3.0, words=words, others=0.0
    )
    one = speaker(**{"is": "AUX", "was": "AUX", "stay": "AUX VERB"})
    # Four words to read, two to leave out, one answer to confirm; then a word of the list.
    assert one.settle([asked, "stay"], 100.0) == 100.0 - 4 - 2 * 3 - 2 - 4
    assert one.asked == {"is": ("AUX",), "was": ("AUX",), "stay": ("AUX", "VERB")}
    assert one.settle([asked], 100.0) == 100.0, "asked once"
    assert speaker(**{"is": "AUX"}).settle([asked], 5.0) == 5.0, "no time"


def test_without_a_model_each_wrong_cell_is_a_correction(gold):
    one = gold[0]
    draft = hour.blank([one])[0]
    assert hour.corrections(None, one, one) == 0
    assert hour.corrections(None, draft, one) == 2 * len(one)


def test_what_is_left_in_a_draft_counts_for_the_next_advice(gold):
    one, draft = gold[0], hour.blank(gold[:1])[0]
    assert hour.words_kept(one, one) == len(one)
    assert hour.words_kept(draft, one) == 0
    tags = list(one.upos)
    tags[1] = "X"
    almost = with_columns(one, upos=tags)
    assert hour.words_kept(almost, one) == len(one) - 1
    person = speaker([one, one])
    assert person.correct([0, 1], [almost, one], None, 1000.0) == 1000.0 - 2 * (len(one) + 2) - 3
    assert [(each.words, each.kept) for each in person.passed] == [(len(one), len(one) - 1), (len(one),) * 2]
    assert person.passed[1].minutes == pytest.approx((2 * (len(one) + 2) + 3) / 60)


def figures(las, **more):
    scores = {"upos": 80.0, "uas": 60.0, "las_no_subtypes": las, "ece": 3.0}
    return {**scores, "words": 10, "sentences": 2, "seconds": 1.0, **more}


def test_tables_compare_ways_where_both_are_measured():
    errors = {"uas": 70.0, "las": 60.0, "unseen": 30.0, "unseen wrong": 20.0, "tags": ["ADJ > NOUN 1.0"]}
    errors |= {"relations": ["obl 3.0"]}
    found = {}
    for target, gain in (("uk", 9.0), ("wo", 6.0)):
        both = {0: figures(40.0), 10: figures(43.0), 60: figures(40.0 + gain, errors=errors)}
        found[target, hour.BOTH] = both
    found["uk", hour.CHANCE] = {0: figures(40.0), 60: figures(47.0)}
    made = hour.tables(found)
    assert made["compared"].cell(f"more than {hour.CHANCE}", "LAS") == "+2.0"
    assert made["first"].cell("Ukrainian", "share of the first 10") == "33%"
    assert made["first"].cell("Wolof", "share of the first 10") == "50%"
    assert made["hour"].cell("Wolof", hour.BOTH, "60", "LAS") == "46.0"
    assert "mean" not in made["hour"].names, "a mean is one of all languages"
    assert made["errors"].cell("Wolof", "of these, wrong tag") == "20.0"
    assert made["aims"].cell(f"Ukrainian, {hour.BOTH}", "reached") == "80.0/60.0/49.0"
