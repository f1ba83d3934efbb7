"""Inference over trees, timed.

The peer is the Matrix-Tree theorem as it is usually written in numpy: a determinant and an inverse of the Laplacian.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from qsproj.trees import nonprojective, projective
from scripts.experiments.bench.against_peers import lu_posterior
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table

SIZES = (10, 20, 40, 100)
SCALE = 3.0
PEER = "peer: numpy inverse and determinant"
STRENGTHS = (4, 8, 12, 16)
FIRST_CALL = """
import os, tempfile, time
os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()
import numpy as np
from qsproj.trees import {module}
start = time.process_time()
{module}.best(np.zeros((4, 4)))
{module}.posterior(np.zeros((4, 4)))
print(time.process_time() - start)
"""


def median_microseconds(function: Callable[[], object]) -> float:
    """Median wall time of calls made for about half a second, after one call that is not counted."""
    function()
    times: list[float] = []
    started = time.perf_counter()
    while time.perf_counter() - started < 0.5 or len(times) < 5:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def cases(scores: np.ndarray) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(0)
    named: dict[str, Callable[[], object]] = {}
    for name, trees in (("projective", projective), ("nonprojective", nonprojective)):
        named |= {
            f"{name}.best": partial(trees.best, scores),
            f"{name}.best, single root": partial(trees.best, scores, single_root=True),
            f"{name}.posterior": partial(trees.posterior, scores),
            f"{name}.posterior, single root": partial(trees.posterior, scores, single_root=True),
            f"{name}.max_marginals": partial(trees.max_marginals, scores),
            f"{name}.expectation": partial(trees.expectation, scores, scores),
            f"{name}.k_best, k = 10": partial(trees.k_best, scores, 10),
            f"{name}.sample, 100 trees": partial(trees.sample, scores, 100, rng),
        }
    return named | {PEER: partial(lu_posterior, scores)}


def cycle_error(strength: int) -> tuple[float, float]:
    """Greatest error of a marginal on two words that prefer each other by 10**strength: ours, the peer's."""
    strong = Fraction(10) ** strength
    weights = [[0, 1, 2], [0, 0, strong], [0, strong, 0]]
    chain, back, apart = 1 * strong, 2 * strong, Fraction(2)
    z = chain + back + apart
    exact = np.array(
        [[0, (chain + apart) / z, (back + apart) / z], [0, 0, chain / z], [0, back / z, 0]], float
    )
    with np.errstate(divide="ignore"):
        scores = np.log(np.array(weights, float))
    ours = nonprojective.posterior(scores).marginals
    return float(np.abs(ours - exact).max()), float(np.abs(lu_posterior(scores)[1] - exact).max())


def first_call_seconds(module: str) -> float:
    """CPU seconds of ``best`` and ``posterior`` in a new process with an empty cache."""
    command = [sys.executable, "-c", FIRST_CALL.format(module=module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def time_table() -> Table:
    """Time every function at every size."""
    columns = []
    for n in SIZES:
        scores = np.random.default_rng(n).normal(size=(n + 1, n + 1)) * SCALE
        columns.append({name: median_microseconds(function) for name, function in cases(scores).items()})
    rows = [[name, *(f"{column[name]:,.0f}" for column in columns)] for name in columns[0]]
    ratios = (column["nonprojective.posterior"] / column[PEER] for column in columns)
    rows.append(["nonprojective.posterior / peer", *(f"{ratio:.2f}" for ratio in ratios)])
    return table(["function", *(f"n = {n}" for n in SIZES)], rows)


def run(lab: Lab) -> Figures:
    errors = [
        [f"1e{strength}", *(f"{error:.0e}" for error in cycle_error(strength))] for strength in STRENGTHS
    ]
    return Figures(
        tables={"time": time_table(), "errors": table(["preference", "qsproj", "peer"], errors)},
        values={
            f"first call: {module}": f"{first_call_seconds(module):.1f}"
            for module in ("projective", "nonprojective")
        },
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="bench-trees", needs_data=False)

if __name__ == "__main__":
    EXPERIMENT.main()
