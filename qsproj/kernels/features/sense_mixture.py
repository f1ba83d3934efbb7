"""Mixture model of the outcomes (relations, tags) of words with uncertain links.

Each word of a sentence has some *senses*, each with a probability, and features that score every outcome; the
remaining probability belongs to an uninformative sense. Senses are rows of tables, by word: ``words``
int32[E], ``chances`` float64[E], ``rows`` int32[E, T], its features' rows of the weights float32[rows, L].
"""

import numpy as np

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.label_features import TINY
from qsproj.kernels.features.sparse_gradient import adagrad_outcomes

# Maximum score of an outcome by a sense, natural log.
MOST_SCORE = 30.0
# Minimum probability of the uninformative sense.
LEAST_REST = 1e-4


@njit(cache=True, error_model="numpy")
def weigh_senses(rows, chances, weights):
    """Return float64[E, L], the probability of each sense times exp of its score of each outcome."""
    weighed = np.empty((rows.shape[0], weights.shape[1]))
    for sense in range(rows.shape[0]):
        for label in range(weights.shape[1]):
            score = 0.0
            for t in range(rows.shape[1]):
                score += weights[rows[sense, t], label]
            weighed[sense, label] = chances[sense] * np.exp(min(score, MOST_SCORE))
    return weighed


@njit(cache=True, error_model="numpy")
def sum_senses(words, chances, weighed, size):
    """Return float64[size, L], the sum of each word's senses, including the uninformative one."""
    mixed = np.zeros((size, weighed.shape[1]))
    said = np.zeros(size)
    for sense in range(words.shape[0]):
        said[words[sense]] += chances[sense]
        for label in range(weighed.shape[1]):
            mixed[words[sense], label] += weighed[sense, label]
    for word in range(size):
        mixed[word] += max(1.0 - said[word], LEAST_REST)
    return mixed


@njit(cache=True, error_model="numpy")
def step_mixture(words, chances, rows, base, known, scale, weights, state, rate, step):
    """Take one AdaGrad step for each sense of the words whose outcome is known.

    ``base`` float64[n+1, L]: scores of each word's outcomes without senses, natural log. ``known``
    int32[n+1]: number of the outcome, -1 where unknown. Returns the loss before the step, in nats, and its
    derivative by ``scale``.
    """
    weighed = weigh_senses(rows, chances, weights)
    mixed = sum_senses(words, chances, weighed, base.shape[0])
    slopes = np.zeros_like(base)
    loss, by_scale = 0.0, 0.0
    for word in range(1, base.shape[0]):
        gold = known[word]
        if gold < 0:
            continue
        scores = scale * base[word] + np.log(mixed[word])
        chance = np.exp(scores - scores.max())
        chance /= chance.sum()
        loss -= np.log(max(chance[gold], TINY))
        chance[gold] -= 1.0
        slopes[word] = chance
        by_scale += (chance * base[word]).sum()
    for sense in range(words.shape[0]):
        word = words[sense]
        if known[word] >= 0:
            slope = slopes[word] * weighed[sense] / mixed[word]
            adagrad_outcomes(weights, state, rows[sense], slope, rate, step)
    return loss, by_scale
