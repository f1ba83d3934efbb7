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
from qsproj.errors import UsageError, listed_reasons, pluralise
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.joint import joint_options, joint_pairs, joint_training, joint_trees
from qsproj.models.joint.joint_parser import JointParser, ParsedPair, load_joint_parser, synchronous_parser
from qsproj.models.joint.joint_structure import beyond_itg
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
        trained = f"trained on {pluralise(self.pairs, 'pair')}; {joint_training.convergence(self.statuses)}"
        hand = "" if self.hand is None else f"; {self.hand.summary()}"
        return f"{trained}; left out: {listed_reasons(self.skipped)}{hand}"


def warn_without_itg(families: tuple[str, ...], pairs: Iterable[SentencePair]) -> None:
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
        reasons = {joint_pairs.NO_LINK: self.without_links, "contradicting factors": self.contradictions}
        alone = {reason: count for reason, count in reasons.items() if count}
        pairs = pluralise(self.statuses.total() + self.without_links, "pair")
        itg = f"; {itg_line(self.without_itg)}" if self.without_itg else ""
        converged = joint_training.convergence(self.statuses)
        return f"{pairs}; {converged}; parsed alone: {listed_reasons(alone)}{itg}"


def train_joint_parser(
    pairs: Iterable[SentencePair],
    source_parser: joint_trees.TreeParser,
    *,
    rng: np.random.Generator,
    options: joint_options.BiparseOptions | None = None,
    target: joint_trees.TrainedTarget | joint_trees.TreeParser | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[JointParser, JointTrainingReport]:
    """Train a joint parser on pairs with complete target trees; ``target``: not trained on these trees."""
    options = options or joint_options.BiparseOptions()
    data = joint_pairs.prepare(
        pairs, source_parser, rng=rng, options=options, target=target, checkpoint=checkpoint
    )
    warn_without_itg(options.joint.families, data.pairs)
    report = JointTrainingReport(pairs=len(data.pairs), skipped=data.skipped)
    if options.joint.families == (joint_options.SYNCH,):
        joined = synchronous_parser(source_parser, data.target.parser)
        return replace(joined, options=data.parser.options, tagger=data.parser.tagger), report
    trained, records, statuses = joint_pairs.fit(
        data, joint_pairs.examples_of(data), rng=rng, options=options, notify=notice
    )
    hand = joint_training.count_hand_links(data.pairs)
    return trained, replace(report, epochs=tuple(records), by_epoch=tuple(statuses), hand=hand)


def parse_pairs(parser: JointParser, pairs: Iterable[SentencePair], **options: Any) -> Iterator[ParsedPair]:
    for pair in pairs:
        yield parser.parse_pair(pair.source, pair.target, pair.alignment, **options)


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
    counts: ParsingCounts | None = None,
    workers: Workers = THIS_PROCESS,
    **options: Any,
) -> Iterator[ParsedPair]:
    """Parse all pairs in order; ``options``: those of :meth:`JointParser.parse_pair`."""
    blocks = blocks_of(_warn_deps(pairs), BLOCK_PAIRS)
    on_block = partial(_parse_block, **options)
    for parsed in map_blocks(load_joint_parser, model, on_block, blocks, workers=workers):
        if counts is not None:
            counts.add(parsed)
        yield parsed


def _parse_block(
    model: Callable[[], JointParser], block: list[SentencePair], **options: Any
) -> tuple[list[ParsedPair], UsageError | None]:
    done: list[ParsedPair] = []
    try:
        done.extend(parse_pairs(model(), block, **options))
    except UsageError as error:
        return done, error
    return done, None
