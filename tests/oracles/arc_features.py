"""Arc features, AdaGrad and averaging in slow plain Python: features are tuples, weights are a dictionary."""

from __future__ import annotations

import math
from collections import Counter

from qsproj.features.arc_templates import TemplateSet
from qsproj.features.atoms import ATTRIBUTES


def atom_value(sentence, atom, head, dependent):
    """Return what one atom asks of one arc; for ``between.upos`` a set."""
    place, _, rest = atom.partition(".")
    between = sentence.upos[min(head, dependent) : max(head, dependent) - 1]
    if place == "between":
        return {
            "upos": set(between),
            "set": frozenset(between),
            "verbs": min(between.count("VERB"), 3),
            "punctuation": min(between.count("PUNCT"), 3),
            "coordinators": min(between.count("CCONJ"), 3),
        }[rest]
    offset = int(rest[-2:]) if rest[-2] in "+-" else 0
    name = rest[:-2] if offset else rest
    position = (head if place == "head" else dependent) + offset
    if position < 0:
        return "<before>"
    if position == 0:
        return "<root>"
    if position > len(sentence):
        return "<after>"
    columns, value = ATTRIBUTES[name]
    return value(*(getattr(sentence, column)[position - 1] for column in columns))


def features_of(sentence, templates: TemplateSet, head: int, dependent: int) -> Counter:
    """Return the features of one arc with how often each fires."""
    gap = abs(head - dependent)
    place = (head < dependent, min(gap, 5) if gap < 10 else 10)
    found: Counter = Counter()
    for template in templates.plain + templates.directed:
        values = [atom_value(sentence, atom, head, dependent) for atom in template]
        expanded = next((i for i, value in enumerate(values) if isinstance(value, set)), None)
        cases = [values]
        if expanded is not None:
            cases = [[*values[:expanded], tag, *values[expanded + 1 :]] for tag in values[expanded]]
        for case in cases:
            if template in templates.plain:
                found[(template, tuple(case))] += 1
            found[(template, tuple(case), place)] += 1
    return found


class PlainAdaGrad:
    """AdaGrad over named features, with the mean of the weights after every step."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.weights: Counter = Counter()
        self.squares: Counter = Counter()
        self.total: Counter = Counter()
        self.steps = 0

    def step(self, sentence, templates, gradient, supported) -> None:
        slopes: Counter = Counter()
        for (head, dependent), slope in gradient.items():
            for feature, count in features_of(sentence, templates, head, dependent).items():
                if feature in supported:
                    slopes[feature] += slope * count
        for feature, slope in slopes.items():
            if slope:
                self.squares[feature] += slope * slope
                self.weights[feature] -= self.rate * slope / math.sqrt(self.squares[feature] + 1e-12)
        self.steps += 1
        self.total.update(self.weights)

    def mean(self, feature) -> float:
        return self.total[feature] / self.steps
