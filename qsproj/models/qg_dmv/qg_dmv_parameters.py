"""Parameters of the QG-DMV, and the counts they are estimated from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from qsproj.errors import UsageError
from qsproj.features.qg_configurations import CONFIGURATION_NAMES, PARENT_CHILD
from qsproj.models.dmv.dmv_parameters import DmvCounts, DmvParameters, Floats, normalised, stopping


@dataclass(frozen=True, slots=True, eq=False)
class QgParameters:
    """Probabilities of the QG-DMV over T target tags, G tags of senses and C configurations.

    ``stop`` float64[T, 2, 2]: probability of stopping, [head tag, direction, valence]. ``configuration``
    float64[C]: probability of a configuration, in the order of CONFIGURATION_NAMES. ``child`` float64[T, 2,
    G, T]: probability of a dependent's tag, [head tag, direction, tag of its sense, tag]; rows sum to 1.
    ``root`` float64[G, T]: probability of the tag of the root's one child, [tag of its sense, tag]; rows sum
    to 1.

    *Source*: thesis 4.6.1, without its conditioning on the most recent sibling.
    """

    stop: Floats
    configuration: Floats
    child: Floats
    root: Floats

    def log_prior(self, smoothing: float) -> float:
        """Return the log density of the Dirichlet that adds ``smoothing`` to each count, up to a constant."""
        if smoothing == 0.0:
            return 0.0
        logs = [np.log(self.stop), np.log1p(-self.stop), np.log(self.configuration)]
        logs += [np.log(self.child), np.log(self.root)]
        return smoothing * float(sum(values.sum() for values in logs))


@dataclass(frozen=True, slots=True, eq=False)
class QgStep(QgParameters):
    """Parameters, with what the step of EM that gave them counted of the target alone.

    ``monolingual_stop``, ``monolingual_child``, ``monolingual_root``: those of
    :meth:`QgCounts.without_source`, laid out as in :class:`DmvCounts`; 0 before the first step.
    """

    monolingual_stop: Floats
    monolingual_child: Floats
    monolingual_root: Floats

    @property
    def has_counts(self) -> bool:
        """Whether a step of EM gave them."""
        return bool(self.monolingual_stop.any())

    @property
    def monolingual(self) -> DmvCounts:
        """What the DMV that parses new text is estimated from."""
        return DmvCounts(self.monolingual_stop, self.monolingual_child, self.monolingual_root)


@dataclass(frozen=True, slots=True, eq=False)
class QgCounts:
    """Expected counts, laid out as the parameters; ``stop`` has a last axis {stop, go on}. They add up."""

    stop: Floats
    configuration: Floats
    child: Floats
    root: Floats

    def __add__(self, other: QgCounts) -> QgCounts:
        """Return the counts of both."""
        return QgCounts(
            self.stop + other.stop,
            self.configuration + other.configuration,
            self.child + other.child,
            self.root + other.root,
        )

    def estimate(self, smoothing: float) -> QgParameters:
        """Return relative frequencies after ``smoothing`` was added to each count."""
        return QgParameters(
            stopping(self.stop, smoothing),
            normalised(self.configuration, smoothing),
            normalised(self.child, smoothing),
            normalised(self.root, smoothing),
        )

    def step(self, smoothing: float) -> QgStep:
        """Return what :meth:`estimate` and :meth:`without_source` do, in one."""
        estimated, alone = self.estimate(smoothing), self.without_source()
        return QgStep(
            estimated.stop,
            estimated.configuration,
            estimated.child,
            estimated.root,
            alone.stop,
            alone.child,
            alone.root,
        )

    def without_source(self) -> DmvCounts:
        """Return the counts of the monolingual decisions, the source summed out (thesis 4.6).

        Dependents without a link, whose sense is NULL, are not counted: the source says nothing of where they
        belong, and EM puts them anywhere.
        """
        return DmvCounts(self.stop, self.child[:, :, :-1].sum(axis=2), self.root[:-1].sum(axis=0))


def before_first_step(parameters: QgParameters) -> QgStep:
    """Return parameters that nothing was counted for."""
    tags = len(parameters.stop)
    return QgStep(
        parameters.stop,
        parameters.configuration,
        parameters.child,
        parameters.root,
        np.zeros((tags, 2, 2, 2)),
        np.zeros((tags, 2, tags)),
        np.zeros(tags),
    )


def parameters_like(start: DmvParameters, source_tags: int, *, parent_child: float) -> QgParameters:
    """Return parameters that make of every sense what a DMV makes of the target alone.

    The configuration parent-child is preferred as in :func:`biased_parameters`, which tells the errors.
    """
    biased = biased_parameters(len(start.root), source_tags, parent_child=parent_child)
    return replace(
        biased,
        stop=start.stop,
        child=np.repeat(start.child[:, :, None, :], source_tags, axis=2),
        root=np.repeat(start.root[None], source_tags, axis=0),
    )


def biased_parameters(tags: int, source_tags: int, *, parent_child: float) -> QgParameters:
    """Return parameters that prefer nothing but the configuration parent-child.

    Raises UsageError when ``parent_child`` is no probability between 0 and 1.

    *Source*: thesis 4.6.2, 4.6.3.4.
    """
    if not 0.0 < parent_child < 1.0:
        raise UsageError(
            f"the prior of parent-child is {parent_child}, expected a probability between 0 and 1"
        )
    kinds = len(CONFIGURATION_NAMES)
    configuration = np.full(kinds, (1.0 - parent_child) / (kinds - 1))
    configuration[PARENT_CHILD] = parent_child
    return QgParameters(
        np.full((tags, 2, 2), 0.5),
        configuration,
        np.full((tags, 2, source_tags, tags), 1.0 / tags),
        np.full((source_tags, tags), 1.0 / tags),
    )
