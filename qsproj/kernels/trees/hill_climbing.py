"""Hill climbing over trees, projective or not, under scores of siblings and grandparents.

*Source*: McDonald and Pereira (2006), *Online learning of approximate dependency parsing algorithms*,
section 2; thesis 3.4.3.
"""

from __future__ import annotations

from qsproj.kernels.compilation import njit

FLAGS = {"reassoc", "contract", "nsz", "arcp"}

# Gains smaller than this are rounding; following them could go round in circles.
LEAST_GAIN = 1e-9


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _is_below(heads, word, top):
    """Say whether ``word`` is ``top`` or below it."""
    while word > 0 and word != top:
        word = heads[word]
    return word == top


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _chain_change(heads, head, word, parts):
    """Return by how much the head's sequence of dependents on one side scores better with the word in it.

    The other dependents are those of ``heads``. Natural log; -inf (or inf) where only the sequence with (or
    without) the word is forbidden.
    """
    outwards = 1 if word > head else -1
    before = word - outwards
    while before != head and heads[before] != head:
        before -= outwards
    after = word + outwards
    while 0 < after < heads.shape[0] and heads[after] != head:
        after += outwards
    siblings, stops = parts.siblings, parts.stops
    if 0 < after < heads.shape[0]:
        return siblings[head, word, before] + siblings[head, after, word] - siblings[head, after, before]
    end = parts.childless[head, 1 if word > head else 0] if before == head else stops[head, before]
    return siblings[head, word, before] + stops[head, word] - end


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _arc_score(heads, head, word, new_head, parts):
    """Return the scores of the arc head -> word and of those below the word, ``new_head`` being its head."""
    contexts = parts.arcs.shape[1]
    context = min(max(heads[head], 0), contexts - 1)
    score = parts.arcs[head, context, word]
    if contexts > 1:
        for d in range(1, heads.shape[0]):
            if heads[d] == word:
                score += parts.arcs[word, new_head, d]
    return score


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def climb(parts, heads):
    """Give one word another head, always the change that gains most, until none gains.

    ``parts`` Parts: natural-log scores, finite or -inf
    (:mod:`qsproj.kernels.trees.eisner_second_order_inside`). ``heads`` int32[n+1]: a tree of finite score;
    changed in place. Returns ``gain``: by how much the score rose. O(n^3) a step.
    """
    size = heads.shape[0]
    total = 0.0
    while True:
        best, best_word, best_head = LEAST_GAIN, 0, 0
        for word in range(1, size):
            old = heads[word]
            loss = _chain_change(heads, old, word, parts) + _arc_score(heads, old, word, old, parts)
            for head in range(size):
                if head == old or _is_below(heads, head, word):
                    continue
                gain = _chain_change(heads, head, word, parts) - loss
                gain += _arc_score(heads, head, word, head, parts)
                if gain > best:
                    best, best_word, best_head = gain, word, head
        if best_word == 0:
            return total
        heads[best_word] = best_head
        total += best
