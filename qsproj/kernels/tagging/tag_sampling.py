"""Tag sequences drawn from the posterior of a linear chain: forward filtering, backward sampling.

Source: Scott (2002), Bayesian methods for hidden Markov models, section 2.3.
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit


@njit(cache=True, error_model="numpy")
def draw_sequences(forward, transitions, uniforms, drawn):
    """Fill ``drawn`` with sequences, each drawn from the posterior on its own. O(k n T).

    Parameters
    ----------
    forward : float64[n, T]
        p(tag of word i | words up to i), as :func:`qsproj.kernels.tagging.linear_chain.posterior` leaves them
        in its emissions.
    transitions : float64[T+1, T]
        Natural-log potentials.
    uniforms : float64[k, n]
        Between 0 and 1, one for each choice.
    drawn : int32[k, n]
        Output.
    """
    n, n_tags = forward.shape
    weights = np.exp(transitions)
    for k in range(drawn.shape[0]):
        for i in range(n - 1, -1, -1):
            total = 0.0
            for t in range(n_tags):
                follows = 1.0 if i == n - 1 else weights[t, drawn[k, i + 1]]
                total += forward[i, t] * follows
            left = uniforms[k, i] * total
            chosen = 0
            for t in range(n_tags):
                follows = 1.0 if i == n - 1 else weights[t, drawn[k, i + 1]]
                mass = forward[i, t] * follows
                if mass > 0.0:
                    # The last tag with any mass, should rounding leave a little over.
                    chosen = t
                    left -= mass
                    if left < 0.0:
                        break
            drawn[k, i] = chosen
