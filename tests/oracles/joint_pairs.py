"""Two trees and an alignment by enumeration: every configuration of a tiny sentence pair, in plain Python.

Firing is written down from the definitions of thesis 4.7.2.3, without variables for second-order relations.
"""

from __future__ import annotations

import itertools
import math

from tests.oracles.factor_graphs import log_sum


def grandparent(heads, upper, lower):
    return heads[lower] > 0 and heads[heads[lower]] == upper


def siblings(heads, one, other):
    return one != other and min(one, other) > 0 and heads[one] == heads[other]


def fires(family, words, source_heads, target_heads, links):
    """Say whether a factor fires; ``links`` is a set of (source word, target word) with (0, 0) in it.

    ``words`` are target head and dependent, and the source words that they must be linked to.
    """
    head, dependent, source_head, source_dependent = words
    if not {(source_head, head), (source_dependent, dependent)} <= links:
        return False
    on_source = dependent_of(source_heads, source_head, source_dependent)
    on_target = dependent_of(target_heads, head, dependent)
    return {
        "MONO": on_source and on_target,
        "SWAP": on_target and dependent_of(source_heads, source_dependent, source_head),
        "SDOUBLE": on_source and head == dependent,
        "TDOUBLE": on_target and source_head == source_dependent,
        "SGRAND": on_target and grandparent(source_heads, source_head, source_dependent),
        "SSIB": on_target and siblings(source_heads, source_head, source_dependent),
        "TGRAND": on_source and grandparent(target_heads, head, dependent),
        "TSIB": on_source and siblings(target_heads, head, dependent),
    }[family]


def derived_synchronously(source_heads, target_heads, links):
    """Say whether SYNCH admits two trees and links (with (0, 0) in them), by thesis 4.7.2.4."""
    for source_dependent, dependent in links:
        for source_head in range(len(source_heads)):
            for head in range(len(target_heads)):
                if source_head == source_dependent or head == dependent:
                    continue
                claims = (
                    (source_head, head) in links,
                    dependent_of(source_heads, source_head, source_dependent),
                    dependent_of(target_heads, head, dependent),
                )
                if sum(claims) == 2:
                    return False
    return True


def second_order_parts(heads, largest):
    """Name what GRAND, CHILDSEQ and VALENCE (thesis 2.2.5) count in a tree, each with its words.

    Sides are 0 left, 1 right; the root has no left side. Dependents follow each other from the head outwards;
    -1 stands before the first, and one more than the last word after the last. Counts go up to ``largest``.
    """
    n = len(heads) - 1
    parts = []
    for word in range(1, n + 1):
        if heads[word] > 0:
            parts.append(("grand", heads[heads[word]], heads[word], word))
    for head in range(n + 1):
        for side in (0, 1) if head else (1,):
            own = [word for word in range(1, n + 1) if heads[word] == head and (word > head) == bool(side)]
            outwards = [-1, *sorted(own, key=lambda word: abs(word - head)), n + 1]
            parts += [("childseq", head, side, *pair) for pair in itertools.pairwise(outwards)]
            parts.append(("valence", head, side, min(len(own), largest)))
    return parts


def dependent_of(heads, head, dependent):
    return dependent > 0 and heads[dependent] == head


def jump_score(words, links, jumps):
    """Score links by ALIGNHMM over ``words``; -inf where a word has more than one.

    ``links`` is a set of (word, position); ``jumps`` a list of scores: jumps -W..W, longer ones clipped, then
    that of a word without a link, after which the next jump starts from where the last one ended.
    """
    widest = (len(jumps) - 2) // 2
    total, last = 0.0, 0
    for word in words:
        positions = [position for own, position in links if own == word]
        if len(positions) > 1:
            return -math.inf
        if positions:
            total += jumps[max(-widest, min(widest, positions[0] - last)) + widest]
            last = positions[0]
        else:
            total += jumps[-1]
    return total


class PairEnumeration:
    """The distribution over (source tree, target tree, links) of a tiny pair.

    Trees are sequences of heads; arc scores are nested lists [head][dependent], link scores a dict, fertility
    scores a list for source words 1.. and then target words 1.., factors rows (family, words, score). With
    ``synchronous``, SYNCH must hold. ``hmms`` gives the jump scores of ALIGNHMM by the side whose words are
    linked once: "target" or "source". ``second_order`` gives, for the source and for the target, a dict of
    scores by the names of :func:`second_order_parts`; ``largest`` is its last count.
    """

    def __init__(
        self,
        source_trees,
        target_trees,
        arc_scores,
        link_scores,
        fertility,
        factors,
        synchronous=False,
        hmms=None,
        second_order=({}, {}),
        largest=5,
    ):
        self.scored = []
        candidates = sorted(link_scores)
        for source, target in itertools.product(source_trees, target_trees):
            for chosen in itertools.product((False, True), repeat=len(candidates)):
                links = {link for link, on in zip(candidates, chosen) if on}
                if synchronous and not derived_synchronously(source, target, links | {(0, 0)}):
                    continue
                score = sum(arc_scores[0][source[d]][d] for d in range(1, len(source)))
                score += sum(arc_scores[1][target[d]][d] for d in range(1, len(target)))
                for tree, values in zip((source, target), second_order):
                    score += sum(values.get(part, 0.0) for part in second_order_parts(tree, largest))
                score += sum(link_scores[link] for link in links)
                for word in range(1, len(source)):
                    score += fertility[word - 1][min(3, sum(s == word for s, _ in links))]
                for word in range(1, len(target)):
                    row = fertility[len(source) + word - 2]
                    score += row[min(3, sum(t == word for _, t in links))]
                for side, jumps in (hmms or {}).items():
                    words = range(1, len(target if side == "target" else source))
                    turned = {(t, s) for s, t in links} if side == "target" else links
                    score += jump_score(words, turned, jumps)
                with_root = links | {(0, 0)}
                fired = [fires(family, words, source, target, with_root) for family, words, _ in factors]
                score += sum(value for (_, _, value), on in zip(factors, fired) if on)
                self.scored.append(((source, target, links, fired), score))
        self.log_z = log_sum([score for _, score in self.scored])

    def probability(self, holds):
        """Return the probability that ``holds(source, target, links, fired)``."""
        return math.fsum(math.exp(score - self.log_z) for values, score in self.scored if holds(*values))
