"""Best tree, projective or not, in O(n^2) time and memory: Chu-Liu-Edmonds in Tarjan's form for dense graphs.

From any word, follow the best arc into each component to its head until the head is already on the path (then
the components from there on are merged) or is joined to the root. With a single root, arcs of the root are
used only when no other arc enters a component (docs/notes/tree-inference.md).

*Source*: thesis 3.1; McDonald (2006) chapter 3; the single root after Gabow and Tarjan (1984).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit

# "nnan" is safe: only sums and comparisons of numbers that are finite or -inf.
FLAGS = {"nsz", "nnan"}


class Components(NamedTuple):
    """Components during the contraction of cycles: words 1..n, then cycles from n + 1 up; mutated."""

    alone_head: NDArray[np.int64]  # [n+1]: the best head of every word alone, -1 where there is none
    alone_score: NDArray[np.float64]  # [n+1]: the score of that arc
    # [n+1, n+1]: scores of arcs into a node of a cycle in row slot[node], -inf from its own words
    entering: NDArray[np.float64]
    entry: NDArray[np.int32]  # [n+1, n+1]: the words that these arcs end in
    component: NDArray[np.int64]  # [n+1]: the node that each word is in
    slot: NDArray[np.int64]  # [2(n+1)], as the six below: the row of each node
    parent: NDArray[np.int64]  # the cycle that it is in
    chosen_head: NDArray[np.int64]  # the arc that was chosen to enter it
    chosen_entry: NDArray[np.int64]
    cost: NDArray[np.float64]  # the score of that arc
    on_path: NDArray[np.bool_]
    joined: NDArray[np.bool_]  # to the root
    path: NDArray[np.int64]  # [n+1]: from its first word to its top


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _components(size):
    """Return the initial components: each word alone, only the root joined to itself."""
    numbers, flags = np.zeros((7, 2 * size), np.int64), np.zeros((2, 2 * size), np.bool_)
    reals = np.empty((2, 2 * size))
    for node in range(size):
        numbers[0, node] = node
    for node in range(2 * size):
        numbers[1, node] = node
    flags[1, 0] = True
    return Components(
        numbers[6, size:],
        reals[1],
        np.empty((size, size)),
        np.empty((size, size), np.int32),
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        reals[0],
        flags[0],
        flags[1],
        numbers[5],
    )


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
def _find_best_heads(scores, first, heads, best):
    """Write the best head of every word alone, the first of equal ones, and its score; or -1, -inf."""
    size = scores.shape[0]
    for d in range(size):
        heads[d], best[d] = -1, -np.inf
    for h in range(first, size):
        row = scores[h]
        itself, own = best[h], heads[h]
        for d in range(1, size):
            heads[d] = h if row[d] > best[d] else heads[d]
            best[d] = row[d] if row[d] > best[d] else best[d]
        best[h], heads[h] = itself, own


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
def _open(scores, word, entering, entry):
    for h in range(scores.shape[0]):
        entering[h] = scores[h, word]
        entry[h] = word
    entering[word] = -np.inf


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
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


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
def _absorb(entering, entry, cost, into, into_entry):
    """Merge the arcs that enter one component of a cycle, minus the cost of its cycle arc, into a row."""
    for h in range(entering.shape[0]):
        value = entering[h] - cost
        better = value > into[h]
        into[h] = value if better else into[h]
        into_entry[h] = entry[h] if better else into_entry[h]


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
def _expand(parent, chosen_head, chosen_entry, count, settled, heads):
    """Undo contractions, last first: the arc that enters a cycle replaces the cycle's arc at its word."""
    settled[:count] = False
    for node in range(count - 1, 0, -1):
        if settled[node]:
            continue
        word = chosen_entry[node]
        heads[word] = chosen_head[node]
        while word != node:
            settled[word] = True
            word = parent[word]
        settled[node] = True


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
def _contract(scores, below, length, count, nodes):
    """Contract the cycle from ``below`` to the path's top to node ``count``; return the path's length."""
    entering, entry, parent = nodes.entering, nodes.entry, nodes.parent
    into = nodes.slot[below]
    if below < scores.shape[0]:
        _open(scores, below, entering[into], entry[into])
    for h in range(scores.shape[0]):
        entering[into, h] -= nodes.cost[below]
    parent[below] = count
    nodes.slot[count] = into
    while nodes.path[length - 1] != below:
        length -= 1
        member = nodes.path[length]
        parent[member] = count
        if member < scores.shape[0]:
            _open(scores, member, entering[member], entry[member])
        row = nodes.slot[member]
        _absorb(entering[row], entry[row], nodes.cost[member], entering[into], entry[into])
    for h in range(1, scores.shape[0]):
        if parent[nodes.component[h]] == count:
            nodes.component[h] = count
            entering[into, h] = -np.inf
    nodes.path[length - 1] = count
    nodes.on_path[count] = True
    return length


@njit(cache=True, borrows=True, error_model="numpy", fastmath=FLAGS)
def _join_all(scores, single_root, nodes):
    """Choose arcs into nodes until all are joined to the root; return their number, 0 without a tree."""
    size = scores.shape[0]
    first = 1 if single_root else 0
    count, root_taken = size, False
    for word in range(1, size):
        if nodes.joined[nodes.component[word]]:
            continue
        top = nodes.component[word]
        nodes.path[0], nodes.on_path[top] = top, True
        length = 1
        while True:
            top = nodes.path[length - 1]
            alone, row = top < size, nodes.slot[top]
            if alone:
                head, score = nodes.alone_head[top], nodes.alone_score[top]
            else:
                head, score = _best_head(nodes.entering[row], first)
            if head < 0 and single_root and not root_taken:
                head, score = 0, scores[0, top] if alone else nodes.entering[row, 0]
                root_taken = True
            if head < 0 or score == -np.inf:
                return 0
            nodes.chosen_head[top], nodes.cost[top] = head, score
            nodes.chosen_entry[top] = top if alone else nodes.entry[row, head]
            below = nodes.component[head]
            if nodes.joined[below]:
                break
            if nodes.on_path[below]:
                length = _contract(scores, below, length, count, nodes)
                count += 1
            else:
                nodes.path[length], nodes.on_path[below] = below, True
                length += 1
        for k in range(length):
            nodes.joined[nodes.path[k]] = True
    return count


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def arborescence(scores, single_root):
    """Find the best tree: heads, and the score, -inf when no tree is possible."""
    size = scores.shape[0]
    heads = np.full(size, -1, np.int32)
    nodes = _components(size)
    _find_best_heads(scores, 1 if single_root else 0, nodes.alone_head, nodes.alone_score)
    count = _join_all(scores, single_root, nodes)
    if count == 0:
        return heads, -np.inf
    _expand(nodes.parent, nodes.chosen_head, nodes.chosen_entry, count, nodes.on_path, heads)
    total = 0.0
    for d in range(1, size):
        total += scores[heads[d], d]
    return heads, total
