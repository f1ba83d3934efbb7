"""Linear-chain model by listing every tag sequence: slow, plain, and without our kernels."""

from __future__ import annotations

import itertools
import math


def score(emissions, transitions, tags):
    """Return the natural-log score of one tag sequence; the last row of ``transitions`` starts it."""
    total = 0.0
    previous = len(transitions) - 1
    for word, tag in enumerate(tags):
        total += emissions[word][tag] + transitions[previous][tag]
        previous = tag
    return total


def enumerate_all(emissions, transitions):
    """Return (log Z, marginals [word][tag], expected pairs [previous][tag], best tags, best score)."""
    n_words, n_tags = len(emissions), len(emissions[0])
    sequences = list(itertools.product(range(n_tags), repeat=n_words))
    scores = [score(emissions, transitions, tags) for tags in sequences]
    highest = max(scores)
    log_z = highest + math.log(math.fsum(math.exp(value - highest) for value in scores))
    marginals = [[0.0] * n_tags for _ in range(n_words)]
    pairs = [[0.0] * n_tags for _ in range(n_tags + 1)]
    for tags, value in zip(sequences, scores, strict=True):
        probability = math.exp(value - log_z)
        previous = n_tags
        for word, tag in enumerate(tags):
            marginals[word][tag] += probability
            pairs[previous][tag] += probability
            previous = tag
    return log_z, marginals, pairs, list(sequences[scores.index(highest)]), highest
