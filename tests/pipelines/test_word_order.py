"""Trees in another word order: what is learned of sides, and what stays of a tree."""

import numpy as np
import pytest

from qsproj.conventions import frozen_heads
from qsproj.corpus.editing import with_heads
from qsproj.corpus.pairs.translations import link_strengths
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.pipelines.translated_trees import SEEN, WordOrder, make_translator
from tests.sentences import make_sentence

# She saw the dog in Rome, and in Turkish order: she Rome-in dog saw.
SAW = make_sentence(
    "She saw dogs in Rome .",
    "PRON VERB NOUN ADP PROPN PUNCT",
    [2, 0, 2, 5, 2, 2],
    "nsubj root obj case obl punct",
)
TURKISH = (["o", "Roma", "da", "kopek", "gordu", "."], [(1, 1), (2, 5), (3, 4), (4, 3), (5, 2), (6, 6)])
ENGLISH = (["sie", "sah", "hunde", "in", "Rom", "."], [(i, i) for i in range(1, 7)])


def pair(words, links, weights=None, source=SAW):
    target = make_sentence(" ".join(words), " ".join(["X"] * len(words)))
    return SentencePair(source, target, make_alignment(len(source), len(words), links, weights=weights))


def order_of(*pairs):
    order = WordOrder()
    for one in pairs:
        strengths = link_strengths(one.alignment)
        order.observe(one.source, strengths.argmax(axis=1).tolist(), strengths.max(axis=1).tolist())
    return order


def by_name(sentence):
    heads = [sentence.forms[head - 1] if head > 0 else None for head in sentence.heads[1:]]
    return sorted(zip(sentence.forms, sentence.upos, sentence.deprels, heads, strict=True), key=str)


def test_words_go_where_links_cross():
    order = order_of(*[pair(*TURKISH)] * 1000)
    changed = order.reordered(SAW, np.random.default_rng(1))
    assert changed.forms == ("She", "Rome", "in", "dogs", "saw", ".")
    assert by_name(changed) == by_name(SAW)
    assert changed.layout is None


def test_nothing_moves_where_nothing_crosses():
    order = order_of(*[pair(*ENGLISH)] * 3)
    assert order.reordered(SAW, np.random.default_rng(1)) is SAW
    assert WordOrder().reordered(SAW, np.random.default_rng(1)) is SAW


def test_a_side_is_drawn_as_often_as_it_was_seen():
    order = order_of(*[pair(*TURKISH)] * 300, *[pair(*ENGLISH)] * 700)
    rng = np.random.default_rng(1)
    before = [
        made.forms.index("dogs") < made.forms.index("saw")
        for made in (order.reordered(SAW, rng) for _ in range(2000))
    ]
    assert np.mean(before) == pytest.approx(0.3, abs=0.04)


def test_what_was_seldom_seen_is_told_by_wider_kinds():
    # Links of weight .8: each arc counts .64, of these one in four is of an object; all objects cross.
    order = order_of(pair(*TURKISH, weights=[0.8] * 6))
    right = (2 * 0.64) / (3 * 0.64 + SEEN)
    relation = (0.64 + SEEN * right) / (0.64 + SEEN)
    assert order.crossing(SAW, 3, 2) == pytest.approx((0.64 + SEEN * relation) / (0.64 + SEEN))
    # A relation that was never seen, on the right.
    other = with_heads(SAW, SAW.heads, ["nsubj", "root", "iobj", "case", "obl", "punct"])
    assert order.crossing(other, 3, 2) == pytest.approx(right)


def test_weak_links_say_nothing():
    order = order_of(*[pair(*TURKISH, weights=[0.2] * 6)] * 100)
    assert order.crossing(SAW, 3, 2) == 0.0


@pytest.mark.parametrize("seed", range(30))
def test_any_tree_stays_the_same_tree(seed):
    rng = np.random.default_rng(seed)
    n = 12
    heads = [int(rng.integers(0, word)) for word in range(1, n + 1)]
    places = rng.permutation(n) + 1
    mixed = np.full(n + 1, -1)
    for word, head in enumerate(heads, start=1):
        mixed[places[word - 1]] = places[head - 1] if head else 0
    words = [f"w{i}" for i in range(n)]
    source = make_sentence(" ".join(words), " ".join(["X"] * n), mixed[1:].tolist(), " ".join(["dep"] * n))
    links = list(zip(range(1, n + 1), (rng.permutation(n) + 1).tolist(), strict=True))
    order = order_of(*[pair(words, links, source=source)] * 20)
    changed = order.reordered(source, rng)
    assert by_name(changed) == by_name(source)
    assert sorted(changed.forms) == sorted(source.forms)
    spans = [sorted((int(h), d)) for d, h in enumerate(changed.heads[1:], start=1)]
    if changed is not source:
        assert not any(a < c < b < d for a, b in spans for c, d in spans)


def test_a_deep_chain_is_no_matter():
    n = 5000
    source = make_sentence(" ".join(["w"] * n), " ".join(["X"] * n), list(range(n)), " ".join(["dep"] * n))
    small = pair(["a", "b"], [(1, 2), (2, 1)], source=make_sentence("c d", "X X", [0, 1], "dep dep"))
    changed = order_of(*[small] * 10_000).reordered(source, np.random.default_rng(1))
    assert changed.heads[1] != 0


def test_a_sentence_without_all_heads_stays():
    partial = with_heads(SAW, frozen_heads([-1, 2, 0, 2, 5, -1, 2]))
    assert order_of(*[pair(*TURKISH)] * 1000).reordered(partial, np.random.default_rng(1)) is partial


def test_trees_are_translated_and_reordered_at_once():
    translate = make_translator([pair(*TURKISH)] * 1000)
    (made,) = translate([SAW], np.random.default_rng(1), complete=False)
    assert list(made.upos) == ["PRON", "PROPN", "ADP", "NOUN", "VERB", "PUNCT"]


def test_the_order_of_long_bitexts_is_followed_as_well():
    # One tree in twenty has another order: the mean over all arcs does not decide.
    translate = make_translator([*[pair(*ENGLISH)] * 5700, *[pair(*TURKISH)] * 300])
    made = translate([SAW] * 2000, np.random.default_rng(1), complete=False)
    assert np.mean([tree.upos[-2] == "VERB" for tree in made]) == pytest.approx(0.05, abs=0.02)
