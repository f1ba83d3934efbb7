"""Train a joint parser on pairs: target trees are observed, alignments (and source trees) hidden."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.run import Status
from qsproj.conventions import MAX_WORDS, Floats, Heads, Rng, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Alignment, SentencePair, make_alignment
from qsproj.errors import NothingToLearnError, listed_reasons, pluralise
from qsproj.features.joint_templates import ALIGN_HMMS, ALIGN_ITG, HASH_BITS
from qsproj.kernels.features.sparse_gradient import gather_rows
from qsproj.models.arc.arc_training import cross_fitted_relations
from qsproj.models.checkpoint import Checkpoint, learn_kept
from qsproj.models.joint import joint_graph, joint_structure, joint_trees
from qsproj.models.joint.joint_graph import JointBeliefs, JointGraph, JointWeights, PreparedPair
from qsproj.models.joint.joint_labeller import JointLabeller, known_relations
from qsproj.models.joint.joint_options import SYNCH, TAG_THRESHOLD, BiparseOptions, JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_structure import FALSE_STATE, TRUE_STATE, UNKNOWN, States, known_states
from qsproj.models.joint.tag_choices import GIVEN, TagChoices, TagScores, TargetTags, learned_tags
from qsproj.models.packing import nested, unnested
from qsproj.models.tree_decoder import reachable
from qsproj.progress import notice
from qsproj.training.choices import SenseExample, train_senses
from qsproj.training.loop import EpochRecord, ResumableTrainer
from qsproj.training.optimiser import AdaGrad, DenseAdaGrad

# The ends of a link at words that a factor links at most once.
_ENDS = {**dict(zip(ALIGN_HMMS, ((1,), (0,)), strict=True)), ALIGN_ITG: (0, 1)}
# Pairs whose graphs are kept for later epochs: those of LinES take about 500 MB.
MOST_KEPT = 2500
NEGLIGIBLE = 1e-4  # a gradient this small does not step the weights
# Step size of the target scale: scores trained with a margin are overconfident (0.7 with 200 trees of LinES).
SCALE_RATE = 0.1
NO_LINK = "no candidate link"
_MORE_EPOCHS = 3


def observed_links(candidates: Alignment, hand: Alignment, families: tuple[str, ...] = ()) -> States:
    """Return the states of candidate links in a hand alignment, int8[k]: UNKNOWN, FALSE_STATE or TRUE_STATE.

    Possible links stay hidden, and so do several sure links of a word if ``families`` allow only one.
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
    """Count the sure hand links of pairs, and those missing from the candidates; None without hand links."""
    by_hand = [(pair.hand, pair.alignment) for pair in pairs if pair.hand is not None]
    sure = [set(map(tuple, hand.links[hand.sure].tolist())) for hand, _ in by_hand]
    candidates = (set(map(tuple, alignment.links.tolist())) for _, alignment in by_hand)
    missed = sum(len(own - of_pair) for own, of_pair in zip(sure, candidates, strict=True))
    return HandLinkCounts(len(by_hand), sum(map(len, sure)), missed) if by_hand else None


@dataclass(frozen=True, slots=True, eq=False)
class JointExample:
    """A training pair."""

    pair: PreparedPair
    target_heads: Heads  # int32[n+1]: its target tree, all of whose arcs have variables
    link_states: States | None = None  # int8[k]: from :func:`observed_links`
    source_heads: Heads | None = None  # int32[m+1]: the source parser's tree, where the source's is inferred
    target_tags: States | None = None  # int8[U]: the tag of each TAG variable

    def graphs(self) -> list[JointGraph]:
        """Return the graphs given nothing; given target and hand links; given the source's tree, too."""
        unknown = partial(known_states, self.pair.structure)
        seen = partial(unknown, self.target_heads, self.link_states, target_tags=self.target_tags)
        trees = [] if self.source_heads is None else [seen(source_heads=self.source_heads)]
        known = [unknown(), seen(), *trees]
        return [joint_graph.joint_graph(self.pair.structure, states) for states in known]


def convergence(statuses: Counter[Status]) -> str:
    runs = statuses.total()
    if not runs:
        return "nothing to infer"
    share = 100 * statuses[Status.CONVERGED] / runs
    return f"belief propagation converged in {share:.1f}% of {pluralise(runs, 'run')}"


def epoch_line(epoch: EpochRecord, statuses: Counter[Status]) -> str:
    return f"epoch {epoch.epoch}: target heads {epoch.loss:.3f} nats a pair; {convergence(statuses)}"


class JointTrainer(ResumableTrainer[JointExample, JointWeights]):
    """Trainer of joint weights by AdaGrad, one sentence pair a step. Mutable; final.

    The gradient is the factors' expected counts with the target tree observed minus those without it (thesis
    4.7.3, 2.7.1). That alone does not constrain the source tree. Beyond the thesis, the objective is::

        log p(target tree | words) + source_evidence * log p(source parser's tree | target tree, words)

    Hand alignments are observed with the target tree. ``statuses``: of all runs of each epoch so far.
    """

    def __init__(self, options: JointTrainingOptions, start: JointWeights | None = None) -> None:
        self.options = options
        self._graphs = lru_cache(MOST_KEPT)(JointExample.graphs)
        start = start or JointWeights.untrained()
        self.weights = own = replace(start, weights=start.weights.copy())
        # A bucket whose gradients cancel may be listed again.
        self._descent = AdaGrad(own.weights, rate=options.rate, l2=options.l2, capacity=4 << HASH_BITS)
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
        return float(-np.log(np.maximum(free.target[example.target_heads[1:], words], 1e-12)).sum())

    def infer(self, example: JointExample) -> tuple[JointBeliefs, JointBeliefs]:
        scores = self.weights.scores(example.pair)
        unknown, *observed = self._graphs(example)
        free = self._infer(unknown, scores)
        clamped = self._infer(observed[0], scores)
        share = self.options.source_evidence
        if share and len(observed) > 1 and clamped.status is not Status.CONTRADICTION:
            # The source parser's tree is partial evidence beside the target tree.
            clamped = joint_graph.interpolated(clamped, self._infer(observed[1], scores), share)
        return free, clamped

    def _infer(self, graph: JointGraph, scores: joint_graph.JointScores) -> JointBeliefs:
        beliefs = joint_graph.pass_messages(graph, scores, self.options.propagation)
        self.statuses[-1][beliefs.status] += 1
        return beliefs

    def learn(self, pair: PreparedPair, free: JointBeliefs, clamped: JointBeliefs) -> None:
        slopes_of = {name: getattr(free, name) - getattr(clamped, name) for name in joint_graph.LEARNED}
        parts = [(pair.buckets[name], slopes.reshape(-1)) for name, slopes in slopes_of.items()]
        if pair.tags is not None and free.tags is not None and clamped.tags is not None:
            tags = TagScores(*map(np.subtract, free.tags, clamped.tags))
            parts.append((pair.tags.buckets, tags.links.reshape(-1)))
            self._tag_scales.step(pair.tags.slopes(tags) / len(pair.target))
        for buckets, slopes in parts:
            slopes[np.abs(slopes) < NEGLIGIBLE] = 0.0
            self._descent.gather(gather_rows, buckets, slopes)
        self._descent.step()
        arcs, kept = free.target - clamped.target, pair.structure.target.arcs != joint_structure.NO_VARIABLE
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
    rng: Rng,
    options: JointTrainingOptions,
    start: JointWeights | None = None,
    stages: Checkpoint | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> tuple[JointWeights, list[EpochRecord], list[Counter[Status]]]:
    trainer = JointTrainer(options, start)
    weights, records = learn_kept(
        trainer,
        examples,
        epochs=options.epochs,
        rng=rng,
        stages=stages,
        notify=lambda record: notify(epoch_line(record, trainer.statuses[record.epoch - 1])),
    )
    return weights, records, trainer.statuses[: len(records)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointData:
    """Inputs of joint training, see :func:`prepare`."""

    options: BiparseOptions
    parser: JointParser  # untrained
    pairs: Sequence[SentencePair]
    target: joint_trees.TrainedTarget  # scores of the pairs' targets
    tags: TargetTags
    skipped: dict[str, int]  # other pairs, by reason
    stages: Checkpoint | None


def prepare(
    pairs: Iterable[SentencePair],
    source: joint_trees.TreeParser,
    *,
    rng: Rng,
    options: BiparseOptions,
    target: joint_trees.TrainedTarget | joint_trees.TreeParser | None = None,
    checkpoint: Checkpoint | None = None,
) -> JointData:
    usable, skipped = usable_pairs(pairs)
    if len(usable) < 2:
        found = f"{pluralise(len(usable), 'pair')} to learn from"
        expected = "two or more with whole target trees and candidate links"
        raise NothingToLearnError(f"found {found}, expected {expected}; left out: {listed_reasons(skipped)}")
    tags, training, shape = GIVEN, options.target_training, options.joint
    if options.tags != "given":
        if options.tags == "joint":
            shape = replace(shape, tag_threshold=shape.tag_threshold or TAG_THRESHOLD)
        tags, usable = learned_tags(usable, rng=rng, threshold=shape.tag_threshold)
        # Words seen only by the tagger have no other features.
        training = replace(training, template_set=training.template_set or "words")
    own_options = replace(options, joint=shape, target_training=training)
    given = None if isinstance(target, joint_trees.TrainedTarget) else target
    stages = None
    if checkpoint is not None:
        true = [replace(pair, target=own) for pair, own in zip(usable, tags.true or (), strict=False)]
        parsers = [source] if given is None else [source, given]
        stages = joint_trees.kept_stages(checkpoint, [*usable, *true], parsers, rng=rng, options=options)
    if given is not None:
        target = joint_trees.given_target(usable, given, least_probability=shape.least_probability, tags=tags)
    elif not isinstance(target, joint_trees.TrainedTarget):
        target = joint_trees.train_target(usable, rng=rng, options=own_options, stages=stages, tags=tags)
    weights = JointWeights.untrained()
    parser = JointParser(
        source=source, target=target.parser, weights=weights, options=shape, tagger=tags.tagger
    )
    return JointData(
        options=options, parser=parser, pairs=usable, target=target, tags=tags, skipped=skipped, stages=stages
    )


def fit(data: JointData, *, rng: Rng) -> tuple[JointParser, list[EpochRecord], list[Counter[Status]]]:
    """Train joint weights, and relations as chosen; also return the records and statuses of each epoch."""
    tags, alike = data.tags, [None] * len(data.pairs)
    rows = zip(data.pairs, data.target.scores, tags.choices or alike, tags.states or alike, strict=True)
    examples = [joint_example(data.parser, *row) for row in rows]
    weights, records, statuses = train_joint_weights(
        examples, rng=rng, options=data.options.training, stages=data.stages, notify=notice
    )
    trained = replace(data.parser, weights=weights, training=data.options.training)
    if data.options.labels == "joint":
        trained = with_joint_labeller(trained, data, examples, rng=rng)
    return trained, records, statuses


def with_joint_labeller(
    parser: JointParser, data: JointData, examples: Sequence[JointExample], *, rng: Rng
) -> JointParser:
    """Train a labeller of target relations that uses those of the source as evidence; return the parser.

    Links are inferred given the target's trees; scores of the target's own labeller are cross-fitted.
    """
    source, target = (joint_trees.first_order(one).labeller for one in (parser.source, parser.target))
    if source is None or target is None:
        return parser
    given = (example.pair.source_relations or () for example in examples)
    source_relations = set(source.relations).union(*given) - {UNSPECIFIED}
    start = JointLabeller.untrained(tuple(sorted(source_relations)), target.relations)
    sentences = [pair.target for pair in data.pairs]
    if data.target.unseen:
        scores = [target.scores(target.encode(one), one.heads) for one in sentences]
    else:
        scores = cross_fitted_relations(sentences, target, rng=rng)
    seen = []
    for pair, example, own in zip(data.pairs, examples, scores, strict=True):
        heads = example.target_heads
        beliefs = parser.infer(example.pair, heads, target_tags=example.target_tags)
        if beliefs.status is not Status.CONTRADICTION:
            senses = start.of_pair(parser.source, pair, example.pair, beliefs, heads)
            seen.append(SenseExample(senses, own, known_relations(start.relations, pair.target, heads)))
    table = train_senses(start.table, seen, rng=rng, description="training relations")
    return replace(parser, labeller=replace(start, table=table))


def train_on_more_pairs(parser: JointParser, pairs: Iterable[SentencePair], *, rng: Rng) -> JointParser:
    """Continue the training of the joint weights on more pairs; both monolingual parsers stay unchanged.

    The target parser must not be trained on their trees. Hand links become observed candidates.
    """
    usable, skipped = usable_pairs(map(_with_hand_links, pairs))
    if not usable:
        raise NothingToLearnError(f"found no pair to learn from; left out: {listed_reasons(skipped)}")
    if parser.options.families == (SYNCH,):
        return parser
    least = parser.options.least_probability
    target = joint_trees.given_target(usable, parser.target, least_probability=least)
    examples = list(map(partial(joint_example, parser), usable, target.scores))
    options = replace(parser.training or JointTrainingOptions(), epochs=_MORE_EPOCHS, l2=0.0)
    weights, *_ = train_joint_weights(examples, rng=rng, options=options, start=parser.weights)
    return replace(parser, weights=weights)


def _with_hand_links(pair: SentencePair) -> SentencePair:
    if pair.hand is None:
        return pair
    given, hand = pair.alignment, pair.hand
    links = np.concatenate([given.links, hand.links])
    weights = None
    if given.weights is not None:
        least = given.weights.min(initial=0.5)
        weights = np.concatenate([given.weights, np.full(len(hand.links), least)])
    return replace(pair, alignment=make_alignment(given.n_source, given.n_target, links, weights=weights))


def joint_example(
    parser: JointParser,
    pair: SentencePair,
    scores: joint_trees.TreeScores,
    choices: TagChoices | None = None,
    target_tags: States | None = None,
) -> JointExample:
    heads = reachable(pair.target.heads, parser.target.inference)
    prepared = parser.prepare(pair, target_scores=scores, choices=choices)
    states = source_heads = None
    if pair.hand is not None:
        states = observed_links(pair.alignment, pair.hand, parser.options.families)
    if prepared.structure.source.trees is not None:
        source_heads = joint_trees.monolingual_heads(parser.source, pair.source)
    return JointExample(prepared, heads, states, source_heads, target_tags)


def usable_pairs(
    pairs: Iterable[SentencePair], *, with_trees: bool = True
) -> tuple[list[SentencePair], dict[str, int]]:
    usable: list[SentencePair] = []
    skipped: Counter[str] = Counter()
    for pair in pairs:
        if max(len(pair.source), len(pair.target)) > MAX_WORDS:
            skipped[f"a side of more than {MAX_WORDS} words"] += 1
        elif with_trees and not is_whole(pair.target.heads):
            skipped["no whole target tree"] += 1
        elif len(pair.alignment.links):
            usable.append(pair)
        else:
            skipped[NO_LINK] += 1
    for side in ("source", "target"):
        if usable and all(set(getattr(pair, side).upos) == {UNSPECIFIED} for pair in usable):
            raise NothingToLearnError(f"no {side} word has a UPOS tag; tag the {side} first (qsproj tag)")
    return usable, dict(skipped)
