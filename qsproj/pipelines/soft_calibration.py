"""The temperature of a projected parser, from projected arcs alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import SentencePair
from qsproj.models.arc_parser import ArcParser
from qsproj.pipelines.soft_evidence import arc_evidence

# Temperatures tried, each a tenth above the last, and shares of right evidence.
TEMPERATURES = np.exp(np.arange(-0.5, 2.0, 0.1))
PRECISIONS = np.arange(0.5, 1.0, 0.01)
# Only arcs that strong links carry over are held against the parser.
MIN_EVIDENCE = 0.8


def fit_temperature(parser: ArcParser, pairs: Iterable[SentencePair]) -> float:
    """Return the temperature under which projected arcs are most probable; 1 when there is no such arc.

    A projected arc is right with some probability r, and otherwise any arc into the word; r is fitted along
    with the temperature, or else the parser would learn to doubt because the links are wrong. Wrong arcs that
    are plausible pass for doubt all the same: free translations give temperatures that are too high.

    Parameters
    ----------
    parser : ArcParser
    pairs : iterable of SentencePair
        Not learned from, and close translations.

    *Source*: temperature scaling (Guo et al. 2017), made to bear noise.
    """
    observed = [(parser.scores(pair.target), arc_evidence(pair)) for pair in pairs if len(pair.target)]
    if not any((evidence > MIN_EVIDENCE).any() for _, evidence in observed):
        return 1.0
    likelihoods = [_log_likelihood(parser, observed, float(value)) for value in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmax(likelihoods))])


def _log_likelihood(parser: ArcParser, observed: list[tuple[Scores, Scores]], temperature: float) -> float:
    """Return the mean log-likelihood of the projected arcs at the share of right ones that fits best."""
    found: list[NDArray[np.float64]] = []
    chances: list[float] = []
    for scores, evidence in observed:
        arcs = evidence > MIN_EVIDENCE
        probabilities = parser.inference.infer(scores / temperature)[1][arcs]
        found.append(probabilities)
        chances.extend([1.0 / (len(scores) - 1)] * len(probabilities))
    right = np.concatenate(found)
    mixed = PRECISIONS[:, None] * right + (1.0 - PRECISIONS[:, None]) * np.array(chances)
    return float(np.log(mixed).mean(axis=1).max())
