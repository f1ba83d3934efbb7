"""Training of the joint model: target trees observed, alignments (and source trees) hidden."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.run import Status
from qsproj.conventions import Floats, Heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Alignment, SentencePair
from qsproj.errors import UsageError, pluralise
from qsproj.features.joint_templates import ALIGN_HMMS, ALIGN_ITG, HASH_BITS
from qsproj.kernels.features.sparse_gradient import gather_rows
from qsproj.models.arc.arc_training import cross_fitted_relations
from qsproj.models.checkpoint import Checkpoint, learn_kept
from qsproj.models.joint import joint_graph as graphs
from qsproj.models.joint.joint_graph import LEARNED, JointBeliefs, JointGraph, JointScores
from qsproj.models.joint.joint_labeller import JointLabeller, known_relations, relation_senses
from qsproj.models.joint.joint_options import JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_structure import FALSE_STATE, NO_VARIABLE, TRUE_STATE, UNKNOWN, known_states
from qsproj.models.joint.joint_trees import first_order
from qsproj.models.joint.joint_weights import JointWeights, PreparedPair
from qsproj.models.joint.tag_choices import TagScores
from qsproj.models.packing import nested, unnested
from qsproj.training.loop import EpochRecord, ResumableTrainer
from qsproj.training.optimiser import AdaGrad, DenseAdaGrad
from qsproj.training.sense_mixture import SenseExample, train_senses

# The ends of a link at words that a factor links at most once.
_ENDS = {**dict(zip(ALIGN_HMMS, ((1,), (0,)), strict=True)), ALIGN_ITG: (0, 1)}


def observed_links(
    candidates: Alignment, hand: Alignment, families: tuple[str, ...] = ()
) -> NDArray[np.int8]:
    """Return the states of candidate links by a hand alignment, int8[k]: UNKNOWN, FALSE_STATE or TRUE_STATE.

    Possible links stay hidden, and several sure ones of a word that ``families`` allow one.
    """
    judged = dict(zip(map(tuple, hand.links.tolist()), hand.sure.tolist()))
    known = [judged.get(tuple(link)) for link in candidates.links.tolist()]
    by_judgement = {None: FALSE_STATE, True: TRUE_STATE, False: UNKNOWN}
    states = np.array([by_judgement[sure] for sure in known], dtype=np.int8)
    for family in families:
        sure = states == TRUE_STATE
        for end in _ENDS.get(family, ()):
            words = candidates.links[:, end]
            states[sure & (np.bincount(words[sure], minlength=words.max(initial=0) + 1)[words] > 1)] = UNKNOWN
    return states


@dataclass(frozen=True, slots=True)
class HandLinkCounts:
    """Pairs with a hand alignment, their sure hand links, and those ``missed`` among the candidates."""

    pairs: int
    sure: int
    missed: int

    def summary(self) -> str:
        missed = f"{self.missed:,} of {pluralise(self.sure, 'sure link')} not among the candidates"
        return f"hand alignments of {pluralise(self.pairs, 'pair')}; {missed}"


def count_hand_links(pairs: Iterable[SentencePair]) -> HandLinkCounts | None:
    """Count the sure hand links of some pairs, and those that are no candidates; None: there are none."""
    by_hand = sure = missed = 0
    for pair in pairs:
        if pair.hand is not None:
            links = set(map(tuple, pair.hand.links[pair.hand.sure].tolist()))
            by_hand = by_hand + 1
            sure = sure + len(links)
            missed += len(links - set(map(tuple, pair.alignment.links.tolist())))
    return HandLinkCounts(by_hand, sure, missed) if by_hand else None


# Pairs whose graphs are kept for later epochs: those of LinES take about 500 MB.
MOST_KEPT = 2500


@dataclass(frozen=True, slots=True, eq=False)
class JointExample:
    """A training pair.

    ``target_heads`` int32[n+1]: its target tree, all of whose arcs have variables. ``link_states`` int8[k] or
    None: from :func:`observed_links`. ``source_heads`` int32[m+1] or None: the source parser's own tree,
    where the source tree is inferred. ``target_tags`` int8[U] or None: the tag of each TAG variable.
    """

    pair: PreparedPair
    target_heads: Heads
    link_states: NDArray[np.int8] | None = None
    source_heads: Heads | None = None
    target_tags: NDArray[np.int8] | None = None

    def known(self) -> list[NDArray[np.int8]]:
        """Return int8[V] for each graph: nothing known; target and hand links; the source's tree, too."""
        structure = self.pair.structure
        given = (self.target_heads, self.link_states)
        seen = partial(known_states, structure, *given, target_tags=self.target_tags)
        trees = [] if self.source_heads is None else [seen(source_heads=self.source_heads)]
        return [known_states(structure), seen(), *trees]

    def graphs(self) -> list[JointGraph]:
        return [graphs.joint_graph(self.pair.structure, known) for known in self.known()]


# A gradient this small does not step the weights.
NEGLIGIBLE = 1e-4
# Step size of the target scale. Arc scores trained with a margin are overconfident: the scale has far to go
# (to 0.7 with 200 trees of LinES), and every pair changes it.
SCALE_RATE = 0.1


def convergence(statuses: Counter[Status]) -> str:
    runs = statuses.total()
    if not runs:
        return "nothing to infer"
    share = 100 * statuses[Status.CONVERGED] / runs
    return f"belief propagation converged in {share:.1f}% of {pluralise(runs, 'run')}"


def epoch_line(epoch: EpochRecord, statuses: Counter[Status]) -> str:
    return f"epoch {epoch.epoch}: loss {epoch.loss:.3f} nats a pair; {convergence(statuses)}"


class JointTrainer(ResumableTrainer[JointExample, JointWeights]):
    """Trainer of joint weights by AdaGrad, one sentence pair a step. Mutable; final.

    The gradient is the factors' expected counts with the target tree observed minus those without it (thesis
    4.7.3, 2.7.1). That alone does not constrain the source tree: it becomes whatever makes target trees
    likely. Beyond the thesis, the objective is therefore::

        log p(target tree | words) + source_evidence * log p(source parser's tree | target tree, words)

    Hand alignments are observed together with the target tree. ``statuses``: of the belief propagation runs
    of each epoch; the last is the current one.
    """

    def __init__(self, options: JointTrainingOptions, start: JointWeights | None = None) -> None:
        if not 0.0 <= options.source_evidence <= 1.0:
            raise UsageError(f"source_evidence is {options.source_evidence}, expected 0 to 1")
        self.options = options
        self._graphs = lru_cache(MOST_KEPT)(JointExample.graphs)
        start = start or JointWeights.untrained()
        self.weights = own = replace(start, weights=start.weights.copy())
        # A bucket whose gradients cancel may be listed again.
        capacity = 4 << HASH_BITS
        self._descent = AdaGrad(own.weights, rate=options.rate, l2=options.l2, capacity=capacity)
        self._scale = DenseAdaGrad(np.array([own.target_scale]), rate=SCALE_RATE)
        self._tag_scales = DenseAdaGrad(np.array(own.tag_scales), rate=SCALE_RATE)
        self._descents: dict[str, AdaGrad | DenseAdaGrad] = {"joint_": self._descent}
        self._descents |= {"scale_": self._scale, "tags_": self._tag_scales}
        self.statuses: list[Counter[Status]] = [Counter()]

    def step(self, example: JointExample) -> float:
        free, clamped = self.infer(example)
        if Status.CONTRADICTION not in (free.status, clamped.status):
            self.learn(example.pair, free, clamped)
        words = np.arange(1, len(example.target_heads))
        chances = free.target[example.target_heads[1:], words]
        return float(-np.log(np.maximum(chances, 1e-12)).sum())

    def infer(self, example: JointExample) -> tuple[JointBeliefs, JointBeliefs]:
        scores = self.weights.scores(example.pair)
        unknown, *observed = self._graphs(example)
        free = self._infer(unknown, scores)
        clamped = self._infer(observed[0], scores)
        share = self.options.source_evidence
        if share and len(observed) > 1 and clamped.status is not Status.CONTRADICTION:
            # The source parser's tree is partial evidence beside the target tree.
            clamped = graphs.mixed(clamped, self._infer(observed[1], scores), share)
        return free, clamped

    def _infer(self, graph: JointGraph, scores: JointScores) -> JointBeliefs:
        beliefs = graphs.pass_messages(graph, scores, self.options.propagation)
        self.statuses[-1][beliefs.status] += 1
        return beliefs

    def learn(self, pair: PreparedPair, free: JointBeliefs, clamped: JointBeliefs) -> None:
        slopes_of = {name: (getattr(free, name) - getattr(clamped, name)).reshape(-1) for name in LEARNED}
        parts = [(pair.buckets[name], slopes) for name, slopes in slopes_of.items()]
        if pair.tags is not None and free.tags is not None and clamped.tags is not None:
            tags = TagScores(*map(np.subtract, free.tags, clamped.tags))
            parts.append((pair.tags.buckets, tags.links.reshape(-1)))
            self._tag_scales.step(pair.tags.slopes(tags) / len(pair.target))
        for buckets, slopes in parts:
            slopes[np.abs(slopes) < NEGLIGIBLE] = 0.0
            self._descent.gather(gather_rows, buckets, slopes)
        self._descent.step()
        arcs, kept = free.target - clamped.target, pair.structure.target.arcs != NO_VARIABLE
        # Not by BLAS, whose order of summation depends on the processor.
        slope = float((arcs[kept] * pair.target[kept]).sum())
        families = zip(free.target_factors, clamped.target_factors, pair.target_factors, strict=False)
        slope += float(sum(((expected - seen) * scores).sum() for expected, seen, scores in families))
        self._scale.step(np.array([slope / len(pair.target)]))
        self.weights = self._weights(self.weights.weights, self._scale.weights, self._tag_scales.weights)

    @staticmethod
    def _weights(weights: Floats, scale: Floats, tag_scales: Floats) -> JointWeights:
        return JointWeights(weights, float(scale[0]), tag_scales=tuple(tag_scales.tolist()))

    def regularise(self) -> None:
        self._descent.regularise()
        self.statuses.append(Counter())

    def averaged(self) -> JointWeights:
        return self._weights(self._descent.mean(), self._scale.mean(), self._tag_scales.mean())

    def state(self) -> dict[str, NDArray[Any]]:
        ends = [[statuses[status] for status in Status] for statuses in self.statuses]
        arrays = {"statuses": np.array(ends)}
        for prefix, descent in self._descents.items():
            arrays |= nested(prefix, descent.state())
        return arrays

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        for prefix, descent in self._descents.items():
            descent.restore(unnested(prefix, state))
        self.weights = self._weights(self.weights.weights, self._scale.weights, self._tag_scales.weights)
        ends = [zip(Status, row, strict=True) for row in state["statuses"].tolist()]
        self.statuses = [+Counter(dict(row)) for row in ends]


def train_joint_weights(
    examples: Sequence[JointExample],
    *,
    rng: np.random.Generator,
    options: JointTrainingOptions,
    start: JointWeights | None = None,
    stages: Checkpoint | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> tuple[JointWeights, list[EpochRecord], list[Counter[Status]]]:
    trainer = JointTrainer(options, start)

    def report(record: EpochRecord) -> None:
        notify(epoch_line(record, trainer.statuses[record.epoch - 1]))

    weights, records = learn_kept(
        trainer,
        examples,
        epochs=options.epochs,
        rng=rng,
        description="training jointly",
        stages=stages,
        notify=report,
    )
    return weights, records, trainer.statuses[: len(records)]


def with_joint_labeller(
    parser: JointParser,
    pairs: Sequence[SentencePair],
    examples: Sequence[JointExample],
    *,
    rng: np.random.Generator,
    unseen: bool,
) -> JointParser:
    """Return a joint parser that predicts target relations with those of the source as evidence.

    Links are inferred given the target's trees, by the trained joint weights; the target's labeller counts
    as much as for a sentence that it has not seen.
    """
    source, target = first_order(parser.source).labeller, first_order(parser.target).labeller
    if source is None or target is None:
        return parser
    given = (example.pair.source_relations or () for example in examples)
    source_relations = set(source.relations).union(*given) - {UNSPECIFIED}
    start = JointLabeller.untrained(tuple(sorted(source_relations)), target.relations)
    sentences = [pair.target for pair in pairs]
    if unseen:
        scores = [target.scores(target.encode(one), one.heads) for one in sentences]
    else:
        scores = cross_fitted_relations(sentences, target, rng=rng)
    seen = []
    for pair, example, own in zip(pairs, examples, scores, strict=True):
        heads = example.target_heads
        beliefs = parser.infer(example.pair, heads, target_tags=example.target_tags)
        if beliefs.status is not Status.CONTRADICTION:
            senses = relation_senses(start, parser.source, pair, example.pair, beliefs, heads)
            seen.append(SenseExample(senses, own, known_relations(start.relations, pair.target, heads)))
    table = train_senses(start.table, seen, rng=rng, description="training relations")
    return replace(parser, labeller=replace(start, table=table))
