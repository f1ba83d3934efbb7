"""Word pairs that share a sentence pair, numbered shard by shard and all together, against plain sets."""

from dataclasses import replace

import numpy as np
import pytest

from qsproj.alignment import hmm
from qsproj.alignment.encoding import ShardFiles
from qsproj.alignment.hmm import HmmSettings, write_shards
from qsproj.errors import UsageError

SETTINGS = HmmSettings(lexical_prior=0.01, likeness_prior=0.5)


def bitext(seed, size, words=9):
    rng = np.random.default_rng(seed)
    sides = [[f"{letter}{w}" for w in rng.integers(0, words, rng.integers(0, 6))] for letter in "ef" * size]
    return list(zip(sides[::2], sides[1::2], strict=True))


@pytest.mark.parametrize(("shard", "block"), [(100, 1 << 21), (7, 1 << 21), (7, 1), (7, 10), (1, 4)])
def test_a_word_pair_has_one_number_in_the_bitext(tmp_path, monkeypatch, shard, block):
    monkeypatch.setattr(hmm, "BLOCK_PAIRS", block)
    pairs = bitext(3, 30)
    written = write_shards(tmp_path, pairs, replace(SETTINGS, shard=shard))
    numbers = {}
    for files, begin in zip(written.files, range(0, len(pairs), shard), strict=True):
        own = files.load("pairs")
        cells = [(e, f) for one, other in pairs[begin : begin + shard] for e in one for f in other]
        for cell, number in zip(cells, own[files.load("cell_pairs")].tolist(), strict=True):
            assert numbers.setdefault(cell, number) == number
    assert sorted(numbers.values()) == list(range(written.pairs))
    # Numbered as cells have them: what lies side by side in a sentence does so in memory.
    assert list(numbers.values()) == sorted(numbers.values())


def test_blocks_and_shards_do_not_show_in_the_priors(tmp_path, monkeypatch):
    pairs = [(["Anna", "e1"], ["Anna", "Annas"]), *bitext(5, 30)]
    whole = write_shards(tmp_path, pairs, replace(SETTINGS, shard=100))
    monkeypatch.setattr(hmm, "BLOCK_PAIRS", 3)
    (tmp_path / "parts").mkdir()
    parts = write_shards(tmp_path / "parts", pairs, replace(SETTINGS, shard=4))
    np.testing.assert_allclose(whole.sources, parts.sources)
    np.testing.assert_allclose(whole.targets, parts.targets)
    like = whole.files[0].load("prior")[0]
    assert like == pytest.approx(0.51)
    assert whole.sources.sum() == pytest.approx(whole.files[0].load("prior").sum())


def test_a_folder_without_room_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"gone: cannot be written to: .*TMPDIR"):
        ShardFiles(tmp_path / "gone", 0).save("x", np.zeros(1))
    with pytest.raises(UsageError, match="TMPDIR"):
        ShardFiles(tmp_path / "gone", 0).append("x", np.zeros(1))
