"""What the parser of one side says of a sentence's trees: which arcs may be, and how they score.

A parser of the first order scores arcs. One of the second order brings its factors, too (GRAND, CHILDSEQ and
VALENCE, as it was trained with them): they join the pair's graph as they are, with the scores that they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qsproj.conventions import Heads, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.errors import SentenceError, unknown_name
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.graph.graph_factors import FamilyFactors, sentence_graph
from qsproj.models.graph.graph_inference import candidate_arcs
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.joint.joint_graph import FamilyScores
from qsproj.models.joint.joint_options import MIN_PROBABILITY, SOURCE_TREES
from qsproj.models.joint.joint_sides import Pairs, Side, free_side, kept_arcs
from qsproj.models.joint.tag_choices import TagChoices, TaggedArcs, tagged_arcs
from qsproj.models.tree_inference import TreeInference, arcs_in

TreeParser = ArcParser | GraphParser


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeScores:
    """What a parser says of the trees of a sentence.

    ``marginals`` float64[n+1, n+1]: probability of each arc by the first order, which prunes.
    ``kept`` bool[n+1, n+1]: the arcs that are left.
    ``links`` float64[n+1, n+1]: score of each arc beside the factors, natural log.
    ``families``: second-order factors over the arcs that are left; none from a parser of the first order.
    ``factors`` tuple of float64[F]: scores of each family, natural log.
    ``tagged``: what the parser says of arcs under other tags, where some words have a choice.
    """

    marginals: Scores
    kept: Pairs
    links: Scores
    families: tuple[FamilyFactors, ...] = ()
    factors: FamilyScores = ()
    tagged: TaggedArcs | None = None

    def side(self, first_variable: int) -> Side:
        """Return the free side of a pair's graph, arcs numbered from ``first_variable`` on."""
        return free_side(self.marginals, self.kept, first_variable, families=self.families)

    def with_tags(self, scorer: ArcScorer, sentence: Sentence, choices: TagChoices | None) -> TreeScores:
        """Return them with scores of arcs under the tags that words may choose, by the scorer of links."""
        if choices is None:
            return self
        return replace(self, tagged=tagged_arcs(scorer, sentence, choices, self.kept))


def tree_scores(
    parser: TreeParser,
    sentence: Sentence,
    *,
    required: Heads | None = None,
    least_probability: float = MIN_PROBABILITY,
    choices: TagChoices | None = None,
) -> TreeScores:
    """Ask a parser about a sentence.

    ``required`` int32[n+1] or None: a tree that must not be pruned away, as the best one never is.

    A sentence with more second-order factors than its parser takes gets the scores of the first order.
    """
    if choices is not None:
        found = tree_scores(parser, sentence, required=required, least_probability=least_probability)
        scorer = first_order(parser).scorer
        if isinstance(parser, GraphParser) and found.families:
            scorer = replace(scorer, weights=parser.links.weights)
        return found.with_tags(scorer, sentence, choices)
    if isinstance(parser, ArcParser):
        scores = parser.scores(sentence)
        return first_order_scores(
            scores, parser.inference, required=required, least_probability=least_probability
        )
    base, options = parser.base, parser.options
    encoded = base.encode(sentence)
    features = base.scorer.features(encoded)
    scores = base.scorer.scores(features)
    marginals = base.inference.infer(scores)[1]
    kept = candidate_arcs(marginals, base.inference, threshold=options.threshold)
    if required is not None:
        kept |= arcs_in(required)
    graph = sentence_graph(kept, base.inference, families=options.families_for(base.inference))
    if graph.n_factors > options.max_factors:
        return first_order_scores(
            scores, base.inference, required=required, least_probability=least_probability
        )
    return TreeScores(
        marginals=marginals,
        kept=graph.links >= 0,
        links=parser.links.scores(features),
        families=tuple(family.numbered_from(0) for family in graph.families),
        factors=tuple(parser.factors.scores(parser.factors.features(encoded, graph.families))),
    )


def first_order_scores(
    scores: Scores,
    inference: TreeInference,
    *,
    required: Heads | None = None,
    least_probability: float = MIN_PROBABILITY,
) -> TreeScores:
    """Return what arc scores float64[n+1, n+1], natural log, alone say; other parameters as above."""
    marginals = inference.infer(scores)[1]
    trees = [inference.best(marginals)] if required is None else [inference.best(marginals), required]
    kept = kept_arcs(marginals, *trees, least_probability=least_probability)
    return TreeScores(marginals=marginals, kept=kept, links=scores)


def first_order(parser: TreeParser) -> ArcParser:
    """Return the parser's first order, which labels, too."""
    return parser if isinstance(parser, ArcParser) else parser.base


def heads_alone(parser: TreeParser, sentence: Sentence) -> Heads:
    """Return the tree that a parser gives a sentence by itself, int32[n+1]: of most expected right heads."""
    if isinstance(parser, GraphParser):
        believed = parser.arc_beliefs(sentence)
        if believed.order == 2:
            return parser.inference.most_right(believed.probabilities)
        parser = parser.base
    return parser.heads(parser.scores(sentence))


def relation_chances(
    parser: TreeParser, sentence: Sentence, heads: Heads, *, names: Sequence[str], given: Sequence[str] | None
) -> Scores:
    """Return the probability of each of some relations for each word of a tree, float64[m+1, R].

    ``heads`` int32[m+1]: the tree.
    """
    labeller = first_order(parser).labeller
    # Who asks has seen to it.
    assert labeller is not None
    chances = np.zeros((len(heads), len(names)))
    numbers = {name: number for number, name in enumerate(names)}
    shared = [(number, numbers[name]) for number, name in enumerate(labeller.relations) if name in numbers]
    columns, places = np.array(shared, dtype=np.int64).reshape(-1, 2).T
    chances[:, places] = labeller.chances(labeller.encode(sentence), heads)[:, columns]
    for word, relation in enumerate(given or (), start=1):
        if relation != UNSPECIFIED:
            chances[word] = 0.0
            if relation in numbers:
                chances[word, numbers[relation]] = 1.0
    return chances


def given_source_heads(source_tree: str, parser: TreeParser, sentence: Sentence) -> Heads | None:
    """Return the source tree that is to be taken as given; None where it is inferred."""
    if source_tree == "joint":
        return None
    if source_tree == "best":
        return heads_alone(parser, sentence)
    if source_tree != "observed":
        raise unknown_name("source tree", source_tree, list(SOURCE_TREES))
    missing = np.flatnonzero(sentence.heads[1:] < 0)
    if missing.size:
        name = sentence.sent_id or "(without sent_id)"
        raise SentenceError(
            found=f"no head at word {missing[0] + 1} of source sentence {name}",
            expected="a whole tree",
            remedy="parse the source first, or choose --source-tree joint or best",
            word=int(missing[0]) + 1,
        )
    return sentence.heads
