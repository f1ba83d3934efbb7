"""The E-step of the QG-DMV over many sentence pairs in one call, and the posterior of one.

A node is a target word in one of its senses. T target tags, G tags of senses, C configurations.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qsproj.kernels.compilation import njit
from qsproj.kernels.dmv.dmv_charts import FLAGS, LEFT, RIGHT, chart_space, sum_derivations


class QgCorpus(NamedTuple):
    """P pairs, one after the other, of W target words and V nodes; those of a pair are sorted by word."""

    word_starts: NDArray[np.int64]  # [P+1]
    # [W+P]: n + 1 a pair, from word_starts[s] + s: first node of each word, counted in the pair; their number
    first_nodes: NDArray[np.int32]
    node_starts: NDArray[np.int64]  # [P+1]
    tags: NDArray[np.int16]  # [V]: of the target word
    source_tags: NDArray[np.int16]  # [V]: of the sense
    priors: NDArray[np.float64]  # [V]: weight of the link, above 0, or 1
    relation_starts: NDArray[np.int64]  # [P+1]
    # flat: configurations of the pairs of nodes of a pair, [head, dependent]; row 0 is the root as head
    relations: NDArray[np.int8]
    # [V+P, C]: number of possible senses of a dependent of each head in each configuration; rows of pair s
    # from node_starts[s] + s, the root's first
    choices: NDArray[np.int16]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _fill_weights(tags, source_tags, priors, relations, choices, configuration, child, root, space):
    """Look up the weight of every arc between nodes: configuration, choice of the sense, tag, sense prior."""
    nodes = tags.shape[0]
    kinds = configuration.shape[0]
    a_choice = np.empty(kinds)
    for row in range(nodes + 1):
        for kind in range(kinds):
            # A configuration without any sense for this head is never looked up: no node pair has it.
            a_choice[kind] = configuration[kind] / max(choices[row, kind], 1)
        if row == 0:
            for b in range(nodes):
                weight = a_choice[relations[0, b]] * priors[b]
                space.root_weights[b] = weight * root[source_tags[b], tags[b]]
            continue
        a = row - 1
        for b in range(nodes):
            weight = a_choice[relations[row, b]] * priors[b]
            by_tags = child[tags[a], LEFT if b < a else RIGHT]
            space.weights[a, b] = weight * by_tags[source_tags[b], tags[b]]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def _add_counts(
    tags, source_tags, relations, arcs, root_arcs, configuration_counts, child_counts, root_counts
):
    nodes = tags.shape[0]
    for b in range(nodes):
        configuration_counts[relations[0, b]] += root_arcs[b]
        root_counts[source_tags[b], tags[b]] += root_arcs[b]
    for a in range(nodes):
        for b in range(nodes):
            configuration_counts[relations[a + 1, b]] += arcs[a, b]
            child_counts[tags[a], LEFT if b < a else RIGHT, source_tags[b], tags[b]] += arcs[a, b]


@njit(cache=True, error_model="numpy", fastmath=FLAGS)
def qg_expectation(corpus, stop_by_tag, configuration, child, root):
    """Sum the expected counts of all derivations of the target sentences, given the source trees.

    Probabilities: ``stop_by_tag`` float64[T, 2, 2], [head tag, direction, valence]; ``configuration``
    float64[C]; ``child`` float64[T, 2, G, T], [head tag, direction, tag of the dependent's sense, its tag];
    ``root`` float64[G, T]. Returns their expected counts, those of stopping with a last axis {stop, go on};
    ``log_likelihoods`` float64[P] of each target sentence with an alignment among the candidates, given the
    source, -inf, and no counts, where it is 0; and the posterior probability of the arcs between nodes, and
    of the root's, of the last pair.
    """
    word_starts, node_starts, relation_starts = corpus.word_starts, corpus.node_starts, corpus.relation_starts
    stop_counts = np.zeros((root.shape[1], 2, 2, 2))
    configuration_counts = np.zeros(configuration.shape[0])
    child_counts, root_counts = np.zeros_like(child), np.zeros_like(root)
    pairs = word_starts.shape[0] - 1
    log_likelihoods = np.empty(pairs)
    most, longest = 0, 0
    for s in range(pairs):
        most = max(most, node_starts[s + 1] - node_starts[s])
        longest = max(longest, word_starts[s + 1] - word_starts[s])
    space = chart_space(most, longest)
    arcs, root_arcs = space.opened, space.root_weights
    for s in range(pairs):
        first = corpus.first_nodes[word_starts[s] + s : word_starts[s + 1] + s + 1]
        low, high = node_starts[s], node_starts[s + 1]
        nodes = high - low
        its_tags, its_senses = corpus.tags[low:high], corpus.source_tags[low:high]
        table = corpus.relations[relation_starts[s] : relation_starts[s + 1]].reshape((nodes + 1, nodes))
        priors, choices = corpus.priors[low:high], corpus.choices[low + s : high + s + 1]
        _fill_weights(its_tags, its_senses, priors, table, choices, configuration, child, root, space)
        log_likelihoods[s] = sum_derivations(first, its_tags, stop_by_tag, space, stop_counts)
        if log_likelihoods[s] == -np.inf:
            continue
        _add_counts(
            its_tags, its_senses, table, arcs, root_arcs, configuration_counts, child_counts, root_counts
        )
    return (stop_counts, configuration_counts, child_counts, root_counts, log_likelihoods, arcs, root_arcs)
