"""One alignment from two directions: array functions bool[m, n] x bool[m, n] -> bool[m, n].

Axes are [source word, target word], 0-based. None of them changes its arguments.

Source: Och and Ney (2003), section 5, for intersection and union; Koehn, Och and Marcu (2003), section 3.1,
and Koehn et al. (2005) for growing.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from qsproj.errors import UsageError, unknown_name

Links = NDArray[np.bool_]
Posteriors = NDArray[np.floating]

# Chosen on development data, see docs/alignment.md.
DEFAULT_THRESHOLD = 0.5


def grown(forward: Links, backward: Links, *, final_and: bool) -> Links:
    """Return the intersection, grown by links of the union that touch it and align a free word.

    With ``final_and``, links are added, forward first, whose two words are still both free.
    """
    from qsproj.kernels.align.symmetrize_grow import add_between_free_words, grow

    links = forward & backward
    sources, targets = links.any(axis=1), links.any(axis=0)
    grow(links, forward | backward, sources, targets)
    if final_and:
        add_between_free_words(links, np.ascontiguousarray(forward), sources, targets)
        add_between_free_words(links, np.ascontiguousarray(backward), sources, targets)
    return links


# The intersection is precise, one to one where each direction is many to one; the union has high recall.
SYMMETRIZATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": np.logical_and,
    "union": np.logical_or,
    "grow-diag": partial(grown, final_and=False),
    "grow-diag-final-and": partial(grown, final_and=True),
}
# Not in the table above: it reads probabilities, which not every aligner gives.
THRESHOLD = "threshold"
KNOWN = (THRESHOLD, *SYMMETRIZATIONS)


def directed_links(posteriors: Posteriors) -> Links:
    """Return the link of each generated word to its likeliest origin, where that is likelier than NULL.

    ``posteriors`` float[m, n]: p(generated word of column j comes from row i); the rest of a column is NULL.
    """
    links = np.zeros(posteriors.shape, dtype=np.bool_)
    if posteriors.size:
        columns = np.arange(posteriors.shape[1])
        best = posteriors.argmax(axis=0)
        links[best, columns] = posteriors[best, columns] > 1.0 - posteriors.sum(axis=0)
    return links


def link_weights(forward: Posteriors, backward: Posteriors) -> NDArray[np.float64]:
    """Return the mean of the two directions' probabilities, float64[m, n]."""
    return np.clip(0.5 * (forward.astype(np.float64) + backward), 0.0, 1.0)


def symmetrize(
    forward: Posteriors, backward: Posteriors, *, name: str = THRESHOLD, threshold: float = DEFAULT_THRESHOLD
) -> Links:
    """Return one alignment from the posteriors of two directions, float[m, n].

    ``threshold``: links whose :func:`link_weights` exceed that number. Else one of ``SYMMETRIZATIONS``,
    applied to the :func:`directed_links` of both.
    """
    check_symmetrization(name, threshold)
    if name == THRESHOLD:
        return link_weights(forward, backward) > threshold
    return SYMMETRIZATIONS[name](directed_links(forward), directed_links(backward.T).T)


def check_symmetrization(name: str, threshold: float = DEFAULT_THRESHOLD) -> None:
    if name not in KNOWN:
        raise unknown_name("symmetrization", name, list(KNOWN))
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"the threshold is {threshold}, expected a probability (0 to 1)")
