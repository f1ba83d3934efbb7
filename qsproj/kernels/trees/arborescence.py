"""Best tree, projective or not, in O(n^2) time and memory: Chu-Liu-Edmonds as Tarjan does it on dense graphs.

From any word, follow the best arc into each component to its head until the head is already on the path (then
the components from there on are a cycle, and become one) or is joined to the root (then the whole path is).
Each contraction costs O(n) for each component it does away with, each step O(n).

With a single root, arcs of the root are left aside until no other arc enters a component: when that is all
words, this is what is left of the graph; it then takes its best arc from the root. Contraction has by then
charged every root arc with what it costs to enter there, so the choice is exact, without a penalty on root
arcs. If forbidden arcs leave words outside, they hang below, and no other component may take the root.

*Source*: thesis 3.1; McDonald (2006) chapter 3; the single root after Gabow and Tarjan (1984).
"""

from __future__ import annotations

import numpy as np

from qsproj.kernels.compilation import njit

# Only sums and comparisons of numbers that are finite or -inf: there is no NaN to keep.
FLAGS = {"nsz", "nnan"}


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _best_heads(scores, first):
    """Return the best head of every word alone, the first of equal ones, and its score; -1 and -inf for none.

    Along the rows of ``scores``, many words at a time.
    """
    size = scores.shape[0]
    heads, best = np.full(size, -1), np.full(size, -np.inf)
    for h in range(first, size):
        row = scores[h]
        itself = best[h], heads[h]
        for d in range(1, size):
            heads[d] = h if row[d] > best[d] else heads[d]
            best[d] = row[d] if row[d] > best[d] else best[d]
        best[h], heads[h] = itself
    return heads, best


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _open(scores, word, entering, entry):
    """Write the arcs that enter a word alone into its rows of ``entering`` and ``entry``."""
    for h in range(scores.shape[0]):
        entering[h] = scores[h, word]
        entry[h] = word
    entering[word] = -np.inf


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _best_head(entering, first):
    """Return the best head of a component, the first of equal ones, and its score; -1 and -inf for none."""
    score = -np.inf
    for h in range(first, entering.shape[0]):
        score = max(score, entering[h])
    if score > -np.inf:
        for h in range(first, entering.shape[0]):
            if entering[h] == score:
                return h, score
    return -1, score


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _absorb(entering, entry, cost, into, into_entry):
    """Merge the arcs that enter one component of a cycle, less what their cycle arc costs, into a row."""
    for h in range(entering.shape[0]):
        value = entering[h] - cost
        better = value > into[h]
        into[h] = value if better else into[h]
        into_entry[h] = entry[h] if better else into_entry[h]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _expand(parent, chosen_head, chosen_entry, count, heads):
    """Undo contractions, last first: the arc that enters a cycle replaces the cycle's arc at its word."""
    settled = np.zeros(count, np.bool_)
    for node in range(count - 1, 0, -1):
        if settled[node]:
            continue
        word = chosen_entry[node]
        heads[word] = chosen_head[node]
        while word != node:
            settled[word] = True
            word = parent[word]
        settled[node] = True
    heads[0] = -1


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def arborescence(scores, single_root):
    """Find the best tree.

    Parameters
    ----------
    scores : float64[n+1, n+1]
        Natural-log arc scores [head, dependent], C-contiguous, finite or -inf; column 0 and the diagonal
        are not read.
    single_root : bool
        Whether the root must have exactly one dependent.

    Returns
    -------
    heads : int32[n+1]
        The tree; ``heads[0] == -1``. Meaningless where the score is -inf.
    score : float64
        Sum of its arc scores; -inf when no tree is possible.
    """
    size = scores.shape[0]
    heads = np.full(size, -1, np.int32)
    first = 1 if single_root else 0
    alone_head, alone_score = _best_heads(scores, first)
    # Components are numbered as nodes: words 1..n, then contracted cycles from n + 1 up. Once a node is in a
    # cycle, row slot[node] of ``entering`` has the scores of arcs from every head into it, -inf from its own
    # words; ``entry`` the words these arcs end in.
    entering = np.empty((size, size))
    entry = np.empty((size, size), np.int32)
    component = np.arange(size)
    slot = np.arange(2 * size)
    parent = np.zeros(2 * size, np.int64)
    chosen_head = np.zeros(2 * size, np.int64)
    chosen_entry = np.zeros(2 * size, np.int64)
    on_path = np.zeros(2 * size, np.bool_)
    joined = np.zeros(2 * size, np.bool_)
    cost = np.zeros(2 * size)
    path = np.empty(size, np.int64)
    joined[0] = True
    count, root_taken = size, False
    for word in range(1, size):
        if joined[component[word]]:
            continue
        path[0] = component[word]
        on_path[path[0]] = True
        length = 1
        while True:
            top = path[length - 1]
            alone, row = top < size, slot[top]
            if alone:
                head, score = alone_head[top], alone_score[top]
            else:
                head, score = _best_head(entering[row], first)
            if head < 0 and single_root and not root_taken:
                head, score = 0, scores[0, top] if alone else entering[row, 0]
                root_taken = True
            if head < 0 or score == -np.inf:
                return heads, -np.inf
            chosen_head[top], chosen_entry[top], cost[top] = head, top if alone else entry[row, head], score
            below = component[head]
            if joined[below]:
                break
            if not on_path[below]:
                path[length] = below
                on_path[below] = True
                length += 1
                continue
            into = slot[below]
            if below < size:
                _open(scores, below, entering[into], entry[into])
            for h in range(size):
                entering[into, h] -= cost[below]
            parent[below] = count
            slot[count] = into
            while path[length - 1] != below:
                member = path[length - 1]
                length -= 1
                parent[member] = count
                if member < size:
                    _open(scores, member, entering[member], entry[member])
                _absorb(
                    entering[slot[member]], entry[slot[member]], cost[member], entering[into], entry[into]
                )
            for h in range(1, size):
                if parent[component[h]] == count:
                    component[h] = count
                    entering[into, h] = -np.inf
            path[length - 1] = count
            on_path[count] = True
            count += 1
        for k in range(length):
            joined[path[k]] = True
    _expand(parent, chosen_head, chosen_entry, count, heads)
    total = 0.0
    for d in range(1, size):
        total += scores[heads[d], d]
    return heads, total
