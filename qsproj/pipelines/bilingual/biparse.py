"""Joint models of sentence pairs: train them, predict two trees and an alignment, or select links.

Supervised word alignment: the built-in aligner proposes links, a model of manual links selects.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from qsproj.alignment.aligners import align_words
from qsproj.bp.run import Status
from qsproj.conventions import MAX_WORDS, Rng
from qsproj.corpus.editing import has_deps
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, likely_links
from qsproj.errors import NothingToLearnError, UsageError, listed_reasons, pluralise
from qsproj.features.joint_templates import link_posteriors
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.joint import joint_options, joint_training, joint_trees
from qsproj.models.joint.joint_alignment import LinkChooser, train_link_chooser
from qsproj.models.joint.joint_parser import JointParser, ParsedPair, load_joint_parser, synchronous_parser
from qsproj.models.joint.joint_structure import beyond_itg
from qsproj.parallel import Workers, blocks_of
from qsproj.pipelines.streams import map_blocks
from qsproj.progress import notice
from qsproj.training.loop import EpochRecord

BLOCK_PAIRS = 16  # block size for other processes: small, because a pair takes much longer than a sentence
# Minimum mean probability of proposed links. At 0.1 fewer true links remain, at 0.02 hardly more (XL-WA dev).
CANDIDATE_THRESHOLD = 0.05


@dataclass(frozen=True, slots=True)
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
    if without := sum(beyond_itg(families, pair.alignment.links) for pair in pairs):
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
        reasons = {joint_training.NO_LINK: self.without_links, "contradicting factors": self.contradictions}
        alone = {reason: count for reason, count in reasons.items() if count}
        pairs = pluralise(self.statuses.total() + self.without_links, "pair")
        itg = f"; {itg_line(self.without_itg)}" if self.without_itg else ""
        converged = joint_training.convergence(self.statuses)
        return f"{pairs}; {converged}; parsed alone: {listed_reasons(alone)}{itg}"


def train_joint_parser(
    pairs: Iterable[SentencePair],
    source_parser: joint_trees.TreeParser,
    *,
    rng: Rng,
    options: joint_options.BiparseOptions | None = None,
    target: joint_trees.TrainedTarget | joint_trees.TreeParser | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[JointParser, JointTrainingReport]:
    """Train a joint parser on pairs with complete target trees; ``target``: not trained on these trees."""
    options = options or joint_options.BiparseOptions()
    data = joint_training.prepare(
        pairs, source_parser, rng=rng, options=options, target=target, checkpoint=checkpoint
    )
    warn_without_itg(options.joint.families, data.pairs)
    report = JointTrainingReport(len(data.pairs), data.skipped)
    if options.joint.families == (joint_options.SYNCH,):
        joined = synchronous_parser(source_parser, data.target.parser)
        return replace(joined, options=data.parser.options, tagger=data.parser.tagger), report
    trained, records, statuses = joint_training.fit(data, rng=rng)
    hand = joint_training.count_hand_links(data.pairs)
    return trained, replace(report, epochs=tuple(records), by_epoch=tuple(statuses), hand=hand)


def parse_pairs(parser: JointParser, pairs: Iterable[SentencePair], **options: Any) -> Iterator[ParsedPair]:
    for pair in pairs:
        yield parser.parse_pair(pair.source, pair.target, pair.alignment, **options)


def _warn_deps(pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    warned = False
    for pair in pairs:
        if not warned and (warned := has_deps(pair.target)):
            notice("DEPS of the target belongs to the trees that are replaced, and is left empty")
        yield pair


def parse_pair_stream(
    model: str, pairs: Iterable[SentencePair], *, counts: ParsingCounts, workers: Workers, **options: Any
) -> Iterator[ParsedPair]:
    """Parse all pairs in order; ``options``: those of :meth:`JointParser.parse_pair`."""
    blocks = blocks_of(_warn_deps(pairs), BLOCK_PAIRS)
    on_block = partial(_parse_block, **options)
    for parsed in map_blocks(load_joint_parser, model, on_block, blocks, workers=workers):
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


def propose_links(
    sentences: Sequence[tuple[Sentence, Sentence]], *, unspaced: str | None, workers: Workers
) -> Iterator[SentencePair]:
    words = ((source.forms, target.forms) for source, target in sentences)
    proposed = align_words(words, threshold=CANDIDATE_THRESHOLD, unspaced=unspaced, workers=workers)
    for (source, target), links in zip(sentences, proposed, strict=True):
        yield SentencePair(source, target, links)


def learn_to_choose(
    pairs: Sequence[SentencePair], *, rng: Rng, families: tuple[str, ...]
) -> tuple[LinkChooser, joint_training.HandLinkCounts]:
    by_hand = [pair for pair in pairs if pair.hand is not None]
    usable = [pair for pair in by_hand if _is_short(pair) and len(pair.alignment.links)]
    if (counts := joint_training.count_hand_links(usable)) is None:
        expected = f"candidate links and sides of at most {MAX_WORDS} words"
        found = f"found no pair to learn from among the first {len(by_hand)}"
        raise NothingToLearnError(f"{found}, expected {expected}; align more text together with them")
    return train_link_chooser(usable, rng=rng, families=families), counts


def choose_links(
    chooser: LinkChooser, pairs: Iterable[SentencePair], *, threshold: float
) -> Iterator[Alignment]:
    """Yield the links of each pair with at least the probability ``threshold``, with their probabilities."""
    without_itg = 0
    for pair in pairs:
        if _is_short(pair):
            without_itg += beyond_itg(chooser.families, pair.alignment.links)
            yield chooser.align(pair, threshold=threshold)
        else:
            yield likely_links(pair.alignment, link_posteriors(pair.alignment), threshold)
    if without_itg:
        notice(itg_line(without_itg))


def _is_short(pair: SentencePair) -> bool:
    return max(len(pair.source), len(pair.target)) <= MAX_WORDS
