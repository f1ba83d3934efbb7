"""A chain over analyses by listing all sequences: plain Python, dictionaries in place of tables."""

from __future__ import annotations

import math
from itertools import product


def level(count):
    """Return the class of a count: 0, 1, 2 to 3, 4 to 9, more."""
    return 0 if count <= 0 else 1 if count == 1 else 2 if count < 4 else 3 if count < 10 else 4


def score(sequence, words, emissions, pairs, support, gold=None):
    """Return the potential of a sequence of analyses, each a dict from attribute to value.

    ``words``: for each word its counts, a list of (analysis, count). ``emissions``: for each word a dict from
    (attribute, value). ``pairs``: dict from (attribute, value before, value). With ``gold``, one occurrence
    of each word, with its gold analysis, is not counted.
    """
    attributes = sorted({attribute for attribute, _, _ in pairs})
    total = 0.0
    before = dict.fromkeys(attributes, "start")
    for i, analysis in enumerate(sequence):
        total += sum(emissions[i][part] for part in analysis.items())
        counts = [(other, count - (gold is not None and other == gold[i])) for other, count in words[i]]
        of_form = sum(count for _, count in words[i]) - (gold is not None)
        total += support[level(of_form)][level(sum(count for other, count in counts if other == analysis))]
        total += sum(pairs[a, before.get(a, "none"), analysis.get(a, "none")] for a in attributes)
        before = analysis
    return total


def enumerate_all(allowed, words, emissions, pairs, support, gold=None):
    """Return log Z, the probability of each (place, number of analysis), and the best sequence of numbers."""
    scores = {
        numbers: score([allowed[i][k] for i, k in enumerate(numbers)], words, emissions, pairs, support, gold)
        for numbers in product(*(range(len(row)) for row in allowed))
    }
    log_z = math.log(math.fsum(math.exp(value) for value in scores.values()))
    marginals = {}
    for numbers, value in scores.items():
        for place in enumerate(numbers):
            marginals[place] = marginals.get(place, 0.0) + math.exp(value - log_z)
    return log_z, marginals, max(scores, key=scores.get)
