"""What happened to the pairs of a bitext that was learned from, or parsed, jointly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from qsproj.bp.status import Status
from qsproj.errors import counted, listed_reasons
from qsproj.models.joint.joint_evidence import HandLinkCounts
from qsproj.models.joint.joint_parser import ParsedPair
from qsproj.training.loop import EpochRecord

NO_LINK = "no candidate link"


@dataclass(frozen=True, slots=True, kw_only=True)
class JointTrainingReport:
    """What happened in training.

    Attributes
    ----------
    pairs : int
        Pairs that were learned from.
    skipped : dict of str to int
        How many pairs were left out, by reason.
    epochs : tuple of EpochRecord
        Of the joint weights; their loss is minus the log-belief of the true arcs, in nats a pair.
    by_epoch : tuple of Counter of Status
        How the runs of belief propagation ended in each of them, free and clamped.
    hand : HandLinkCounts or None
        Of the pairs that were learned from.
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


def epoch_line(epoch: EpochRecord, statuses: Counter[Status]) -> str:
    """Say in a line how an epoch of training went."""
    return f"epoch {epoch.epoch}: loss {epoch.loss:.3f} nats a pair; {convergence(statuses)}"


@dataclass(slots=True)
class ParsingCounts:
    """How the pairs of a parsed bitext fared; mutable.

    Attributes
    ----------
    statuses : Counter of Status
        How the runs of belief propagation ended.
    without_links : int
        Pairs without a candidate link, parsed side by side alone.
    contradictions : int
        Pairs whose messages contradicted each other, parsed alone too.
    """

    statuses: Counter[Status] = field(default_factory=Counter)
    without_links: int = 0
    contradictions: int = 0

    def add(self, parsed: ParsedPair) -> None:
        """Count one pair."""
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
        )


def convergence(statuses: Counter[Status]) -> str:
    """Say how many runs of belief propagation there were, and which share of them settled."""
    runs = statuses.total()
    if not runs:
        return "nothing to infer"
    return f"{100 * statuses[Status.CONVERGED] / runs:.1f}% of {counted(runs, 'run')} converged"
