"""A process that compiles gives the bytes of one that finds kernels compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest

from qsproj.trees import nonprojective

WORDS = 60
LAST_DIGITS = """
import sys
import numpy as np
from qsproj.trees import nonprojective
marginals = nonprojective.posterior(np.random.default_rng(0).normal(size=({words}, {words}))).marginals
sys.stdout.buffer.write(marginals.tobytes())
"""

pytestmark = pytest.mark.slow


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_sums_over_trees_do_not_depend_on_who_compiled(tmp_path):
    code = LAST_DIGITS.format(words=WORDS + 1)
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    here = nonprojective.posterior(np.random.default_rng(0).normal(size=(WORDS + 1, WORDS + 1))).marginals
    assert outputs[0] == outputs[1] == here.tobytes()
