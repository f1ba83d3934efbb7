"""The built-in aligner: its sweeps against enumeration, and what training has to bring about."""

import numpy as np
import pytest

from qsproj.alignment.encoding import alignable, encode_bitext
from qsproj.alignment.hmm import HmmSettings, train_hmm
from qsproj.parallel import THIS_PROCESS, Workers
from tests.oracles import alignment as oracle

PLAIN = {"likeness_prior": 0.0, "lexical_prior": 0.01, "null_prior": 0.02, "null_probability": 0.2}


def random_bitext(seed, sizes, words=4):
    rng = np.random.default_rng(seed)
    sources = [[f"e{w}" for w in rng.integers(0, words, m)] for m, _ in sizes]
    targets = [[f"f{w}" for w in rng.integers(0, words, n)] for _, n in sizes]
    return sources, targets


@pytest.mark.parametrize(("ibm1_sweeps", "hmm_sweeps"), [(1, 0), (3, 0), (0, 1), (2, 1)])
def test_sweeps_by_enumeration(ibm1_sweeps, hmm_sweeps):
    sources, targets = random_bitext(3, [(2, 3), (1, 1), (3, 2), (4, 3), (3, 4)])
    result = train_hmm(
        zip(sources, targets),
        HmmSettings(ibm1_sweeps=ibm1_sweeps, hmm_sweeps=hmm_sweeps, reach=2, **PLAIN),
    )
    shares = [
        {(i, j): 0.5 / len(one) + 0.5 / len(other) for i in range(len(one)) for j in range(len(other))}
        for one, other in zip(sources, targets)
    ]
    nulls = [([0.0] * len(one), [0.0] * len(other)) for one, other in zip(sources, targets)]
    jump = [np.exp(-0.5 * abs(d - 1)) for d in range(-3, 4)]
    for model in ["ibm1"] * ibm1_sweeps + [(jump, jump)] * hmm_sweeps:
        expected = oracle.leave_one_out_sweep(
            sources,
            targets,
            shares,
            nulls,
            model=model,
            prior=PLAIN["lexical_prior"],
            null_prior=PLAIN["null_prior"],
            null_probability=PLAIN["null_probability"],
        )
    for pair, (right_forward, right_backward) in zip(result, expected, strict=True):
        np.testing.assert_allclose(pair.forward, np.transpose(right_forward), atol=1e-5)
        np.testing.assert_allclose(pair.backward, right_backward, atol=1e-5)


def dictionary_bitext(size, seed=1):
    """Sentences of random words, translated one by one and reversed in pairs; the links are known."""
    rng = np.random.default_rng(seed)
    pairs, links = [], []
    for _ in range(size):
        words = rng.integers(0, 40, 6)
        order = [1, 0, 3, 2, 5, 4] if rng.random() < 0.5 else [0, 1, 2, 3, 4, 5]
        pairs.append(([f"e{w}" for w in words], [f"f{words[i]}" for i in order]))
        links.append(order)
    return pairs, links


def test_a_dictionary_is_found():
    pairs, orders = dictionary_bitext(200)
    right = total = 0
    for pair, order in zip(train_hmm(pairs), orders, strict=True):
        right += (pair.forward.argmax(axis=0) == order).sum()
        total += len(order)
    # A word that stands twice in a sentence has two origins, of which the swap may hide the right one.
    assert right > 0.95 * total


def test_likelihood_rises_over_the_sweeps_of_each_model():
    pairs, _ = dictionary_bitext(200)
    values = []
    list(train_hmm(pairs, HmmSettings(ibm1_sweeps=5, hmm_sweeps=5), after_sweep=values.append))
    assert len(values) == 10
    assert values[1:5] == sorted(values[1:5])
    assert values[5:] == sorted(values[5:])


def test_same_bytes_again():
    sources, targets = random_bitext(9, [(5, 6)] * 40, words=12)
    once, again = (bytes_of(train_hmm(zip(sources, targets))) for _ in range(2))
    assert once == again


def test_like_spelling_is_a_hint():
    pairs = [(["Anna", "saw", "Berlin"], ["Berlin", "sah", "Anna"])]
    (pair,) = train_hmm(pairs, HmmSettings(likeness_prior=10.0))
    assert pair.forward[0].argmax() == 2
    assert pair.forward[2].argmax() == 0


def test_empty_and_far_too_long_sides_are_left_out():
    pairs = [([], ["x"]), (["a"], ["x"]), (["a"], []), (["a"] * 3000, ["x"] * 3000)]
    aligned = list(train_hmm(pairs))
    assert [pair.size for pair in aligned] == [(0, 1), (1, 1), (1, 0), (3000, 3000)]
    assert [pair.forward.shape for pair in aligned] == [(0, 0), (1, 1), (0, 0), (0, 0)]
    assert [alignable(*pair.size) for pair in aligned] == [False, True, False, False]


def test_only_empty_sentences():
    assert len(list(train_hmm([([], [])]))) == 1
    assert list(train_hmm([])) == []


def test_a_sentence_of_two_thousand_words():
    pairs = [([f"e{i % 300}" for i in range(2000)], [f"f{i % 300}" for i in range(500)])]
    (pair,) = train_hmm(pairs, HmmSettings(ibm1_sweeps=0, hmm_sweeps=1))
    assert np.isfinite(pair.forward).all()
    assert np.isfinite(pair.backward).all()


def test_case_and_sharp_s_are_folded():
    vocabularies = ({}, {})
    list(encode_bitext([(["The", "the"], ["daß", "dass", "DASS"])], vocabularies, size=10))
    assert list(vocabularies[0]) == ["the"]
    assert list(vocabularies[1]) == ["dass"]


def shards_of(pairs, size, **options):
    return train_hmm(pairs, HmmSettings(shard=size), **options)


def bytes_of(aligned):
    return [(pair.size, pair.forward.tobytes(), pair.backward.tobytes()) for pair in aligned]


def test_shards_find_the_same_dictionary():
    pairs, orders = dictionary_bitext(200)
    right = sum(
        (pair.forward.argmax(axis=0) == order).sum()
        for pair, order in zip(shards_of(pairs, 50), orders, strict=True)
    )
    assert right > 0.95 * sum(map(len, orders))


def test_one_sweep_over_shards_is_that_over_each_from_the_same_counts():
    """Two shards: the second knows of the first only what all knew before the sweep."""
    pairs, _ = dictionary_bitext(20)
    settings = {"ibm1_sweeps": 0, "hmm_sweeps": 1}
    whole = list(train_hmm(pairs, HmmSettings(**settings)))
    halves = list(train_hmm(pairs, HmmSettings(shard=10, **settings)))
    turned = list(train_hmm(pairs[10:] + pairs[:10], HmmSettings(shard=10, **settings)))
    for one, other in zip(whole[:10], halves[:10], strict=True):
        np.testing.assert_allclose(one.forward, other.forward, atol=1e-6)
    assert any(
        np.abs(one.forward - other.forward).max() > 1e-3 for one, other in zip(whole[10:], halves[10:])
    )
    for one, other in zip(halves, turned[10:] + turned[:10], strict=True):
        np.testing.assert_allclose(one.forward, other.forward, atol=1e-6)


def test_processes_give_the_same_bytes():
    pairs, _ = dictionary_bitext(120)
    told = [], []
    here, there = (
        bytes_of(shards_of(pairs, 30, workers=workers, after_sweep=values.append))
        for workers, values in zip((THIS_PROCESS, Workers(jobs=2)), told, strict=True)
    )
    assert told[0] == told[1]
    assert len(told[0]) == 7
    assert here == there


def test_shards_of_empty_sentences():
    pairs = [([], ["x"]), (["a"], ["x"]), ([], []), (["a"], [])]
    assert [pair.forward.shape for pair in shards_of(pairs, 1)] == [(0, 0), (1, 1), (0, 0), (0, 0)]
