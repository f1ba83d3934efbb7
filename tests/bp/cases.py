"""One small specimen of every factor, for the suite that all of them pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from qsproj.bp.factors.alignment import align_hmm, align_itg, fertility
from qsproj.bp.factors.booleans import all_true, any_pair, at_most_one, exactly_one, link, nand, pair, synch
from qsproj.bp.factors.chains import child_sequence, step_starts, valence
from qsproj.bp.factors.tags import tag, tag_link, trigram
from qsproj.bp.factors.trees import forest, no_cross, projective_tree, tree
from qsproj.bp.links import chosen_links
from tests.bp.links import all_links


def scores(rng, scale, *shape):
    """Draw scores, one in eight of them -inf."""
    drawn = scale * rng.normal(size=shape)
    return np.where(rng.random(shape) < 0.125, -np.inf, drawn)


def child_sequence_case(rng, scale):
    starts = [0, 4, 4, 7]
    drawn = scores(rng, scale, step_starts(starts)[-1])
    drawn[step_starts(starts)[1]] = scale
    return child_sequence(range(7), starts, drawn)


def no_cross_case(n, words, pruned=()):
    def make(rng, scale):
        allowed = np.zeros((n + 1, n + 1), dtype=bool)
        allowed[:, words] = True
        for arc in pruned:
            allowed[arc] = False
        return no_cross(chosen_links(allowed), [words], scores(rng, scale, 1))

    return make


def align_hmm_case(rng, scale):
    drawn = scores(rng, scale, 6)
    drawn[[3, 5]] = scale
    return align_hmm(range(6), [0, 2, 2, 5, 6], [1, 3, 1, 2, 3, 1], drawn, n_source=3)


def without(n, *arcs):
    allowed = np.ones((n + 1, n + 1), dtype=bool)
    for arc in arcs:
        allowed[arc] = False
    return chosen_links(allowed)


def trees_of(*tables, single_root):
    """Make PTREE for several sentences over variables of their own; some have an arc that is in no tree."""
    trees, first = [], 0
    for links in tables:
        one = projective_tree(links, single_root=single_root)
        trees.append(replace(one, edges=one.edges + np.int32(first)))
        first += one.edges.size
    return forest(trees)


TWO = (without(3, (0, 1), (3, 2)), all_links(2))
IMPOSSIBLE = (all_links(2), without(3, (0, 3), (2, 1)))
CASES = {
    "LINK": lambda rng, scale: link(range(4), scores(rng, scale, 4)),
    "LINK evidence": lambda rng, scale: link(range(3), [np.inf, -np.inf, scale]),
    "PAIR": lambda rng, scale: pair([[0, 1], [2, 3], [4, 5]], scores(rng, scale, 3)),
    "NAND": lambda rng, scale: nand([[0, 1], [2, 3]]),
    "all of one": lambda rng, scale: all_true([[0], [1]], scores(rng, scale, 2)),
    "all of four": lambda rng, scale: all_true([[0, 1, 2, 3], [4, 5, 6, 7]], scores(rng, scale, 2)),
    "EXACTLY1": lambda rng, scale: exactly_one([[0, 1, 2, 3], [4], [5, 6]]),
    "ATMOST1": lambda rng, scale: at_most_one([[0, 1, 2, 3], [4], [5, 6], []]),
    "TREE": lambda rng, scale: tree(all_links(3)),
    "TREE, single root": lambda rng, scale: tree(all_links(3), single_root=True),
    "TREE, pruned": lambda rng, scale: tree(without(3, (0, 1), (3, 2))),
    "PTREE": lambda rng, scale: projective_tree(all_links(3)),
    "PTREE, single root": lambda rng, scale: projective_tree(all_links(3), single_root=True),
    "PTREE, two sentences": lambda rng, scale: trees_of(*TWO, single_root=False),
    "PTREE, two sentences, single root": lambda rng, scale: trees_of(*IMPOSSIBLE, single_root=True),
    "PTREE, pruned": lambda rng, scale: projective_tree(without(3, (0, 3), (2, 1))),
    "CHILDSEQ": child_sequence_case,
    "VALENCE": lambda rng, scale: valence(range(7), [0, 4, 7], scores(rng, scale, 2, 3)),
    "VALENCE, few": lambda rng, scale: valence(range(1), [0, 0, 1], scale * rng.normal(size=(2, 4))),
    "NOCROSS, neighbours": no_cross_case(5, (2, 3)),
    "NOCROSS, apart": no_cross_case(5, (4, 2)),
    "NOCROSS, ends, pruned": no_cross_case(5, (1, 5), pruned=[(0, 1), (3, 5)]),
    "TAG": lambda rng, scale: tag([0, 1], scores(rng, scale, 2, 4)),
    "TAGLINK": lambda rng, scale: tag_link([0, 3], [1, 4], [2, 5], scores(rng, scale, 2, 3, 2)),
    "TAGLINK, root": lambda rng, scale: tag_link([0], [1], [2], scores(rng, scale, 1, 1, 4)),
    "TRIGRAM": lambda rng, scale: trigram(range(4), scores(rng, scale, 4, 4, 4)),
    "fertility": lambda rng, scale: fertility(range(6), [2, 1, 2, 4, 2, 2], scale * rng.normal(size=(4, 4))),
    "ALIGNHMM": align_hmm_case,
    "ALIGNITG": lambda rng, scale: align_itg(range(7), [2, 2, 3, 5, 5, 9, 9], [4, 1, 4, 1, 6, 2, 6]),
    "ALIGNITG, four links": lambda rng, scale: align_itg(range(5), [1, 2, 3, 4, 2], [2, 4, 1, 3, 1]),
    "ANYPAIR": lambda rng, scale: any_pair(
        np.array([0, 0, 0, 1]), np.array([[2, 3], [4, 5], [6, 7], [8, 9]])
    ),
    "SYNCH": lambda rng, scale: synch([[0, 1, 2, 3], [4, 5, 6, 7]]),
    "TRIGRAM, one word": lambda rng, scale: trigram([0], scores(rng, scale, 4, 4, 4)),
}
