"""Evidence for target arcs by summing over pairs of links, one by one."""

from __future__ import annotations


def link_strength(links, source, target):
    """Weight of a link times its shares in the links of its words; ``links``: {(source, target): weight}."""
    weight = links.get((source, target), 0.0)
    if not weight:
        return 0.0
    of_source = sum(other for (word, _), other in links.items() if word == source)
    of_target = sum(other for (_, word), other in links.items() if word == target)
    return weight * (weight / of_source) * (weight / of_target)


def arc_evidence(source_heads, links, head, dependent):
    """Evidence for one target arc; ``source_heads[0]`` is no head, the root stands for the root."""
    total = 0.0
    for word in range(1, len(source_heads)):
        above = source_heads[word]
        if above < 0:
            continue
        at_head = link_strength(links, above, head) if above and head else float(above == head == 0)
        total += link_strength(links, word, dependent) * at_head
    return min(total, 1.0)
