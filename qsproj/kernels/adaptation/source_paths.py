"""Hashed paths between two words in a source tree: configuration, siblings along the path.

Atoms of nodes are in a table with a row for each node. Its first columns are given, the columns of DERIVED
are computed here from the tree. Atoms of pairs (head and dependent of a candidate arc) are computed pair by
pair. Trees with some reversed arcs of the source tree are guesses at the target tree.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.features.arc_features import mix

# Longer paths have no features but their being long, unless a turned tree has the arc; paths with more steps
# up or down never have any. In SUD trees of Naija, a quarter of the candidates and 0.3% of the arcs of UD
# have such paths; in UD trees a tenth, and no arc of SUD.
MAX_STEPS = 5
MAX_UP, MAX_DOWN = 6, 6

# Columns read here: relation without any subtype, relation, tag.
BASE, RELATION, TAG = 0, 1, 2
# Columns that derive_nodes fills: relations of the dependents on the left, on the right, and on both sides in
# any order; relation of the next sibling on the same side towards the head and away from it; side of the
# head; tags of the neighbours.
DERIVED = ("left", "right", "children", "inner", "outer", "side", "previous", "next")
# Atoms of a pair; features.adaptation_templates explains them.
PAIR = (
    *("shape", "coarse", "bases", "relations", "tags", "runs", "kinds", "between", "gap", "ends"),
    *("votes", "stay", "move"),
)
# Places of a template's atoms: nodes that pair_atoms finds, and the pair.
PLACES = ("head", "dep", "head-parent", "dep-parent", "ancestor", "head-branch", "dep-branch", "pair")

NONE = np.uint64(0x9AE16A3B2F90404F)
DOWN = np.uint64(0xC2B2AE3D27D4EB4F)
TOP = np.uint64(0x165667B19E3779F9)


class SourceNodes(NamedTuple):
    """A source tree for the kernels."""

    heads: NDArray[np.int32]  # [n+1]: -1 for the root and where a head is missing
    depths: NDArray[np.int32]  # [n+1]: the result of node_depths
    atoms: NDArray[np.uint64]  # [n+2, A]: hashes of each node, DERIVED last; row n + 1 is no node
    turned_heads: NDArray[np.int32]  # [4, n+1]: heads in the trees of turned_trees


@njit(cache=True, error_model="numpy")
def node_depths(heads, depths):
    """Write the steps from each node to the top of its tree; heads without cycles, -1 at a top."""
    depths[:] = 0
    for node in range(heads.shape[0]):
        above = heads[node]
        while above >= 0:
            depths[node] += 1
            above = heads[above]


@njit(cache=True, error_model="numpy")
def derive_nodes(heads, atoms, first):
    """Fill the columns of DERIVED, from column ``first`` of ``atoms`` uint64[n+2, A] on."""
    n = heads.shape[0] - 1
    children, inner, outer, side, previous = first + 2, first + 3, first + 4, first + 5, first + 6
    atoms[:, first:] = NONE
    for node in range(n + 2):
        if 0 < node <= n:
            atoms[node, previous] = atoms[node - 1, TAG]
        if node < n:
            atoms[node, previous + 1] = atoms[node + 1, TAG]
    # The latest dependent of each head, going away from the head.
    last = np.empty(n + 1, np.int64)
    for k in range(2 * n):
        on_right = k >= n
        node = k - n + 1 if on_right else n - k
        if k == 0 or k == n:
            last[:] = n + 1
        head = heads[node]
        if head < 0 or (head < node) != on_right:
            continue
        atoms[node, inner] = atoms[last[head], BASE]
        if last[head] <= n:
            atoms[last[head], outer] = atoms[node, BASE]
        last[head] = node
        sequence = first + 1 if on_right else first
        atoms[head, sequence] = mix(atoms[head, sequence], atoms[node, BASE])
        atoms[head, children] += mix(NONE, atoms[node, BASE])
        atoms[node, side] = np.uint64(2 if on_right else 1)


@njit(cache=True, error_model="numpy")
def path_between(heads, depths, head, dependent, up, down):
    """Find the path from ``dependent`` up to the lowest common ancestor and down to ``head``.

    ``up``, ``down`` int64[MAX_UP], int64[MAX_DOWN] are filled, as far as they go, with the nodes from both
    upwards, without the ancestor. Returns steps up, steps down, the ancestor; -1 where there is none.
    """
    ups = downs = 0
    low, high = dependent, head
    while low != high:
        if depths[low] >= depths[high]:
            if ups < MAX_UP:
                up[ups] = low
            ups += 1
            low = heads[low]
        else:
            if downs < MAX_DOWN:
                down[downs] = high
            downs += 1
            high = heads[high]
        if low < 0 or high < 0:
            return ups, downs, -1
    return ups, downs, low


@njit(cache=True, error_model="numpy")
def order_of(head, dependent, ancestor):
    """Return the number of the order of head, dependent and their common ancestor."""
    code = 1 if head < dependent else 0
    code = code * 3 + (1 if ancestor < head else 2 if ancestor == head else 0)
    return code * 3 + (1 if ancestor < dependent else 2 if ancestor == dependent else 0)


@njit(cache=True, error_model="numpy")
def hash_path(atoms, column, up, ups, down, downs, runs):
    """Hash one column along a path; with ``runs``, only the first of equal neighbours."""
    state = before = NONE
    for k in range(ups):
        value = atoms[up[k], column]
        if not (runs and value == before):
            state = mix(state, value)
        before = value
    state = mix(state, TOP)
    before = NONE
    for k in range(downs - 1, -1, -1):
        value = atoms[down[k], column]
        if not (runs and value == before):
            state = mix(state, value ^ DOWN)
        before = value
    return state


@njit(cache=True, error_model="numpy")
def hash_inner_tags(atoms, up, ups, down, downs, ancestor):
    """Hash the tags of the nodes strictly between the two ends of a path."""
    state = NONE
    for k in range(1, ups):
        state = mix(state, atoms[up[k], TAG])
    if ups > 0 and downs > 0:
        state = mix(state, atoms[ancestor, TAG] ^ TOP)
    for k in range(downs - 1, 0, -1):
        state = mix(state, atoms[down[k], TAG] ^ DOWN)
    return state


@njit(cache=True, error_model="numpy")
def siblings_on_the_way(heads, atoms, ancestor, head_branch, dependent_branch, counts):
    """Count in ``counts`` int64[6] the ancestor's dependents between its two branches or beyond them.

    Between the branches: of the relation of the head's branch, of that of the dependent's, of any; farther
    out than the head's branch: of its relation, of any; than the dependent's: of its relation.
    """
    counts[:] = 0
    low, high = min(head_branch, dependent_branch), max(head_branch, dependent_branch)
    for k in range(1, heads.shape[0]):
        if heads[k] != ancestor:
            continue
        base = atoms[k, BASE]
        if low < k < high:
            counts[0] += base == atoms[head_branch, BASE]
            counts[1] += base == atoms[dependent_branch, BASE]
            counts[2] += 1
        if k < head_branch < ancestor or ancestor < head_branch < k:
            counts[3] += base == atoms[head_branch, BASE]
            counts[4] += 1
        if k < dependent_branch < ancestor or ancestor < dependent_branch < k:
            counts[5] += base == atoms[dependent_branch, BASE]


@njit(cache=True, error_model="numpy")
def pair_atoms(source, head, dependent, room):
    """Fill ``room`` for an arc with the nodes at all PLACES but the last; False: the path is too long."""
    up, down, counts, nodes, pair = room
    heads, atoms = source.heads, source.atoms
    ups, downs, ancestor = path_between(heads, source.depths, head, dependent, up, down)
    votes = 0
    for tree in range(source.turned_heads.shape[0]):
        votes += (source.turned_heads[tree, dependent] == head) << tree
    if ancestor < 0 or ups > MAX_UP or downs > MAX_DOWN or (ups + downs > MAX_STEPS and votes == 0):
        return False
    none = heads.shape[0]
    head_branch = down[downs - 1] if downs else ancestor
    dependent_branch = up[ups - 1] if ups else ancestor
    nodes[0], nodes[1], nodes[4] = head, dependent, ancestor
    nodes[2] = heads[head] if heads[head] >= 0 else none
    nodes[3] = heads[dependent] if heads[dependent] >= 0 else none
    nodes[5], nodes[6] = head_branch, dependent_branch
    siblings_on_the_way(heads, atoms, ancestor, head_branch, dependent_branch, counts)
    direction = 1 if head < dependent else 0
    gap = abs(head - dependent)
    binned_gap = gap if gap < 5 else 5 if gap < 10 else 6
    pair[0] = np.uint64((ups * 16 + downs) * 32 + order_of(head, dependent, ancestor))
    pair[1] = np.uint64((min(ups, 2) * 3 + min(downs, 2)) * 2 + direction)
    pair[2] = hash_path(atoms, BASE, up, ups, down, downs, False)
    pair[3] = hash_path(atoms, RELATION, up, ups, down, downs, False)
    pair[4] = hash_inner_tags(atoms, up, ups, down, downs, ancestor)
    pair[5] = hash_path(atoms, RELATION, up, ups, down, downs, True)
    kinds = (min(counts[0], 2) * 3 + min(counts[1], 2)) * 4 + min(counts[3], 1) * 2 + min(counts[5], 1)
    pair[6] = np.uint64(kinds)
    pair[7] = np.uint64(min(counts[2], 3))
    pair[8] = np.uint64(2 * binned_gap + direction)
    pair[9] = np.uint64(min(counts[4], 1))
    pair[10], pair[11], pair[12] = np.uint64(votes), np.uint64(votes & 1), np.uint64((votes >> 1) & 1)
    return True


@njit(cache=True, error_model="numpy")
def workspace(templates):
    """Return arrays for :func:`pair_atoms`: path up, path down, counts, nodes, pair; and one for buckets."""
    room = (
        np.empty(MAX_UP, np.int64),
        np.empty(MAX_DOWN, np.int64),
        np.empty(6, np.int64),
        np.empty(len(PLACES) - 1, np.int64),
        np.empty(len(PAIR), np.uint64),
    )
    return room, np.empty(templates, np.uint64)


# Other dependents of a word stay with it or move to the topmost word turned over it; the last two trees have
# a fan where the first two have a chain, and a chain where they have a fan.
TREES = ("stay", "move", "other-stay", "other-move")


@njit(cache=True, error_model="numpy")
def chains_above(heads, turned):
    """Order the words turned over each word from inside out: on its right, nearest first, then left.

    Returns, int32[n+1], -1 for none: ``innermost``, ``outermost``, the first and the last word of the chain
    over each word; ``outwards``, the word after each turned word on its chain.
    """
    n = heads.shape[0] - 1
    innermost = np.full(n + 1, -1, np.int32)
    outermost, outwards = innermost.copy(), innermost.copy()
    for k in range(2 * n):
        on_right = k < n
        word = k + 1 if on_right else 2 * n - k
        head = heads[word]
        if not turned[word] or (head < word) != on_right:
            continue
        if innermost[head] < 0:
            innermost[head] = word
        else:
            outwards[outermost[head]] = word
        outermost[head] = word
    return innermost, outermost, outwards


@njit(cache=True, error_model="numpy")
def turned_trees(heads, turned, nests, trees):
    """Write the heads of the trees of TREES, in which each turned word is above its source head.

    The words turned over a word are a chain, in which each heads the one inside it, or a fan, in which the
    outermost heads the word and all others. The outermost takes the word's place. ``heads`` int32[n+1]:
    without cycles; -1 for none. ``turned`` bool[n+1]: False for words without a head and for dependents of
    the root. ``nests`` bool[n+1]: whether the words over each word are a chain in the first two trees.
    ``trees`` int32[4, n+1]: filled.
    """
    size = heads.shape[0]
    innermost, outermost, outwards = chains_above(heads, turned)
    top = np.empty(size, np.int32)
    for word in range(size):
        above = word
        while outermost[above] >= 0:
            above = outermost[above]
        top[word] = above
    trees[:, 0] = -1
    for word in range(1, size):
        if innermost[word] >= 0:
            for tree in range(4):
                trees[tree, word] = innermost[word] if nests[word] == (tree < 2) else top[word]
            continue
        # The word heads the phrases of some of its source ancestors; it represents the highest one.
        phrase = word
        while heads[phrase] > 0 and top[heads[phrase]] == word:
            phrase = heads[phrase]
        head = heads[phrase]
        for tree in range(4):
            if head < 0:
                trees[tree, word] = -1
            elif turned[phrase]:
                trees[tree, word] = outwards[phrase] if nests[head] == (tree < 2) else top[head]
            else:
                trees[tree, word] = top[head] if tree % 2 else head
