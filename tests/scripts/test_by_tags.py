"""Parsers tested by how words are tagged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import qsproj
from qsproj.corpus.conllu import read_conllu
from qsproj.models.tagging.tagger_training import train_tagger
from scripts.experiments.transfer.by_tags import BEST_TAGS, GOLD_TAGS, UNCERTAIN_TAGS, Part, scores_by_tags


@pytest.fixture(scope="module")
def trees():
    return list(read_conllu("corpora/de.conllu"))[:20]


@pytest.fixture(scope="module")
def part(trees):
    """Tags of a tagger that has seen the first three sentences alone."""
    return Part(trees, train_tagger(trees[:3], rng=np.random.default_rng(1), language="de"))


def test_kinds_of_tags_differ(trees, part):
    found = scores_by_tags(qsproj.train_parser(trees), [part])
    assert found[GOLD_TAGS]["upos"] == 100.0
    assert found[BEST_TAGS]["upos"] < 95.0
    assert found[GOLD_TAGS]["uas"] > found[BEST_TAGS]["uas"]
    assert found[BEST_TAGS] != found[UNCERTAIN_TAGS]


def test_parts_are_scored_together(trees, part):
    parser = qsproj.train_parser(trees[:5])
    halves = [Part(trees[:10], part.tagger), Part(trees[10:], part.tagger)]
    assert scores_by_tags(parser, halves) == scores_by_tags(parser, [part])


def test_a_second_order_reads_the_best_tags(trees, part):
    parser, few = qsproj.train_parser(trees[:3], order=2), replace(part, gold=trees[:3])
    found = scores_by_tags(parser, [few], kinds=(BEST_TAGS, UNCERTAIN_TAGS))
    assert found[UNCERTAIN_TAGS] == found[BEST_TAGS]
