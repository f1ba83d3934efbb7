"""Time inference over trees and write the table docs/bench-trees.md.

Run ``python -m scripts.experiments.bench.trees``; needs nothing but qsproj. The peer is the Matrix-Tree theorem as it is
usually written in numpy: a determinant and an inverse of the Laplacian.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numba
import numpy as np

from qsproj.trees import nonprojective, projective

SIZES = (10, 20, 40, 100)
SCALE = 3.0
TABLE = Path(__file__).resolve().parents[3] / "docs" / "bench-trees.md"
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


def lu_posterior(scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum over trees by LU: log Z and marginals (Koo et al. 2007), without numerical care."""
    weights = np.exp(scores)
    weights[:, 0] = 0.0
    np.fill_diagonal(weights, 0.0)
    laplacian = (np.diag(weights.sum(axis=0)) - weights)[1:, 1:]
    inverse = np.linalg.inv(laplacian)
    marginals = np.zeros_like(weights)
    marginals[1:, 1:] = weights[1:, 1:] * (np.diag(inverse) - inverse.T)
    marginals[0, 1:] = weights[0, 1:] * np.diag(inverse)
    return float(np.linalg.slogdet(laplacian)[1]), marginals


def median_microseconds(function: Callable[[], object]) -> float:
    """Median wall time of calls made for about half a second, after one call that is not counted."""
    function()
    times, started = [], time.perf_counter()
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
            f"{name}.best": lambda trees=trees: trees.best(scores),
            f"{name}.best, single root": lambda trees=trees: trees.best(scores, single_root=True),
            f"{name}.posterior": lambda trees=trees: trees.posterior(scores),
            f"{name}.posterior, single root": lambda trees=trees: trees.posterior(scores, single_root=True),
            f"{name}.max_marginals": lambda trees=trees: trees.max_marginals(scores),
            f"{name}.expectation": lambda trees=trees: trees.expectation(scores, scores),
            f"{name}.k_best, k = 10": lambda trees=trees: trees.k_best(scores, 10),
            f"{name}.sample, 100 trees": lambda trees=trees: trees.sample(scores, 100, rng),
        }
    return named | {"peer: numpy inverse and determinant": lambda: lu_posterior(scores)}


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


def main() -> None:
    """Measure and write the table."""
    columns = []
    for n in SIZES:
        scores = np.random.default_rng(n).normal(size=(n + 1, n + 1)) * SCALE
        columns.append({name: median_microseconds(function) for name, function in cases(scores).items()})
    lines = [
        "# Inference over trees: time",
        "",
        f"Median microseconds a call, one thread, normal scores of scale {SCALE:g}; written by "
        "`scripts/experiments/bench/trees.py`.",
        f"{platform.machine()}, {platform.system()}; Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}.",
        "",
        "| function | " + " | ".join(f"n = {n}" for n in SIZES) + " |",
        "|---" * (len(SIZES) + 1) + "|",
    ]
    lines += [
        f"| {name} | " + " | ".join(f"{column[name]:,.0f}" for column in columns) + " |"
        for name in columns[0]
    ]
    ratio = " | ".join(
        f"{column['nonprojective.posterior'] / column['peer: numpy inverse and determinant']:.2f}"
        for column in columns
    )
    lines += [
        f"| nonprojective.posterior / peer | {ratio} |",
        "",
        "First calls (compilation; later processes read the cache), CPU seconds of `best` and `posterior`:",
        "",
    ]
    lines += [f"- {module}: {first_call_seconds(module):.1f}" for module in ("projective", "nonprojective")]
    lines += [
        "",
        "Greatest error of a marginal on two words that prefer each other as heads:",
        "",
        "| preference | qsproj | peer |",
        "|---|---|---|",
    ]
    for strength in (4, 8, 12, 16):
        ours, peer = cycle_error(strength)
        lines.append(f"| 1e{strength} | {ours:.0e} | {peer:.0e} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
