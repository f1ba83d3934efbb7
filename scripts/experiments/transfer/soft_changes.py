"""The ingredients of soft projection, each changed or left out: what soft.py tests on development treebanks.

All is learned from the first 8,000 pairs of a bitext, 2,000 of them chosen; priors are those of the whole bitext.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.storage import Parser
from qsproj.models.tree_inference import TreeInference
from qsproj.pipelines.projection.projected import SoftProjectionOptions
from qsproj.pipelines.projection.soft_evidence import (
    LONGEST,
    SHORTEST,
    arc_evidence,
    coverage,
)
from qsproj.pipelines.projection.soft_projection import HELD_OUT, project_soft, soft_sources
from scripts.experiments.transfer.by_tags import (
    BEST_TAGS,
    GOLD_TAGS,
    UNCERTAIN_TAGS,
    Part,
    Scores,
    scores_by_tags,
)
from scripts.experiments.transfer.soft_parsers import Parsers, SoftParsers, prior_alone

FEW_PAIRS, CHOSEN = 8_000, 2_000
FEW = SoftProjectionOptions(sentences=CHOSEN)
Pairs = Sequence[SentencePair]


def without_weights(pairs: Pairs) -> Pairs:
    """Take the weights off the links."""
    return [replace(pair, alignment=replace(pair.alignment, weights=None)) for pair in pairs]


def drawn(pairs: Pairs) -> Pairs:
    """Draw as many pairs as are learned from, of the same lengths and with evidence."""
    fitting = [
        pair for pair in pairs if SHORTEST <= len(pair.target) <= LONGEST and coverage(arc_evidence(pair))
    ]
    wanted = CHOSEN * HELD_OUT // (HELD_OUT - 1)
    kept = np.random.default_rng(1).permutation(len(fitting))[:wanted]
    return [fitting[index] for index in sorted(kept)]


def half(pairs: Pairs) -> Pairs:
    return pairs[: len(pairs) // 2]


def nothing(_: SoftParsers) -> Parsers:
    """Return a parser that knows nothing."""
    inference = TreeInference(projective=True, single_root=True)
    return [ArcParser(ArcScorer.untrained("delexicalised"), None, inference)]


def as_it_is(parser: Parser, _: Parsers) -> Parser:
    return parser


def relations_of_prior(parser: Parser, members: Parsers) -> Parser:
    """Give a parser the labeller of its prior."""
    assert isinstance(parser, ArcParser)
    return replace(parser, labeller=prior_alone(members).labeller)


def no_temperature(parser: Parser, _: Parsers) -> Parser:
    assert isinstance(parser, ArcParser)
    return replace(parser, temperature=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is learned from, how, what is done to the parser in the end, and which tags it is tested with.

    Without ``options`` the prior stands alone. Where there are no priors, nothing is measured.
    """

    priors: Callable[[SoftParsers], Parsers] = SoftParsers.translated
    pairs: Callable[[Pairs], Pairs] = list
    options: SoftProjectionOptions | None = FEW
    after: Callable[[Parser, Parsers], Parser] = as_it_is
    tags: str = BEST_TAGS

    @property
    def learns_as_ever(self) -> bool:
        """Whether what is changed comes after learning."""
        return replace(self, after=as_it_is, tags=BEST_TAGS) == Change()


UNCHANGED = "unchanged"
CHANGES = {
    UNCHANGED: Change(),
    "words not translated": Change(priors=SoftParsers.untranslated),
    "no prior": Change(priors=nothing),
    "no evidence": Change(options=None),
    "relations of the prior": Change(after=relations_of_prior),
    "all that was learned added (share 1)": Change(options=replace(FEW, share=1.0)),
    "evidence nearly certain (strength 6)": Change(options=replace(FEW, strength=6.0)),
    "no pull towards the prior": Change(options=replace(FEW, l2=0.0)),
    "links without weights": Change(pairs=without_weights),
    "pairs drawn": Change(pairs=drawn, options=replace(FEW, sentences=FEW_PAIRS)),
    "half of the pairs": Change(pairs=half, options=replace(FEW, sentences=CHOSEN // 2)),
    "probabilities as learned (temperature 1)": Change(after=no_temperature),
    "uncertain tags tried": Change(tags=UNCERTAIN_TAGS),
}


@dataclass
class ChangedParsers:
    """Parsers of one language with one ingredient changed. Mutable: what is read or learned twice is kept."""

    parsers: SoftParsers
    parts: Sequence[Part] = field(repr=False)

    @cached_property
    def pairs(self) -> Pairs:
        return list(islice(self.parsers.pairs(), FEW_PAIRS))

    @cached_property
    def unchanged(self) -> Parser:
        return self._learned(Change(), self.parsers.translated())

    def measured(self, name: str) -> dict[str, Scores] | None:
        """Return what a changed parser scores with gold tags and with a tagger's; None where there is none."""
        change = CHANGES[name]
        members = change.priors(self.parsers)
        if not members:
            return None
        learned = self.unchanged if change.learns_as_ever else self._learned(change, members)
        found = scores_by_tags(change.after(learned, members), self.parts, kinds=(GOLD_TAGS, change.tags))
        return {"gold": found[GOLD_TAGS], "tagger": found[change.tags]}

    def _learned(self, change: Change, members: Parsers) -> Parser:
        if change.options is None:
            return prior_alone(members)
        pairs = change.pairs(self.pairs)
        sources = soft_sources([[pairs]], rng=np.random.default_rng(1), priors=members)
        learned = project_soft(sources, rng=np.random.default_rng(1), options=change.options).parser
        assert isinstance(learned, Parser)
        return learned
