"""The log value of every factor for an assignment: the definition that kernels are compared with.

``states`` int32[E] are those of the edges' variables.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def log_score(group, states):
    """Return the sum of log F over the factors of a group."""
    return LOG_SCORES[type(group).__name__](group, states)


def all_true(group, states):
    factors = states.reshape(-1, group.degree)
    return float(sum(score for score, values in zip(group.scores, factors) if all(values)))


def link(group, states):
    fired = [float(score) for score, state in zip(group.scores, states) if state and score < np.inf]
    return sum(fired) if states[group.scores == np.inf].all() else -np.inf


def any_pair(group, states):
    for start, stop in zip(group.starts, group.starts[1:]):
        pairs = states[start + 1 : stop].reshape(-1, 2)
        if bool(states[start]) != any(bool(a) and bool(b) for a, b in pairs):
            return -np.inf
    return 0.0


def exactly_one(group, states):
    counts = [int(states[a:b].sum()) for a, b in zip(group.starts, group.starts[1:])]
    fits = all(count == 1 or (count == 0 and group.allow_none) for count in counts)
    return 0.0 if fits else -np.inf


def synch(group, states):
    for dependents, heads, source, target in states.reshape(-1, 4).astype(bool):
        broken = (
            (source and dependents and target and not heads)
            or (source and dependents and heads and not target)
            or (target and dependents and heads and not source)
        )
        if broken:
            return -np.inf
    return 0.0


def tree(group, states):
    arcs = [(int(h), int(d)) for h, d, on in zip(group.heads, group.dependents, states) if on]
    head_of = {d: h for h, d in arcs}
    one_head_each = len(arcs) == group.size - 1 == len(head_of)
    if not one_head_each or not all(_reaches_root(word, head_of) for word in head_of):
        return -np.inf
    if group.single_root and list(head_of.values()).count(0) != 1:
        return -np.inf
    spans = [(min(arc), max(arc)) for arc in arcs]
    crossing = any(a < c < b < d for a, b in spans for c, d in spans)
    return -np.inf if group.projective and crossing else 0.0


def _reaches_root(word, head_of):
    for _ in head_of:
        word = head_of[word]
        if word == 0:
            return True
    return False


def forest(group, states):
    return sum(log_score(tree, part) for tree, part in zip(group.trees, group._parts(states), strict=True))


def no_cross(group, states):
    total = 0.0
    for f, words in enumerate(group.dependents):
        spans = []
        for side, word in enumerate(words):
            edges = range(group.starts[2 * f + side], group.starts[2 * f + side + 1])
            spans += [sorted((int(group.heads[e]), int(word))) for e in edges if states[e]]
            if len(spans) != side + 1:
                return -np.inf
        (a, b), (c, d) = spans
        total += float(group.scores[f]) if a < c < b < d or c < a < d < b else 0.0
    return total


def tag(group, states):
    return float(sum(row[state] for row, state in zip(group.scores, states)))


def tag_link(group, states):
    arcs, heads, dependents = states.reshape(3, -1)
    fired = [float(group.scores[f, heads[f], dependents[f]]) for f in range(arcs.size) if arcs[f]]
    return sum(fired)


def trigram(group, states):
    boundary = group.scores.shape[0] - 1
    tags = [boundary, boundary, *(int(state) for state in states), boundary]
    return float(sum(group.scores[r, s, t] for r, s, t in zip(tags, tags[1:], tags[2:])))


def child_sequence(group, states):
    total = 0.0
    for f, (start, stop) in enumerate(zip(group.starts, group.starts[1:])):
        m = int(stop - start)
        block = group.scores[group.score_starts[f] : group.score_starts[f + 1]].reshape(m + 1, m + 1)
        children = [place + 1 for place in range(m) if states[start + place]]
        for previous, following in zip([0, *children], [*children, m + 1]):
            total += float(block[previous, following - 1])
    return total


def valence(group, states):
    last = group.scores.shape[1] - 1
    counts = [min(int(states[a:b].sum()), last) for a, b in zip(group.starts, group.starts[1:])]
    return float(sum(group.scores[f, count] for f, count in enumerate(counts)))


def align_hmm(group, states):
    widest = (group.scores.size - 2) // 2
    total, last = 0.0, 0
    for start, stop in zip(group.starts, group.starts[1:]):
        taken = [int(group.positions[e]) for e in range(start, stop) if states[e]]
        if len(taken) > 1:
            return -np.inf
        if not taken:
            total += float(group.scores[-1])
            continue
        jump = max(-widest, min(widest, taken[0] - last))
        total += float(group.scores[jump + widest])
        last = taken[0]
    return total


def align_itg(group, states):
    """Return 0 where bracketing generates the order, -inf else: it excludes 2413 and 3142."""
    true = sorted(
        (int(i), int(j)) for i, j, on in zip(group.of_source, group.of_target, states, strict=True) if on
    )
    targets = [j for _, j in true]
    if len({i for i, _ in true}) < len(true) or len(set(targets)) < len(true):
        return -np.inf
    for four in combinations(targets, 4):
        if [sorted(four).index(j) for j in four] in ([1, 3, 0, 2], [2, 0, 3, 1]):
            return -np.inf
    return 0.0


LOG_SCORES = {
    "AllTrue": all_true,
    "Link": link,
    "AnyPair": any_pair,
    "ExactlyOne": exactly_one,
    "Synch": synch,
    "Tree": tree,
    "Forest": forest,
    "NoCross": no_cross,
    "Tag": tag,
    "TagLink": tag_link,
    "Trigram": trigram,
    "ChildSequence": child_sequence,
    "Valence": valence,
    "AlignHmm": align_hmm,
    "AlignItg": align_itg,
}
