"""Alignment by name of method, and real text against hand alignments."""

import lzma
from itertools import islice

import numpy as np
import pytest

from qsproj.alignment.aligners import align_words
from qsproj.alignment.encoding import beginning, encode_bitext
from qsproj.corpus.formats import read_alignments
from qsproj.errors import UsageError
from qsproj.evaluation.alignment import alignment_scores

PAIRS = [(("the", "house"), ("das", "haus")), ((), ("x",)), (("the", "book"), ("das", "buch"))] * 4


def test_one_alignment_for_each_pair_with_weights():
    alignments = list(align_words(PAIRS))
    assert [(a.n_source, a.n_target) for a in alignments] == [(len(s), len(t)) for s, t in PAIRS]
    assert alignments[0].links.tolist() == [[1, 1], [2, 2]]
    assert alignments[1].links.tolist() == []
    assert all(((a.weights > 0.5) & (a.weights <= 1)).all() for a in alignments)


def test_names_are_checked_at_once():
    with pytest.raises(UsageError, match="known: hmm, eflomal"):
        align_words(PAIRS, method="giza")
    with pytest.raises(UsageError, match="known: threshold, intersection"):
        align_words(PAIRS, symmetrization="best")


@pytest.mark.parametrize(
    ("word", "kept", "expected"),
    [
        ("Häuser", 4, "häus"),
        ("the", 4, "the"),
        ("daß", 4, "dass"),
        ("12345678", 5, "12345678"),
        ("학교에서", 4, "학교"),
        ("북", 5, "북"),
        ("Häuser", None, "häuser"),
    ],
)
def test_words_are_cut_to_their_first_letters(word, kept, expected):
    assert beginning(word, kept) == expected


@pytest.mark.parametrize(("pairs", "expected"), [(1, "haus"), (3, "hausg"), (4, "hausgenosse")])
def test_words_are_cut_by_the_size_of_the_bitext(monkeypatch, pairs, expected):
    monkeypatch.setattr("qsproj.alignment.encoding.LETTERS", {4: 2, 5: 4})
    vocabularies = ({}, {})
    encoded = list(encode_bitext([(("x",), ("Hausgenosse",))] * pairs, vocabularies, size=2))
    assert list(vocabularies[1]) == [expected]
    assert sum(len(part.lengths) for part in encoded) == pairs


def test_hand_alignments(data_dir):
    """English-Spanish development pairs with 3,000 more: AER is 19.9 with whole words, 15.8 so."""
    gold = data_dir / "alignments" / "en-es" / "xl-wa-dev.tsv"
    with (
        gold.open(encoding="utf-8", newline="") as rows,
        lzma.open(data_dir / "bitext" / "en-es.tsv.xz", "rt", encoding="utf-8", newline="") as more,
    ):
        lines = [*rows, *islice(more, 3000)]
    pairs = [tuple(side.split() for side in line.split("\t")[:2]) for line in lines]
    scores = alignment_scores(read_alignments(gold, "tsv"), islice(align_words(pairs), 105))
    assert scores.sentences == 105
    assert scores.error_rate < 18


def test_links_are_sorted_and_read_only():
    alignment = next(iter(align_words(PAIRS, symmetrization="union")))
    assert not alignment.links.flags.writeable
    assert (np.lexsort(alignment.links.T[::-1]) == np.arange(len(alignment.links))).all()
