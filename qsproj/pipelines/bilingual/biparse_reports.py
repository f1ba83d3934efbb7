"""What happened to the pairs of a bitext that was learned from, or parsed, jointly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from qsproj.bp.status import Status
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import counted, listed_reasons
from qsproj.models.joint.joint_examples import HandLinkCounts
from qsproj.models.joint.joint_options import MOST_ITG_WORDS
from qsproj.models.joint.joint_parser import ParsedPair
from qsproj.models.joint.joint_structure import beyond_itg
from qsproj.progress import notice
from qsproj.training.loop import EpochRecord

NO_LINK = "no candidate link"


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTrainingReport:
    """What happened in training.

    ``pairs``: pairs that were learned from.
    ``skipped``: how many pairs were left out, by reason.
    ``epochs``: of the joint weights; their loss is minus the log-belief of the true arcs, in nats a pair.
    ``by_epoch``: how the runs of belief propagation ended in each of them, free and clamped.
    ``hand``: of the pairs that were learned from.
    """

    pairs: int
    skipped: dict[str, int]
    epochs: tuple[EpochRecord, ...] = ()
    by_epoch: tuple[Counter[Status], ...] = ()
    hand: HandLinkCounts | None = None

    @property
    def statuses(self) -> Counter[Status]:
        """How all runs ended."""
        return sum(self.by_epoch, Counter())

    def summary(self) -> str:
        """Say in a line what was trained."""
        return (
            f"trained on {counted(self.pairs, 'pair')}; {convergence(self.statuses)}; "
            f"left out: {listed_reasons(self.skipped)}"
            + (f"; {self.hand.summary()}" if self.hand is not None else "")
        )


def tell_without_itg(families: tuple[str, ...], pairs: Iterable[SentencePair]) -> None:
    """Tell how many of some pairs have too many words for ALIGNITG, where ``families`` have it."""
    without = sum(beyond_itg(families, pair.alignment.links) for pair in pairs)
    if without:
        notice(itg_line(without))


def itg_line(without: int) -> str:
    """Say how many pairs did without ALIGNITG."""
    limit = f"more than {MOST_ITG_WORDS} words a side have candidate links"
    return f"{counted(without, 'pair')} without ITG: {limit}"


def epoch_line(epoch: EpochRecord, statuses: Counter[Status]) -> str:
    """Say in a line how an epoch of training went."""
    return f"epoch {epoch.epoch}: loss {epoch.loss:.3f} nats a pair; {convergence(statuses)}"


@dataclass(slots=True)
class ParsingCounts:
    """How the pairs of a parsed bitext fared; mutable.

    ``statuses``: how the runs of belief propagation ended.
    ``without_links``: pairs without a candidate link, parsed side by side alone.
    ``contradictions``: pairs whose messages contradicted each other, parsed alone too.
    ``without_itg``: pairs of too many words for ALIGNITG.
    """

    statuses: Counter[Status] = field(default_factory=Counter)
    without_links: int = 0
    contradictions: int = 0
    without_itg: int = 0

    def add(self, parsed: ParsedPair) -> None:
        """Count one pair."""
        self.without_itg += parsed.without_itg
        if parsed.status is None:
            self.without_links += 1
        else:
            self.statuses[parsed.status] += 1
            self.contradictions += parsed.alone

    def summary(self) -> str:
        """Say in a line how it went."""
        reasons = {NO_LINK: self.without_links, "contradicting factors": self.contradictions}
        alone = {reason: count for reason, count in reasons.items() if count}
        pairs = self.statuses.total() + self.without_links
        return (
            f"{counted(pairs, 'pair')}; {convergence(self.statuses)}; parsed alone: {listed_reasons(alone)}"
            + (f"; {itg_line(self.without_itg)}" if self.without_itg else "")
        )


def convergence(statuses: Counter[Status]) -> str:
    """Say how many runs of belief propagation there were, and in which share of them messages settled."""
    runs = statuses.total()
    if not runs:
        return "nothing to infer"
    share = 100 * statuses[Status.CONVERGED] / runs
    return f"belief propagation converged in {share:.1f}% of {counted(runs, 'run')}"
