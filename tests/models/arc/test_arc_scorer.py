"""Weights lie where kernels read them fast; criteria for features against plain counting, arc by arc."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from qsproj.features.arc_templates import TEMPLATE_SETS, arc_features, compile_templates
from qsproj.features.atoms import encode
from qsproj.kernels.features.arc_features import list_arcs
from qsproj.models.arc.arc_scorer import CACHE_LINE, HASH_BITS, ArcScorer, bit_mask, supported_by
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from tests.sentences import make_sentence


def test_a_copy_starts_on_a_line_of_the_cache():
    values = np.linspace(-1.0, 1.0, 37)
    for first in range(17):
        copy = ArcScorer("words", values[first:]).with_weights(values[first:]).weights
        assert copy.ctypes.data % CACHE_LINE == 0
        assert copy.dtype == np.float32
        assert copy.tolist() == values[first:].astype(np.float32).tolist()
        assert not np.shares_memory(copy, values)


SENTENCES = [
    make_sentence("a b c d e f g h", "X Y Z X X Y Z Z", [2, 0, 2, 3, 3, 2, 6, 2]),
    make_sentence("h g a b", "Z Z X Y", [2, 0, 4, 2]),
    make_sentence("b a", "Y X", [2, 0]),
]
EVERYTHING = bit_mask(np.ones(1 << HASH_BITS, dtype=bool))
CHOSEN = {
    "trees": lambda sentence, head, word: sentence.heads[word] == head,
    "links": lambda sentence, head, word: True,
    "short": lambda sentence, head, word: head == 0 or abs(head - word) <= 5,
    "sentences": lambda sentence, head, word: True,
}


def counted(criterion):
    """Count the buckets of the arcs that the criterion looks at."""
    compiled = compile_templates(TEMPLATE_SETS["delexicalised"])
    counts = Counter()
    for sentence in SENTENCES:
        features = arc_features(encode(sentence, compiled.attributes), compiled, 1 << HASH_BITS)
        arcs = [
            (head, word)
            for head, word in product(range(len(sentence) + 1), range(1, len(sentence) + 1))
            if head != word and CHOSEN[criterion](sentence, head, word)
        ]
        heads, words = np.array(arcs, dtype=np.int32).T.copy()
        buckets = list_arcs(features, heads, words, EVERYTHING)[1].tolist()
        counts.update(set(buckets) if criterion == "sentences" else buckets)
    return counts


@pytest.mark.parametrize("criterion", list(CHOSEN))
@pytest.mark.parametrize("cutoff", [1, 3])
def test_features_exist_where_they_were_counted_often_enough(criterion, cutoff):
    attributes = compile_templates(TEMPLATE_SETS["delexicalised"]).attributes
    examples = ((encode(sentence, attributes), sentence.heads) for sentence in SENTENCES)
    support = supported_by("delexicalised", examples, cutoff=cutoff, criterion=criterion)
    found = np.flatnonzero(np.unpackbits(support.view(np.uint8), bitorder="little"))
    wanted = {bucket for bucket, count in counted(criterion).items() if count >= cutoff}
    assert set(found.tolist()) == wanted
    assert wanted


def test_criteria_differ_and_parsers_are_trained_by_them():
    sizes = {}
    for criterion in CHOSEN:
        options = TrainingOptions(epochs=1, cutoff=2, support=criterion, template_set="delexicalised")
        parser, _ = train_arc_parser(SENTENCES, rng=np.random.default_rng(1), options=options)
        sizes[criterion] = np.count_nonzero(parser.scorer.weights)
    assert sizes["trees"] < sizes["sentences"] < sizes["links"] > sizes["short"] > sizes["trees"]
