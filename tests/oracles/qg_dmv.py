"""Every derivation of the QG-DMV, one by one: slow, obvious, for n <= 4. Imports nothing of qsproj.

A derivation is a projective tree with one root and one sense for each word: a source word, or ``None`` for
NULL. For each arc, the root's included, the configuration of the two senses is generated, then the sense out
of those in that configuration, then the tag; and stops are generated as in the DMV.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.oracles import dmv
from tests.oracles.qg_configurations import configuration as relation_of
from tests.oracles.trees import all_trees


def choices(source_heads: Sequence[int], sense: int | None, relation: str) -> int:
    """Count the senses of a dependent that stand in ``relation`` to the head's: the source words and NULL."""
    candidates = [*range(1, len(source_heads)), None]
    return sum(relation_of(source_heads, sense, candidate) == relation for candidate in candidates)


def derivations(pair, parameters) -> Iterator[tuple[tuple, float, list]]:
    """Yield (heads, senses) of each derivation with its weight and decisions.

    ``pair``: target tags, source heads 0..m, source tags 1..m, and for each target word a dict from candidate
    sense to prior. ``parameters``: dicts ``stop`` by (tag, direction, valence), ``configuration`` by name,
    ``child`` by (head tag, direction, source tag, tag), ``root`` by (source tag, tag); the source tag of NULL
    is ``None``.
    """
    tags, source_heads, source_tags, candidates = pair
    for heads in all_trees(len(tags), projective=True, single_root=True):
        for senses in itertools.product(*candidates):
            weight, found = 1.0, []
            for word, head in enumerate(heads[1:], start=1):
                sense, tag = senses[word - 1], tags[word - 1]
                above = senses[head - 1] if head else 0
                source_tag = None if sense is None else source_tags[sense - 1]
                relation = relation_of(source_heads, above, sense)
                if head:
                    event = ("child", tags[head - 1], int(word > head), source_tag, tag)
                else:
                    event = ("root", source_tag, tag)
                found += [("configuration", relation), event]
                weight *= parameters["configuration"][relation] / choices(source_heads, above, relation)
                weight *= parameters[event[0]][event[1:]] * candidates[word - 1][sense]
            for event in dmv.events(tags, heads):
                if event[0] in ("stop", "go"):
                    stopping = parameters["stop"][event[1:]]
                    weight *= stopping if event[0] == "stop" else 1 - stopping
                    found.append(event)
            yield (heads, senses), weight, found


def likelihood(pair, parameters) -> float:
    return math.fsum(weight for _, weight, _ in derivations(pair, parameters))


def expected_counts(pair, parameters) -> Counter:
    total = likelihood(pair, parameters)
    counts: Counter = Counter()
    for _, weight, found in derivations(pair, parameters):
        for event in found:
            counts[event] += weight / total
    return counts


def arc_probability(pair, parameters, head: int, dependent: int) -> float:
    """Sum over senses."""
    with_arc = math.fsum(
        weight for (heads, _), weight, _ in derivations(pair, parameters) if heads[dependent] == head
    )
    return with_arc / likelihood(pair, parameters)
