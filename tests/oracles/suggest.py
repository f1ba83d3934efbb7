"""Suggestions in slow, plain Python: the uncertainty of words, and the best sentence found anew each time."""

from __future__ import annotations

import math
from itertools import pairwise


def entropy(chances):
    """Return the entropy of a distribution in nats."""
    return -sum(p * math.log(p) for p in chances if p > 0.0)


def columns(marginals):
    """Return the distribution of the head of each word 1..n."""
    return [[float(row[word]) for row in marginals] for word in range(1, len(marginals))]


def errors(marginals):
    return [1.0 - max(column) for column in columns(marginals)]


def kinds(tags):
    """Return for each word the tags of the word before, the word and the word after."""
    padded = ["", *tags, ""]
    return [(*pair, following) for pair, following in zip(pairwise(padded), padded[2:])]


def ranking(candidates, annotated, *, sentence_cost, variety=True):
    """Return the order of candidates (tags, uncertainties), the next best found anew each time."""
    everywhere = [kind for tags, _ in candidates for kind in kinds(tags)]
    known = [kind for tags in annotated for kind in kinds(tags)]
    left, order = list(range(len(candidates))), []

    def gain(index):
        tags, uncertainties = candidates[index]
        total = 0.0
        for kind, uncertainty in zip(kinds(tags), uncertainties, strict=True):
            weight = everywhere.count(kind) / (1 + known.count(kind)) if variety else 1.0
            total += uncertainty * weight
        return total / (len(tags) + sentence_cost)

    while left:
        best = max(left, key=lambda index: (gain(index), -index))
        left.remove(best)
        order.append(best)
        known += kinds(candidates[best][0])
    return order
