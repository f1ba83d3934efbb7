"""Factors of a tree and their features in slow plain Python: words and names, no arrays of indices."""

from __future__ import annotations

from collections import Counter

from qsproj.features.atoms import ATTRIBUTES
from qsproj.features.second_order import ROLES


def value_at(sentence, name, position):
    """Return an attribute of a position; -1 and less is before the sentence, n + 1 and more after it."""
    if position < 0:
        return "<before>"
    if position == 0:
        return "<root>"
    if position > len(sentence):
        return "<after>"
    columns, value = ATTRIBUTES[name]
    return value(*(getattr(sentence, column)[position - 1] for column in columns))


def features_of(sentence, family, templates, words, place):
    """Return the features of one factor with how often each fires."""
    found: Counter = Counter()
    position = dict(zip(ROLES[family], words))
    for template in templates.plain + templates.placed:
        values = []
        for atom in template:
            role, _, name = atom.partition(".")
            offset = int(name[-2:]) if name[-2] in "+-" else 0
            values.append(value_at(sentence, name[:-2] if offset else name, position[role] + offset))
        if template in templates.plain:
            found[family, template, tuple(values)] += 1
        found[family, template, tuple(values), place] += 1
    return found


def factors_of_tree(heads, largest_count):
    """Return the words of the GRAND and CHILDSEQ factors that fire, and (head, side, count) for VALENCE."""
    n = len(heads) - 1
    grand = {(heads[heads[d]], heads[d], d) for d in range(1, n + 1) if heads[d] > 0}
    sequence, counts = set(), set()
    for head in range(n + 1):
        for side in (0, 1):
            children = [d for d in range(1, n + 1) if heads[d] == head and (d > head) == bool(side)]
            children.sort(key=lambda d: abs(d - head))
            for previous, following in zip([-1, *children], [*children, n + 1]):
                sequence.add((head, previous, following))
            counts.add((head, side, min(len(children), largest_count)))
    return grand, sequence, counts
