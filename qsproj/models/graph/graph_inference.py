"""What is believed of the arcs of one sentence: pruning, message passing, and relaxation.

Relaxation starts from first order and adds only the factors that the current beliefs call for: those that
have something to decide, all of whose arcs are plausible and at least one undecided. What is not called for
costs nothing, features included.

*Source*: thesis 5.6. Riedel and Smith (2010), of whom it tells, score every factor and add those that would
change the distribution most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.beliefs import Beliefs, odds_of, probability
from qsproj.bp.factors.trees import Tree
from qsproj.bp.group import Messages
from qsproj.bp.options import Passing
from qsproj.bp.run import run
from qsproj.bp.status import Status
from qsproj.conventions import Scores
from qsproj.models.graph.graph_factors import FIRST_FAMILY, Doubts, SentenceGraph
from qsproj.models.tree_inference import TreeInference

# How far messages are held back: undamped ones overshoot where factors are strong.
DAMPING = 0.3
# Iterations between two looks at what the beliefs call for.
LOOK = 2

Array = NDArray[np.float64]
Expectations = tuple[Array, list[Array]]


def candidate_arcs(marginals: Scores, inference: TreeInference, *, threshold: float) -> NDArray[np.bool_]:
    """Return bool[n+1, n+1], the arcs with a probability of at least ``threshold`` or in the best tree.

    So there is always a tree among them.
    """
    candidates = marginals >= threshold
    heads = inference.best(marginals)
    candidates[heads[1:], np.arange(1, len(heads))] = True
    return candidates


def propagate(
    graph: SentenceGraph,
    link_scores: Array,
    scores: Sequence[Array],
    *,
    iterations: int,
    maximise: bool = False,
    start: Sequence[Messages] | None = None,
) -> Beliefs:
    """Pass messages in the graph of a sentence, with scores float64[E] of LINK and float64[F] of each family.

    Groups answer in turn, the hard constraint last: so five iterations carry further than by flooding.
    """
    return run(
        graph.with_scores(link_scores, scores),
        Passing(schedule="sequential", max_iterations=iterations, tolerance=1e-3, damping=DAMPING),
        maximise=maximise,
        start=start,
    )


def relax(
    chances: Array,
    layout: Callable[[Doubts], SentenceGraph],
    link_scores: Array,
    score: Callable[[SentenceGraph], list[Array]],
    *,
    doubt: float,
    iterations: int,
    max_factors: int,
    maximise: bool = False,
) -> tuple[SentenceGraph, Beliefs | None]:
    """Pass messages in a graph that grows for as long as its beliefs call for more factors.

    ``chances`` float64[E]: first-order probabilities of the candidate arcs, in the order of the graph's
    booleans. ``link_scores`` float64[E]: natural log. An arc is plausible if its probability is at least
    ``doubt``, which is greater than 0, and undecided if it is also at most 1 minus that. After every LOOK of
    the ``iterations`` the graph may grow; messages go on from where they were.

    Returns the last graph, and what is believed in it; None where it would have too many factors.
    """
    doubts = _doubts(odds_of(chances), doubt)
    graph, scores, start = layout(doubts), None, None
    while graph.n_factors <= max_factors:
        scores = score(graph) if scores is None else scores
        beliefs = propagate(
            graph, link_scores, scores, iterations=min(LOOK, iterations), maximise=maximise, start=start
        )
        iterations -= LOOK
        called_for = doubts.joined(_doubts(beliefs.log_ratios, doubt))
        grows = not called_for.same_as(doubts)
        settled = beliefs.status is Status.CONVERGED and not grows
        if iterations <= 0 or settled or beliefs.status is Status.CONTRADICTION:
            return graph, beliefs
        start = beliefs.outgoing
        if grows:
            grown, doubts = layout(called_for), called_for
            graph, scores, start = grown, None, _carried(beliefs.outgoing, graph, grown)
    return graph, None


def _doubts(log_odds: Array, doubt: float) -> Doubts:
    """Say which arcs are plausible, and which of these undecided, by their log-odds float64[E]."""
    bound = np.log(doubt) - np.log1p(-doubt)
    return Doubts(log_odds >= bound, np.abs(log_odds) <= -bound)


def _carried(
    outgoing: Sequence[Messages], graph: SentenceGraph, grown: SentenceGraph
) -> tuple[Messages, ...]:
    """Return the messages of a graph as messages of a graph that has all of its factors and more."""
    carried = list(outgoing)
    for index, (family, larger) in enumerate(zip(graph.families, grown.families), start=FIRST_FAMILY):
        order = np.argsort(larger.edges)
        messages = np.zeros(len(larger.edges))
        messages[order[np.searchsorted(larger.edges, family.edges, sorter=order)]] = outgoing[index]
        carried[index] = messages
    return tuple(carried)


def arc_log_odds(beliefs: Beliefs) -> Array:
    """Return the log-odds of every arc, float64[E].

    Where a tree is required, under the belief of that factor: it has heard all others, and it alone knows
    that every word has one head. So the probabilities of the heads of a word sum to one; those of the
    variables do only when messages have settled.
    """
    last = beliefs.graph.groups[-1]
    if not isinstance(last, Tree):
        return beliefs.log_ratios
    incoming = beliefs.incoming[-1]
    log_odds: Array = incoming + last.propagate(incoming, maximise=beliefs.maximised)
    return log_odds


def expectations(
    graph: SentenceGraph,
    link_scores: Array,
    scores: Sequence[Array],
    *,
    iterations: int,
) -> tuple[Array, Expectations]:
    """Pass messages; return log-odds of the arcs float64[E], and the gradient of Bethe log Z by all scores.

    The gradient is the believed probability of each arc, float64[E], and of each factor of each family,
    float64[F] (thesis eq. 2.18).
    """
    beliefs = propagate(graph, link_scores, scores, iterations=iterations)
    log_odds = arc_log_odds(beliefs)
    groups, incoming = beliefs.graph.groups, beliefs.incoming
    fired = [
        family.expected(groups[index], incoming[index])
        for index, family in enumerate(graph.families, start=FIRST_FAMILY)
    ]
    return log_odds, (probability(log_odds), fired)
