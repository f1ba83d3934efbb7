"""Tags beside two trees and an alignment, by enumeration."""

from __future__ import annotations

import itertools
import math

from tests.oracles.factor_graphs import log_sum


class TagEnumeration:
    """The distribution over what a :class:`~tests.oracles.joint_pairs.PairEnumeration` has, and tags.

    ``tags`` gives for each uncertain target word the score of each tag that it may have, -inf for one that
    it may not. ``arcs`` gives for (head, dependent) a nested list [tag of head, tag of dependent]; a certain
    word has tag 0. ``links`` gives for (source word, target word) a list by the tag of the target word.
    """

    def __init__(self, pairs, tags, arcs, links):
        self.scored = []
        words = sorted(tags)
        for (source, target, linked, fired), base in pairs.scored:
            for states in itertools.product(*(range(len(tags[word])) for word in words)):
                state = dict(zip(words, states))
                score = base + sum(tags[word][tag] for word, tag in state.items())
                for dependent in range(1, len(target)):
                    table = arcs.get((target[dependent], dependent))
                    if table is not None:
                        score += table[state.get(target[dependent], 0)][state.get(dependent, 0)]
                score += sum(links[link][state[link[1]]] for link in linked if link in links)
                if score > -math.inf:
                    self.scored.append(((source, target, linked, fired, state), score))
        self.log_z = log_sum([score for _, score in self.scored])

    def log_total(self, holds):
        """Return the log of the sum over what ``holds(source, target, links, fired, tags)``."""
        return log_sum([score for values, score in self.scored if holds(*values)])

    def probability(self, holds, given=lambda *_: True):
        """Return the probability that ``holds(...)``, given that ``given(...)`` does."""
        both = self.log_total(lambda *values: holds(*values) and given(*values))
        return math.exp(both - self.log_total(given))
