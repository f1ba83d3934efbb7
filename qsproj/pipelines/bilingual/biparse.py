"""Bilingual parsing from end to end: pairs in; a joint model, or two trees and an alignment, out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.run import Status
from qsproj.conventions import MAX_WORDS, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import NothingToLearnError, UsageError, counted, listed_reasons
from qsproj.features.joint_templates import count_dictionary
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.graph.graph_parser import GraphParser
from qsproj.models.joint import joint_options, joint_training, joint_trees
from qsproj.models.joint.joint_parser import JointParser, ParsedPair, synchronous_parser
from qsproj.models.joint.joint_structure import beyond_itg
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.models.joint.tag_choices import GIVEN, TagChoices, learned_tags
from qsproj.models.storage import load_model_of
from qsproj.models.tree_inference import reachable
from qsproj.parallel import THIS_PROCESS, Workers, blocks_of
from qsproj.pipelines.streams import by_blocks
from qsproj.progress import notice
from qsproj.training.loop import EpochRecord

NO_LINK = "no candidate link"


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTrainingReport:
    """Report of training."""

    pairs: int  # that were learned from
    skipped: dict[str, int]  # pairs that were left out, by reason
    # of the joint weights; loss is minus the log-belief of the true arcs, in nats a pair
    epochs: tuple[EpochRecord, ...] = ()
    by_epoch: tuple[Counter[Status], ...] = ()  # how runs of belief propagation ended, free and clamped
    hand: joint_training.HandLinkCounts | None = None

    @property
    def statuses(self) -> Counter[Status]:
        return sum(self.by_epoch, Counter())

    def summary(self) -> str:
        return (
            f"trained on {counted(self.pairs, 'pair')}; {joint_training.convergence(self.statuses)}; "
            f"left out: {listed_reasons(self.skipped)}"
            + (f"; {self.hand.summary()}" if self.hand is not None else "")
        )


def tell_without_itg(families: tuple[str, ...], pairs: Iterable[SentencePair]) -> None:
    """Tell how many of some pairs have too many words for ALIGNITG, where ``families`` have it."""
    without = sum(beyond_itg(families, pair.alignment.links) for pair in pairs)
    if without:
        notice(itg_line(without))


def itg_line(without: int) -> str:
    limit = f"more than {joint_options.MOST_ITG_WORDS} words a side have candidate links"
    return f"{counted(without, 'pair')} without ITG: {limit}"


@dataclass(slots=True)
class ParsingCounts:
    """Counts of the pairs of a parsed bitext; mutable."""

    statuses: Counter[Status] = field(default_factory=Counter)  # how runs of belief propagation ended
    without_links: int = 0  # pairs without a candidate link, parsed alone
    contradictions: int = 0  # pairs whose messages contradict each other, parsed alone
    without_itg: int = 0  # pairs of too many words for ALIGNITG

    def add(self, parsed: ParsedPair) -> None:
        self.without_itg += parsed.without_itg
        if parsed.status is None:
            self.without_links += 1
        else:
            self.statuses[parsed.status] += 1
            self.contradictions += parsed.alone

    def summary(self) -> str:
        reasons = {NO_LINK: self.without_links, "contradicting factors": self.contradictions}
        alone = {reason: count for reason, count in reasons.items() if count}
        pairs = self.statuses.total() + self.without_links
        return (
            f"{counted(pairs, 'pair')}; {joint_training.convergence(self.statuses)}; "
            f"parsed alone: {listed_reasons(alone)}"
            + (f"; {itg_line(self.without_itg)}" if self.without_itg else "")
        )


def train_joint_parser(
    pairs: Iterable[SentencePair],
    source_parser: joint_trees.TreeParser,
    *,
    rng: np.random.Generator,
    options: joint_options.BiparseOptions | None = None,
    target: joint_trees.TrainedTarget | joint_trees.TreeParser | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[JointParser, JointTrainingReport]:
    """Train a joint parser on pairs whose target sides have trees; pairs without a whole one are counted.

    Joint weights are learned beside the scores of target parsers that have not seen the pair at hand. The
    thesis learns both together (``target_weights="joint"``); then the target's lexical features soon explain
    its own training trees. With SYNCH for a family, only the target parser is learned. Links by hand are
    observed; other links are hidden. ``target`` may be what
    :func:`~qsproj.models.joint.joint_trees.train_target` made of these pairs, or a parser that has not seen
    their trees. A ``checkpoint`` keeps what is done, to go on from.
    """
    options = options or joint_options.BiparseOptions()
    usable, skipped = usable_pairs(pairs)
    if len(usable) < 2:
        raise NothingToLearnError(
            f"found {counted(len(usable), 'pair')} to learn from, expected two or more with whole target "
            f"trees and candidate links; left out: {listed_reasons(skipped)}"
        )
    tell_without_itg(options.joint.families, usable)
    tags, target_training, shape = GIVEN, options.target_training, options.joint
    if options.tags != "given":
        if options.tags == "joint":
            shape = replace(shape, tag_threshold=shape.tag_threshold or joint_options.TAG_THRESHOLD)
        tags, usable = learned_tags(usable, rng=rng, threshold=shape.tag_threshold)
        # Nothing else is known of words that only a tagger has seen.
        target_training = replace(target_training, template_set=target_training.template_set or "words")
    stages = None
    if checkpoint is not None:
        parsers = [source_parser, *([target] if isinstance(target, ArcParser | GraphParser) else [])]
        true = [replace(pair, target=own) for pair, own in zip(usable, tags.true or (), strict=False)]
        stages = joint_trees.kept_stages(checkpoint, [*usable, *true], parsers, rng=rng, options=options)
    if isinstance(target, ArcParser | GraphParser):
        target = joint_trees.given_target(
            usable, target, least_probability=shape.least_probability, tags=tags
        )
    if target is None:
        target = joint_trees.train_target(
            usable,
            rng=rng,
            training=target_training,
            order=options.order,
            least_probability=shape.least_probability,
            stages=stages,
            tags=tags,
        )
    untrained = JointParser(
        source=source_parser,
        target=target.parser,
        weights=JointWeights.untrained(),
        options=shape,
        dictionary=count_dictionary(usable) if options.with_dictionary else None,
        tagger=tags.tagger,
    )
    if options.joint.families == (joint_options.SYNCH,):
        joined = replace(synchronous_parser(source_parser, target.parser), options=shape, tagger=tags.tagger)
        return joined, JointTrainingReport(pairs=len(usable), skipped=skipped)
    examples = [
        _joint_example(untrained, pair, scores, *tags.of(number))
        for number, (pair, scores) in enumerate(zip(usable, target.scores, strict=True))
    ]
    if options.target_weights == "fixed":
        weights, records, statuses = joint_training.train_joint_weights(
            examples, rng=rng, options=options.training, stages=stages, tell=notice
        )
        trained = replace(untrained, weights=weights, training=options.training)
    else:
        sentences, start = [pair.target for pair in usable], joint_trees.first_order(target.parser)
        moved, weights, records, statuses = joint_training.train_target_jointly(
            examples, sentences, start, rng=rng, options=options.training, stages=stages, tell=notice
        )
        trained = replace(untrained, target=moved, weights=weights, training=options.training)
    if options.labels == "joint":
        trained = joint_training.with_joint_labeller(trained, usable, examples, rng=rng, unseen=target.unseen)
    return trained, JointTrainingReport(
        pairs=len(examples),
        skipped=skipped,
        epochs=tuple(records),
        by_epoch=tuple(statuses),
        hand=joint_training.count_hand_links(usable),
    )


_MORE_EPOCHS = 3


def train_on_more_pairs(
    parser: JointParser, pairs: Iterable[SentencePair], *, rng: np.random.Generator
) -> JointParser:
    """Return a joint parser whose joint weights have learned from more pairs; its two parsers stay.

    The target parser is one that has not seen their trees. Links by hand are candidates, too, and observed.
    A parser of SYNCH, which has no such weights, stays as it is.
    """
    usable, skipped = usable_pairs(map(_with_hand_links, pairs))
    if not usable:
        raise NothingToLearnError(f"found no pair to learn from; left out: {listed_reasons(skipped)}")
    if parser.options.families == (joint_options.SYNCH,):
        return parser
    least = parser.options.least_probability
    target = joint_trees.given_target(usable, parser.target, least_probability=least)
    examples = [
        _joint_example(parser, pair, scores, None, None)
        for pair, scores in zip(usable, target.scores, strict=True)
    ]
    options = replace(parser.training or joint_options.JointTrainingOptions(), epochs=_MORE_EPOCHS, l2=0.0)
    weights, *_ = joint_training.train_joint_weights(examples, rng=rng, options=options, start=parser.weights)
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
    alignment = make_alignment(given.n_source, given.n_target, links, weights=weights)
    return replace(pair, alignment=alignment)


def _joint_example(
    parser: JointParser,
    pair: SentencePair,
    scores: joint_trees.TreeScores,
    choices: TagChoices | None,
    target_tags: NDArray[np.int8] | None,
) -> joint_training.JointExample:
    heads = reachable(pair.target.heads, parser.target.inference)
    prepared = parser.prepare(pair, target_scores=scores, choices=choices)
    states = (
        None
        if pair.hand is None
        else joint_training.observed_links(pair.alignment, pair.hand, parser.options.families)
    )
    inferred = not prepared.structure.source.observed
    return joint_training.JointExample(
        prepared,
        heads,
        states,
        joint_trees.heads_alone(parser.source, pair.source) if inferred else None,
        target_tags,
    )


def usable_pairs(
    pairs: Iterable[SentencePair], *, with_trees: bool = True
) -> tuple[list[SentencePair], dict[str, int]]:
    """Leave out, and count by reason, pairs that cannot be learned from."""
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


def parse_pairs(
    parser: JointParser,
    pairs: Iterable[SentencePair],
    *,
    source_tree: str | None = None,
    link_threshold: float | None = None,
    counts: ParsingCounts | None = None,
) -> Iterator[ParsedPair]:
    """Parse pairs one by one; ``counts``, where given, says in the end how they fared."""
    for pair in pairs:
        parsed = parser.parse_pair(
            pair.source, pair.target, pair.alignment, source_tree=source_tree, link_threshold=link_threshold
        )
        if counts is not None:
            counts.add(parsed)
        yield parsed


# A pair takes much longer than a sentence alone, so that a few are worth being sent away.
BLOCK_PAIRS = 16


def parse_pair_stream(
    model: str,
    pairs: Iterable[SentencePair],
    *,
    source_tree: str | None = None,
    link_threshold: float | None = None,
    counts: ParsingCounts | None = None,
    workers: Workers = THIS_PROCESS,
) -> Iterator[ParsedPair]:
    """Yield each pair parsed, in their order, as :func:`.biparse.parse_pairs` parses it."""
    on_block = partial(_parse_block, source_tree=source_tree, link_threshold=link_threshold)
    blocks = blocks_of(pairs, BLOCK_PAIRS)
    for parsed in by_blocks(load_joint_parser, model, on_block, blocks, workers=workers):
        if counts is not None:
            counts.add(parsed)
        yield parsed


def load_joint_parser(path: str) -> JointParser:
    return load_model_of(
        path, JointParser, expected="a joint parser", remedy="train one: qsproj train-biparser"
    )


# What the joint model goes on from.
TREE_PARSER = "a parser of order 1 or 2, trained without --labels joint and --objective hidden"


def load_tree_parser(path: str) -> joint_trees.TreeParser:
    kinds: tuple[type[joint_trees.TreeParser], ...] = (ArcParser, GraphParser)
    return load_model_of(path, kinds, expected=TREE_PARSER, remedy="train one: qsproj train")


def _parse_block(
    model: Callable[[], JointParser], block: list[SentencePair], **options: Any
) -> tuple[list[ParsedPair], UsageError | None]:
    """Return a block parsed, up to the pair that the model does not take, and why it does not take that."""
    done: list[ParsedPair] = []
    try:
        done.extend(parse_pairs(model(), block, **options))
    except UsageError as error:
        return done, error
    return done, None
