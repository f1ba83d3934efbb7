"""The temperature of a projected parser, from projected arcs alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import SentencePair
from qsproj.models.arc_parser import ArcParser
from qsproj.pipelines.soft_evidence import arc_evidence

# Temperatures tried, a twentieth apart, and shares of right evidence.
TEMPERATURES = np.exp(np.arange(-1.0, 2.0, 0.05))
PRECISIONS = np.arange(0.5, 1.0, 0.01)
# Only arcs that strong links carry over are held against the parser.
MIN_EVIDENCE = 0.8
EVERY, SENTENCES = 10, 300


def fit_temperature(parser: ArcParser, pairs: Iterable[SentencePair]) -> float:
    """Return the temperature under which projected arcs are most probable.

    A projected arc is right with some probability r, and otherwise any arc into the word; r is fitted along
    with the temperature, or else the parser would learn to doubt because the links are wrong. Every tenth
    pair is looked at, chosen by nothing, until there are enough; 1 when there is no projected arc.

    *Source*: temperature scaling (Guo et al. 2017), made to bear noise.
    """
    sample = list(itertools.islice(itertools.islice(pairs, 0, None, EVERY), SENTENCES))
    observed = [(parser.scores(pair.target), arc_evidence(pair)) for pair in sample if len(pair.target)]
    if not any((evidence > MIN_EVIDENCE).any() for _, evidence in observed):
        return 1.0
    likelihoods = [_log_likelihood(parser, observed, float(value)) for value in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmax(likelihoods))]) * parser.temperature


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
