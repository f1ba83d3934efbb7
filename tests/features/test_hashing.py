"""Features as numbers: which are common enough."""

from collections import Counter

import numpy as np
import pytest

from qsproj.features.hashing import commonest


@pytest.mark.parametrize("most", [*range(15), 100])
@pytest.mark.parametrize("least", [1, 2, 4])
def test_as_many_as_may_be_are_kept_all_that_occur_as_often_as_the_rarest(most, least):
    keys = np.random.default_rng(most).geometric(0.2, size=(20, 10)).astype(np.uint64) - np.uint64(1)
    counts = Counter(key for key in keys.ravel().tolist() if key)
    levels = range(least, max(counts.values()) + 2)
    wanted = next(
        kept for level in levels if len(kept := {key for key in counts if counts[key] >= level}) <= most
    )
    assert commonest(keys, most, least=least).tolist() == sorted(wanted)
