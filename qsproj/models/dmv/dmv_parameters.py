"""Parameters of the DMV, and the counts they are estimated from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DmvParameters:
    """Probabilities of the dependency model with valence over T tags.

    ``stop`` float64[T, 2, 2]: probability of stopping, [head tag, direction {left, right}, valence {none yet,
    some}]. ``child`` float64[T, 2, T]: probability of a dependent's tag, [head tag, direction, dependent
    tag]; rows sum to 1. ``root`` float64[T]: probability of the tag of the root's one child; sums to 1.

    *Source*: Klein and Manning 2004; thesis eq. 4.4, 4.5.
    """

    stop: Floats
    child: Floats
    root: Floats

    def floored(self, floor: float) -> DmvParameters:
        """Return a copy in which no decision has a probability below ``floor``: every tree is possible."""
        return DmvParameters(
            np.clip(self.stop, floor, 1.0 - floor),
            np.maximum(self.child, floor),
            np.maximum(self.root, floor),
        )

    def over(self, places: NDArray[np.int16]) -> DmvParameters:
        """Return the parameters over other tags, int16[T']: the place of each among those of this model."""
        return DmvParameters(
            self.stop[places],
            normalised(self.child[places][:, :, places], 0.0),
            normalised(self.root[places], 0.0),
        )

    def log_prior(self, smoothing: float) -> float:
        """Return the log density of the Dirichlet that adds ``smoothing`` to each count, up to a constant."""
        if smoothing == 0.0:
            return 0.0
        logs = [np.log(self.stop), np.log1p(-self.stop), np.log(self.child), np.log(self.root)]
        return smoothing * float(sum(values.sum() for values in logs))


@dataclass(frozen=True, slots=True, eq=False)
class DmvCounts:
    """How often each decision was taken, or is expected to be; counts of several corpora add up.

    ``stop`` float64[T, 2, 2, 2]: [head tag, direction, valence, {stop, go on}]. ``child`` float64[T, 2, T]:
    [head tag, direction, dependent tag]. ``root`` float64[T].
    """

    stop: Floats
    child: Floats
    root: Floats

    def __add__(self, other: DmvCounts) -> DmvCounts:
        """Return the counts of both."""
        return DmvCounts(self.stop + other.stop, self.child + other.child, self.root + other.root)

    def estimate(self, smoothing: float) -> DmvParameters:
        """Return relative frequencies after ``smoothing`` was added to each count.

        A decision that was never to be taken is uniform where nothing is added.
        """
        return DmvParameters(
            stopping(self.stop, smoothing),
            normalised(self.child, smoothing),
            normalised(self.root, smoothing),
        )


def normalised(counts: Floats, smoothing: float) -> Floats:
    """Return the counts plus ``smoothing`` with each row of the last axis divided by its sum."""
    smoothed = counts + smoothing
    totals = smoothed.sum(axis=-1, keepdims=True)
    empty = totals == 0.0
    rows: Floats = np.where(empty, 1.0 / counts.shape[-1], smoothed / np.where(empty, 1.0, totals))
    return rows


def stopping(counts: Floats, smoothing: float) -> Floats:
    """Return the probability of stopping of counts with a last axis {stop, go on}.

    It lies in memory as what is read from a file does: kernels are compiled once for both.
    """
    return np.ascontiguousarray(normalised(counts, smoothing)[..., 0])


def uniform_parameters(tags: int) -> DmvParameters:
    """Return the parameters that prefer nothing."""
    return DmvParameters(
        np.full((tags, 2, 2), 0.5), np.full((tags, 2, tags), 1.0 / tags), np.full(tags, 1.0 / tags)
    )
