"""Bilingual parsing: train a joint model on pairs; predict two trees and an alignment of each pair."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from qsproj.bp.run import Status
from qsproj.corpus.editing import has_deps
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import NothingToLearnError, UsageError, listed_reasons, pluralise
from qsproj.features.joint_templates import count_dictionary
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.joint import joint_options, joint_training, joint_trees
from qsproj.models.joint.joint_pairs import NO_LINK, joint_example, usable_pairs
from qsproj.models.joint.joint_parser import JointParser, ParsedPair, load_joint_parser, synchronous_parser
from qsproj.models.joint.joint_structure import beyond_itg
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.models.joint.tag_choices import GIVEN, learned_tags
from qsproj.parallel import THIS_PROCESS, Workers, blocks_of
from qsproj.pipelines.streams import map_blocks
from qsproj.progress import notice
from qsproj.training.loop import EpochRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTrainingReport:
    """Report of joint training."""

    pairs: int  # training pairs
    skipped: dict[str, int]  # pairs left out, by reason
    # epochs of the joint weights; loss is the negative log-belief of the true arcs, in nats a pair
    epochs: tuple[EpochRecord, ...] = ()
    by_epoch: tuple[Counter[Status], ...] = ()  # statuses of belief propagation, free and clamped
    hand: joint_training.HandLinkCounts | None = None

    @property
    def statuses(self) -> Counter[Status]:
        return sum(self.by_epoch, Counter())

    def summary(self) -> str:
        return (
            f"trained on {pluralise(self.pairs, 'pair')}; {joint_training.convergence(self.statuses)}; "
            f"left out: {listed_reasons(self.skipped)}"
            + (f"; {self.hand.summary()}" if self.hand is not None else "")
        )


def warn_without_itg(families: tuple[str, ...], pairs: Iterable[SentencePair]) -> None:
    """Report the number of pairs with too many words for ALIGNITG, if it is among ``families``."""
    without = sum(beyond_itg(families, pair.alignment.links) for pair in pairs)
    if without:
        notice(itg_line(without))


def itg_line(without: int) -> str:
    limit = f"more than {joint_options.MOST_ITG_WORDS} words a side have candidate links"
    return f"{pluralise(without, 'pair')} without ITG: {limit}"


@dataclass(slots=True)
class ParsingCounts:
    """Counts of the pairs of a parsed bitext; mutable."""

    statuses: Counter[Status] = field(default_factory=Counter)  # statuses of belief propagation
    without_links: int = 0  # pairs without a candidate link, with sides parsed separately
    contradictions: int = 0  # pairs with contradicting messages, with sides parsed separately
    without_itg: int = 0  # pairs with too many words for ALIGNITG

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
            f"{pluralise(pairs, 'pair')}; {joint_training.convergence(self.statuses)}; "
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
    """Train a joint parser on pairs whose targets have complete trees; others are counted as skipped.

    Joint weights are learned with scores of target parsers that were not trained on the pair. The thesis
    learns both together (``target_weights="joint"``), but then the target's lexical features soon explain
    its own training trees. With the family SYNCH, only the target parser is learned. Manual links are
    observed; others are latent. ``target``: result of
    :func:`~qsproj.models.joint.joint_trees.train_target` on these pairs, or a parser not trained on their
    trees. ``checkpoint``: saves completed stages, to resume from.
    """
    options = options or joint_options.BiparseOptions()
    usable, skipped = usable_pairs(pairs)
    if len(usable) < 2:
        raise NothingToLearnError(
            f"found {pluralise(len(usable), 'pair')} to learn from, expected two or more with whole target "
            f"trees and candidate links; left out: {listed_reasons(skipped)}"
        )
    warn_without_itg(options.joint.families, usable)
    tags, target_training, shape = GIVEN, options.target_training, options.joint
    if options.tags != "given":
        if options.tags == "joint":
            shape = replace(shape, tag_threshold=shape.tag_threshold or joint_options.TAG_THRESHOLD)
        tags, usable = learned_tags(usable, rng=rng, threshold=shape.tag_threshold)
        # Words seen only by the tagger have no other features.
        target_training = replace(target_training, template_set=target_training.template_set or "words")
    stages = None
    if checkpoint is not None:
        parsers = [
            source_parser,
            *([] if target is None or isinstance(target, joint_trees.TrainedTarget) else [target]),
        ]
        true = [replace(pair, target=own) for pair, own in zip(usable, tags.true or (), strict=False)]
        stages = joint_trees.kept_stages(checkpoint, [*usable, *true], parsers, rng=rng, options=options)
    if target is not None and not isinstance(target, joint_trees.TrainedTarget):
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
        joint_example(untrained, pair, scores, *tags.of(number))
        for number, (pair, scores) in enumerate(zip(usable, target.scores, strict=True))
    ]
    if options.target_weights == "fixed":
        weights, records, statuses = joint_training.train_joint_weights(
            examples, rng=rng, options=options.training, stages=stages, notify=notice
        )
        trained = replace(untrained, weights=weights, training=options.training)
    else:
        sentences, start = [pair.target for pair in usable], joint_trees.first_order(target.parser)
        moved, weights, records, statuses = joint_training.train_target_jointly(
            examples, sentences, start, rng=rng, options=options.training, stages=stages, notify=notice
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


def parse_pairs(
    parser: JointParser,
    pairs: Iterable[SentencePair],
    *,
    source_tree: str | None = None,
    link_threshold: float | None = None,
    counts: ParsingCounts | None = None,
) -> Iterator[ParsedPair]:
    """Parse pairs one by one; adds each to ``counts`` if given."""
    for pair in pairs:
        parsed = parser.parse_pair(
            pair.source, pair.target, pair.alignment, source_tree=source_tree, link_threshold=link_threshold
        )
        if counts is not None:
            counts.add(parsed)
        yield parsed


# Block size for other processes: small, because a pair takes much longer than a sentence.
BLOCK_PAIRS = 16


def _warn_deps(pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    warned = False
    for pair in pairs:
        if not warned and has_deps(pair.target):
            warned = True
            notice("DEPS of the target belongs to the trees that are replaced, and is left empty")
        yield pair


def parse_pair_stream(
    model: str,
    pairs: Iterable[SentencePair],
    *,
    source_tree: str | None = None,
    link_threshold: float | None = None,
    counts: ParsingCounts | None = None,
    workers: Workers = THIS_PROCESS,
) -> Iterator[ParsedPair]:
    """Parse pairs as :func:`.biparse.parse_pairs`, in several processes, and yield them in order."""
    on_block = partial(_parse_block, source_tree=source_tree, link_threshold=link_threshold)
    blocks = blocks_of(_warn_deps(pairs), BLOCK_PAIRS)
    for parsed in map_blocks(load_joint_parser, model, on_block, blocks, workers=workers):
        if counts is not None:
            counts.add(parsed)
        yield parsed


def _parse_block(
    model: Callable[[], JointParser], block: list[SentencePair], **options: Any
) -> tuple[list[ParsedPair], UsageError | None]:
    """Return the parsed pairs of a block up to the first that the model rejects, and its error."""
    done: list[ParsedPair] = []
    try:
        done.extend(parse_pairs(model(), block, **options))
    except UsageError as error:
        return done, error
    return done, None
