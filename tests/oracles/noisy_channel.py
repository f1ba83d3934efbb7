"""The noisy channel by enumeration, for a pair that one link joins by one MONO factor. Plain Python."""

from __future__ import annotations

import math

from tests.oracles.factor_graphs import log_sum


def log_probability(heads, target_scores, source_scores, link, scores, trees):
    """Return the log-probability of a source tree, given both sentences.

    ``scores`` are those of the link alone (present, absent) and of the factor that asks for the link and for
    its words to be roots of their trees; ``trees`` are all source trees and all target trees, as heads.
    """
    source_trees, target_trees = trees
    source_word, target_word = link
    root = math.log(root_probability(target_word, target_scores, target_trees))
    weighted = {True: root, False: math.log1p(-math.exp(root))}

    def of_tree(tree):
        own = sum(source_scores[tree[d]][d] for d in range(1, len(tree)))
        return log_sum(
            [
                own
                + weighted[is_root]
                + scores["present" if linked else "absent"]
                + (scores["factor"] if is_root and linked and tree[source_word] == 0 else 0.0)
                for is_root in (True, False)
                for linked in (True, False)
            ]
        )

    return of_tree(heads) - log_sum([of_tree(tree) for tree in source_trees])


def root_probability(word, scores, trees):
    """Return the probability that a word hangs from the root, by all trees."""
    values = [sum(scores[tree[d]][d] for d in range(1, len(tree))) for tree in trees]
    rooted = [value for value, tree in zip(values, trees, strict=True) if tree[word] == 0]
    return math.exp(log_sum(rooted) - log_sum(values))
