"""The graph of a sentence pair without scores: variables, possible arcs, and the tables of its factors.

Variable 0 is always true: it stands for the link of the roots and for observations. Tables over arcs hold
the variable of each arc [head, dependent], NO_VARIABLE where the arc is impossible.

A quasi-synchronous factor concerns two links, that of a head and that of a dependent. It fires if both hold
and the two source words, and the two target words, are related as its family requires (FACTORS).

*Source*: thesis 4.7.1, 4.7.2; pruning as in 4.7.2.5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.factors.booleans import all_true, link, synch
from qsproj.bp.graph import FactorGroup
from qsproj.bp.links import NO_LINK, Table
from qsproj.bp.run import odds_of
from qsproj.conventions import Floats, Heads, Mask, Numbers
from qsproj.features.joint_templates import ALIGN_HMMS, ALIGN_ITG, FAMILIES
from qsproj.models.graph.graph_factors import FamilyFactors
from qsproj.models.joint.joint_options import MIN_PROBABILITY, MOST_ITG_WORDS, SYNCH
from qsproj.models.tree_decoder import TreeDecoder

NO_VARIABLE = NO_LINK
ALWAYS_TRUE = 0
UNKNOWN, FALSE_STATE, TRUE_STATE = -1, 0, 1  # known states of a variable

MAX_HEADS = 20  # heads kept for each word, at most: the most probable ones
# Second-order variables stand for pairs of arcs whose log-odds sum to more than this.
LEAST_LOG_ODDS = 0.0

# Of variables: UNKNOWN, FALSE_STATE or TRUE_STATE; of TAG variables the number of a tag.
States = NDArray[np.int8]
_NO_ROWS = np.zeros((0, 4), dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Grandparents or siblings of a side: the possible ones, and the pairs of arcs that make them."""

    possible: Mask  # bool[n+1, n+1]: grandparent and grandchild; or two siblings, in either order
    first: Table  # int32[P]: the words of each pair
    second: Table  # int32[P]
    arcs: Table  # int32[P, 2]: the variables of the two arcs


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One sentence of the pair."""

    arcs: Table  # int32[n+1, n+1]: the variable of each arc; ALWAYS_TRUE for the arcs of an observed tree
    trees: TreeDecoder | None  # the possible trees; None: the tree is observed
    grand: Relation
    siblings: Relation
    families: tuple[FamilyFactors, ...] = ()  # second-order, of the side's own parser; none if observed


def kept_arcs(marginals: Floats, *trees: Heads, least_probability: float = MIN_PROBABILITY) -> Mask:
    """Return bool[n+1, n+1]: each word's most probable heads by ``marginals``, and all arcs of some trees."""
    kept = marginals >= least_probability
    if len(marginals) > MAX_HEADS:
        kept &= marginals >= np.partition(marginals, -MAX_HEADS, axis=0)[-MAX_HEADS]
    for heads in trees:
        kept[heads[1:], np.arange(1, len(heads))] = True
    kept[:, 0] = False
    np.fill_diagonal(kept, False)
    return kept


def free_side(
    marginals: Floats, kept: Mask, first: int, trees: TreeDecoder, *, families: Sequence[FamilyFactors] = ()
) -> Side:
    """Return a side with unknown tree; the arcs in ``kept`` are numbered from ``first`` on."""
    heads, dependents = (ends.astype(np.int32) for ends in np.nonzero(kept))
    arcs = np.full(kept.shape, NO_VARIABLE, dtype=np.int32)
    variables = np.arange(first, first + len(heads), dtype=np.int32)
    arcs[heads, dependents] = variables
    log_odds = odds_of(marginals[heads, dependents])
    moved = tuple(family.numbered_from(first) for family in families)
    return Side(arcs, trees, *_relations(heads, dependents, variables, log_odds, len(arcs)), moved)


def observed_side(heads: Heads) -> Side:
    words = np.arange(1, len(heads), dtype=np.int32)
    arcs = np.full((len(heads), len(heads)), NO_VARIABLE, dtype=np.int32)
    arcs[heads[1:], words] = ALWAYS_TRUE
    certain = np.full(len(words), np.inf)
    true = np.full_like(words, ALWAYS_TRUE)
    return Side(arcs, None, *_relations(heads[1:], words, true, certain, len(heads)))


def _relations(
    heads: Table, dependents: Table, variables: Table, log_odds: Floats, size: int
) -> tuple[Relation, Relation]:
    """Return the grandparents and the siblings among pairs of arcs int32[E] that are likely together."""
    order = np.argsort(heads, kind="stable")
    ordered = heads[order]

    def pairs_with(wanted: Table) -> tuple[Table, Table]:
        """Return each arc with all arcs from its head in ``wanted``, in the order of arcs."""
        first, end = (np.searchsorted(ordered, wanted, side) for side in ("left", "right"))
        counts = end - first
        one = np.repeat(np.arange(len(wanted)), counts)
        other = order[np.arange(len(one)) - np.repeat(np.cumsum(counts) - end, counts)]
        with np.errstate(invalid="ignore"):
            # A certain and an impossible arc: NaN, which is not greater.
            likely = log_odds[one] + log_odds[other] > LEAST_LOG_ODDS
        return one[likely].astype(np.int32), other[likely].astype(np.int32)

    upper, lower = pairs_with(dependents)
    upper, lower = (ends[heads[upper] != dependents[lower]] for ends in (upper, lower))
    one, other = pairs_with(heads)
    one, other = (ends[dependents[one] < dependents[other]] for ends in (one, other))
    grand = _relation(heads[upper], dependents[lower], variables[upper], variables[lower], size)
    siblings = _relation(dependents[one], dependents[other], variables[one], variables[other], size)
    siblings.possible[dependents[other], dependents[one]] = True
    return grand, siblings


def _relation(first: Table, second: Table, one: Table, other: Table, size: int) -> Relation:
    possible = np.zeros((size, size), dtype=np.bool_)
    possible[first, second] = True
    return Relation(possible, first, second, np.stack([one, other], axis=1))


class Variables:
    """The variables of a pair's graph during its construction, ``count`` so far. Mutable."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._results = [np.zeros(0, dtype=np.int32)]
        self._pairs = [np.zeros((0, 2), dtype=np.int32)]

    def of_pairs(self, relation: Relation, first: Table, second: Table) -> Table:
        """Give each distinct pair of related words, int32[F] each, a variable tied to its arcs: int32[F]."""
        size = len(relation.possible)
        asked = np.unique(first * size + second)
        variables = np.full(size * size, NO_VARIABLE, dtype=np.int32)
        variables[asked] = np.arange(self.count, self.count + len(asked))
        self.count += len(asked)
        results = variables[relation.first * size + relation.second]
        wanted = results != NO_VARIABLE
        self._results.append(results[wanted])
        self._pairs.append(relation.arcs[wanted])
        return variables[first * size + second]

    def ties(self) -> tuple[Table, Table]:
        results, pairs = np.concatenate(self._results), np.concatenate(self._pairs)
        order = np.argsort(results, kind="stable")
        return results[order], pairs[order]


@dataclass(frozen=True, slots=True)
class NodeRelation:
    """One way in which two words of a side can be related.

    ``possible(side, words)``: which words int32[k] of k links may be so related, bool[k, k], [head,
    dependent]. ``ask(side, heads, dependents, variables)``: the variable that is true if so, int32[F].
    """

    possible: Callable[[Side, Table], Mask]
    ask: Callable[[Side, Table, Table, Variables], Table]


def _spread(possible: Mask, words: Table) -> Mask:
    return possible[words[:, None], words]


def _ask_relation(side: Side, relation: Relation, first: Table, second: Table, variables: Variables) -> Table:
    if side.trees is None:
        return np.full(len(first), ALWAYS_TRUE, dtype=np.int32)
    return variables.of_pairs(relation, first, second)


def _ask_siblings(side: Side, one: Table, other: Table, variables: Variables) -> Table:
    return _ask_relation(side, side.siblings, np.minimum(one, other), np.maximum(one, other), variables)


ARC = NodeRelation(
    lambda side, words: _spread(side.arcs != NO_VARIABLE, words),
    lambda side, heads, dependents, _: side.arcs[heads, dependents],
)
TURNED_ARC = NodeRelation(
    lambda side, words: _spread(side.arcs != NO_VARIABLE, words).T,
    lambda side, heads, dependents, _: side.arcs[dependents, heads],
)
SAME_WORD = NodeRelation(
    lambda _, words: words[:, None] == words,
    lambda _, heads, dependents, __: np.full(len(heads), ALWAYS_TRUE, dtype=np.int32),
)
GRANDPARENT = NodeRelation(
    lambda side, words: _spread(side.grand.possible, words),
    lambda side, heads, dependents, variables: _ask_relation(side, side.grand, heads, dependents, variables),
)
SIBLINGS = NodeRelation(lambda side, words: _spread(side.siblings.possible, words), _ask_siblings)


# The relations of the source words and of the target words, by name in FAMILIES, which model files hold.
FACTORS = {
    "MONO": (ARC, ARC),
    "SWAP": (TURNED_ARC, ARC),
    "SDOUBLE": (ARC, SAME_WORD),
    "TDOUBLE": (SAME_WORD, ARC),
    "SGRAND": (GRANDPARENT, ARC),
    "SSIB": (SIBLINGS, ARC),
    "TGRAND": (ARC, GRANDPARENT),
    "TSIB": (ARC, SIBLINGS),
}


@dataclass(frozen=True, slots=True, eq=False)
class TagVariables:
    """The TAG variables of the target words whose tags are uncertain, and their factors."""

    variables: Table  # int32[U]: of K states; the one after the last has one state, for tags that are certain
    possible: Mask  # bool[U, K]: the tags that each word may have, first that of the sentence
    arcs: Table  # int32[F]: variables of the arcs that have an end among these words
    heads: Table  # int32[F]: indices of their words among the U, or CERTAIN
    dependents: Table  # int32[F]
    links: Table  # int32[L]: variables of the candidate links of these words
    linked: Table  # int32[L]: indices of their words among the U


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JointStructure:
    """A joint graph without scores."""

    n_variables: int  # booleans, including the one that is always true; TAG variables come after them
    source: Side
    target: Side
    links: Table  # int32[k, 2]: candidate links, source and target word
    link_variables: Table  # int32[k]
    results: Table  # int32[P]: variables of grandparents and siblings, sorted, once for each of ``pairs``
    pairs: Table  # int32[P, 2]: variables of two arcs that make them true
    families: NDArray[np.int8]  # int8[F]: of each quasi-synchronous factor, the index in FAMILIES
    rows: Table  # int32[F, 4]: the booleans of each factor, padded with ALWAYS_TRUE
    words: Table  # int32[F, 4]: target head, target dependent, and their source words
    synchronous: bool = False
    align_hmms: tuple[str, ...] = ()
    align_itg: bool = False
    tags: TagVariables | None = None  # None: all are certain

    @property
    def states(self) -> Numbers:
        booleans = np.full(self.n_variables, 2, dtype=np.int32)
        if self.tags is None:
            return booleans
        words, n_tags = self.tags.possible.shape
        return np.concatenate([booleans, np.full(words, n_tags), [1]]).astype(np.int32)


def joint_structure(
    source: Side, target: Side, links: Table, n_variables: int, *, families: tuple[str, ...] = FAMILIES
) -> JointStructure:
    """Build the factors over candidate links int32[k, 2]; O(k^2)."""
    link_variables = np.arange(n_variables, n_variables + len(links), dtype=np.int32)
    variables = Variables(n_variables + len(links))
    sources, targets = np.concatenate([np.zeros((1, 2), dtype=np.int32), links]).T
    owners = np.concatenate([[ALWAYS_TRUE], link_variables]).astype(np.int32)
    numbers, words, rows = [np.zeros(0, dtype=np.int8)], [_NO_ROWS], [_NO_ROWS]
    for name in filter(FACTORS.__contains__, families):
        on_source, on_target = FACTORS[name]
        possible = on_source.possible(source, sources) & on_target.possible(target, targets)
        heads, dependents = np.nonzero(possible)
        ends = targets[heads], targets[dependents], sources[heads], sources[dependents]
        asked = on_source.ask(source, *ends[2:], variables), on_target.ask(target, *ends[:2], variables)
        numbers.append(np.full(len(heads), FAMILIES.index(name), dtype=np.int8))
        words.append(np.stack(ends, axis=1))
        rows.append(np.stack([owners[heads], owners[dependents], *asked], axis=1))
    results, pairs = variables.ties()
    return JointStructure(
        n_variables=variables.count,
        source=source,
        target=target,
        links=links,
        link_variables=link_variables,
        results=results,
        pairs=pairs,
        families=np.concatenate(numbers),
        rows=np.concatenate(rows).astype(np.int32),
        words=np.concatenate(words).astype(np.int32),
        synchronous=SYNCH in families,
        align_hmms=tuple(name for name in ALIGN_HMMS if name in families),
        align_itg=ALIGN_ITG in families and not beyond_itg(families, links),
    )


def beyond_itg(families: tuple[str, ...], links: Table) -> bool:
    """Return whether candidate links int32[k, 2] have too many words for the cubic sum of ALIGNITG."""
    m, n = (len(np.unique(words)) for words in links.T)
    return ALIGN_ITG in families and m * n > MOST_ITG_WORDS**2


def known_states(
    structure: JointStructure,
    target_heads: Heads | None = None,
    link_states: States | None = None,
    *,
    source_heads: Heads | None = None,
    target_tags: States | None = None,
) -> States:
    """Return the known states of the variables, int8[V]: UNKNOWN, FALSE_STATE or TRUE_STATE; or a tag.

    ``target_heads``, ``source_heads`` int32[n+1], int32[m+1] or None: observed trees, all of whose arcs must
    have variables (a word whose head was pruned away would have none, without a contradiction).
    ``link_states`` int8[k] or None. ``target_tags`` int8[U] or None: number of each word's tag in its row.
    """
    known = np.full(len(structure.states), UNKNOWN, dtype=np.int8)
    known[ALWAYS_TRUE] = TRUE_STATE
    if link_states is not None:
        known[structure.link_variables] = link_states
    if target_tags is not None and structure.tags is not None:
        known[structure.tags.variables] = target_tags
    for side, heads in ((structure.source, source_heads), (structure.target, target_heads)):
        if heads is not None and side.trees is not None:
            known[side.arcs[side.arcs != NO_VARIABLE]] = FALSE_STATE
            chosen = side.arcs[heads[1:], np.arange(1, len(heads))]
            known[chosen[chosen != NO_VARIABLE]] = TRUE_STATE
    decided = known[structure.pairs[:, 0]] != UNKNOWN
    known[structure.results[decided]] = FALSE_STATE
    both = (known[structure.pairs] == TRUE_STATE).all(axis=1)
    known[structure.results[both]] = TRUE_STATE
    return known


def free_rows(rows: Table, known: States) -> list[tuple[NDArray[np.int64], Table]]:
    """Return for d = 0..4 the factors int64[f] with d unknown booleans that can fire, and these [f, d]."""
    states = known[rows]
    free = states == UNKNOWN
    degrees = np.where((states == FALSE_STATE).any(axis=1), -1, free.sum(axis=1))
    chosen = [np.flatnonzero(degrees == degree) for degree in range(5)]
    return [(one, rows[one][free[one]].reshape(len(one), degree)) for degree, one in enumerate(chosen)]


def synchronous_groups(structure: JointStructure, known: States) -> list[FactorGroup]:
    """Return SYNCH, which excludes all but synchronous derivations (4.7.2.4), as groups of factors; O(k m n).

    Where dependents are linked, exactly two of these three are forbidden: the link of their heads, the source
    arc, the target arc. ``quadruples`` int32[F, 4]: these and the link of the dependents, ALWAYS_TRUE where
    one is known; ``triples`` int32[G, 3]: the rest, which exclude each other, where one of the four is false.
    """
    source, target = structure.source.arcs, structure.target.arcs
    links = np.full((len(source), len(target)), NO_VARIABLE, dtype=np.int32)
    of_source, of_target = structure.links.T
    links[0, 0] = ALWAYS_TRUE
    links[of_source, of_target] = structure.link_variables
    shape = (len(structure.links), *links.shape)
    arcs = source.T[of_source][:, :, None], target.T[of_target][:, None, :]
    variables = structure.link_variables[:, None, None], links, *arcs
    columns = [np.broadcast_to(column, shape) for column in variables]
    possible = np.stack([column != NO_VARIABLE for column in columns[1:]])
    # No word is its own head: the diagonal holds no arcs; false ones would only add factors.
    own_head = np.zeros(shape, dtype=np.bool_)
    k = np.arange(len(structure.links))
    own_head[k, of_source, :] = True
    own_head[k, :, of_target] = True
    count = np.where(own_head, 0, possible.sum(axis=0))
    quadruples = np.stack([column[count == 3] for column in columns], axis=1)
    two = count == 2
    others = np.stack([column[two] for column in columns[1:]], axis=1)
    remaining = others[possible[:, two].T].reshape(-1, 2)
    triples = np.concatenate([columns[0][two][:, None], remaining], axis=1)
    decided = np.flatnonzero(known[: structure.n_variables] != UNKNOWN)
    evidence = link(decided, np.where(known[decided] == TRUE_STATE, np.inf, -np.inf))
    return [evidence, synch(quadruples), all_true(triples, np.full(len(triples), -np.inf))]
