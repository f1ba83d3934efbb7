"""Enhanced dependencies of the target from DEPS of the source.

Patterns of relations take their markers from the sentence itself, English ``nmod:of`` and Swedish
``nmod:av``, so a model of the source's graphs applies to trees of the target. Trees of translations also get
the non-tree edges of the source whose two ends are linked.

*Source*: ours, after the projection of arcs (thesis 4.2.2) and the secondary links of thesis 5.1.3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from qsproj.conventions import ROOT, Rng
from qsproj.corpus.editing import graph_of, has_graph, with_graph
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.corpus.token import Edge
from qsproj.models.enhanced import enhancer
from qsproj.pipelines.projection.hard_projection import one_to_one
from qsproj.pipelines.projection.methods import Projected

MOST_GRAPHS = 10_000  # maximum number of training graphs, to bound the memory of candidate edges


def project_graphs(projected: Projected, sources: Sequence[Iterable[SentencePair]], *, rng: Rng) -> Projected:
    """Return a projection with DEPS, learned from those of the sources; NothingToLearnError without any."""
    graphs = (pair.source for pair in chain(*sources) if has_graph(pair.source))
    learned_from = list(islice(graphs, MOST_GRAPHS))
    parser = enhancer.EnhancedParser(projected.parser, enhancer.train_enhancer(learned_from, rng=rng))

    def trees() -> Iterator[Sentence]:
        pairs = {pair.target.forms: pair for pair in chain(*sources) if has_graph(pair.source)}
        for tree in projected.trees():
            enhanced, pair = parser.enhanced(tree), pairs.get(tree.forms)
            yield enhanced if pair is None else with_edges_through_links(enhanced, pair)

    about = f"DEPS: learned from the graphs of {len(learned_from)} source sentences"
    return replace(projected, parser=parser, trees=trees, report=(*projected.report, about))


def with_edges_through_links(enhanced: Sentence, pair: SentencePair) -> Sentence:
    graph: list[list[Edge]] = [list(edges) for edges in graph_of(enhanced)]
    known = [{head for head, _ in edges} for edges in graph]
    for dependent, head, relation in edges_through_links(enhanced, pair):
        if str(head) not in known[dependent - 1]:
            graph[dependent - 1].append((str(head), relation))
    return with_graph(enhanced, graph)


def edges_through_links(target: Sentence, pair: SentencePair) -> Iterator[tuple[int, int, str]]:
    """Yield dependent, head and relation of non-tree edges projected through one-to-one links.

    Only candidate edges of the target's tree count. Markers in a relation are those of the target.
    """
    source, tree = enhancer.Tree(pair.source), enhancer.Tree(target)
    partners = one_to_one(pair.alignment).tolist()
    graph = graph_of(pair.source)
    for one in tree.candidates():
        dependent, head = partners[one.dependent], partners[one.head]
        if one.way == enhancer.BASIC or dependent <= ROOT or head < ROOT or source.heads[dependent] == head:
            continue
        for at, relation in graph[dependent - 1]:
            if at == str(head):
                there = source.filling(enhancer.Candidate(dependent, head, one.way, ()))
                ours = {name: there[name] for name in ("{0}", "{1}") if name in there}
                here = {**tree.filling(one), **ours}
                found = enhancer.filled(enhancer.pattern_of(relation, there), here)
                yield one.dependent, one.head, found or relation.split(":")[0]
