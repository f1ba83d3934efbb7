"""Co-training: a bilingual and a monolingual parser of the target teach each other on pairs without trees.

The bilingual parser sees translations and so parses the target better; what it believes of pairs that nobody
annotated teaches the monolingual parser, beside the trees that there are. That parser then takes the place
of the bilingual one's target side, and so on. At test time no translation is needed.

*Source*: thesis 5.3.1, with one difference: what is handed over is the probability of every arc, not the best
tree, so that what the bilingual parser is unsure of is not taught as certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from qsproj.bp.status import Status
from qsproj.conventions import MAX_WORDS, Scores
from qsproj.corpus.files import temporary_folder
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import NothingToLearnError, UsageError, counted, listed_reasons
from qsproj.models.arc.arc_examples import tree_examples
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcExample
from qsproj.models.arc.arc_training import train_scorer
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import first_order
from qsproj.models.tree_inference import is_whole
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bilingual.biparse import (
    BLOCK_PAIRS,
    convergence,
    load_joint_parser,
    tell_without_itg,
    usable_pairs,
)
from qsproj.pipelines.streams import loaded_once
from qsproj.progress import track
from qsproj.training.objectives import CrossEntropy


@dataclass(frozen=True, slots=True, kw_only=True)
class CotrainingOptions:
    """Options of co-training; features and possible trees are those of the bilingual parser's target side."""

    rounds: int = 1  # the monolingual parser learns; between two it takes the place of that target side
    # objective (of the annotated trees), epochs, rate and L2 of the monolingual parser
    training: TrainingOptions = field(default_factory=TrainingOptions)


@dataclass(frozen=True, slots=True)
class CotrainingReport:
    """Report of co-training."""

    trees: int  # annotated sentences that were learned from
    pairs: int  # pairs without trees that were learned from
    skipped: dict[str, int]  # sentences or pairs that were left out, by reason
    statuses: Counter[Status]  # how runs of belief propagation ended, over all rounds

    def summary(self) -> str:
        """Say in a line what was learned from."""
        return (
            f"learned from {counted(self.trees, 'tree')} and {counted(self.pairs, 'pair')} without; "
            f"{convergence(self.statuses)}; left out: {listed_reasons(self.skipped)}"
        )


def cotrain(
    bilingual: JointParser,
    trees: Sequence[Sentence],
    pairs: Sequence[SentencePair],
    *,
    rng: np.random.Generator,
    options: CotrainingOptions | None = None,
    workers: Workers = THIS_PROCESS,
) -> tuple[ArcParser, CotrainingReport]:
    """Train a monolingual parser of the target on trees and on what a bilingual parser makes of pairs.

    ``trees`` are best those that the bilingual parser was trained on; it tags words without tags. Pairs
    without a candidate link, or whose messages contradict each other, are counted. Relations are labelled as
    its target side labels them.
    """
    options = options or CotrainingOptions()
    if options.rounds < 1:
        raise UsageError(f"found {options.rounds} rounds of co-training, expected 1 or more")
    monolingual = first_order(bilingual.target)
    usable, reasons = usable_pairs(map(bilingual.with_tags, pairs), with_trees=False)
    tell_without_itg(bilingual.options.families, usable)
    skipped = Counter(reasons)
    annotated = whole_tree_examples(
        monolingual, [*map(bilingual.with_tags_alone, trees)], options.training, skipped
    )
    statuses: Counter[Status] = Counter()
    taught: list[ArcExample] = []
    for _ in range(options.rounds):
        believed = track(all_beliefs(bilingual, usable, workers), "parsing", total=len(usable), unit="pair")
        beliefs, ends = zip(*believed) if usable else ((), ())
        statuses.update(ends)
        taught = _belief_examples(monolingual, usable, beliefs)
        if not annotated and not taught:
            raise NothingToLearnError(
                "found neither a whole tree nor a pair with candidate links to learn from"
            )
        monolingual = _train(monolingual, [*annotated, *taught], rng=rng, training=options.training)
        bilingual = replace(bilingual, target=monolingual)
    if len(taught) < len(usable):
        skipped["pairs with contradicting factors"] = len(usable) - len(taught)
    return monolingual, CotrainingReport(len(annotated), len(taught), dict(skipped), statuses)


def target_beliefs(bilingual: JointParser, pair: SentencePair) -> tuple[Scores | None, Status]:
    """Return probabilities of the target's arcs, float64[n+1, n+1], and how belief propagation ended.

    Columns 1..n sum to one, which loopy beliefs do only nearly and are made to. None where messages
    contradict each other.
    """
    beliefs = bilingual.infer(bilingual.prepare(pair))
    if beliefs.status is Status.CONTRADICTION:
        return None, beliefs.status
    chances = beliefs.target.copy()
    chances[:, 1:] /= chances[:, 1:].sum(axis=0)
    return chances, beliefs.status


def all_beliefs(
    bilingual: JointParser, pairs: Sequence[SentencePair], workers: Workers
) -> Iterator[tuple[Scores | None, Status]]:
    """Yield what :func:`target_beliefs` returns of each pair; other processes read the parser from a file."""
    if workers.jobs == 1:
        yield from (target_beliefs(bilingual, pair) for pair in pairs)
        return
    with temporary_folder() as folder:
        path = str(folder / "joint.model")
        bilingual.save(path)
        believed = partial(_beliefs_by_file, path)
        yield from map_in_order(believed, pairs, workers=workers, block=BLOCK_PAIRS)


def _beliefs_by_file(path: str, pair: SentencePair) -> tuple[Scores | None, Status]:
    return target_beliefs(loaded_once(load_joint_parser, path), pair)


def whole_tree_examples(
    parser: ArcParser, trees: Sequence[Sentence], training: TrainingOptions, skipped: Counter[str]
) -> list[ArcExample]:
    """Encode the sentences with whole trees, each with its objective; count in ``skipped`` the others."""
    whole = [tree for tree in trees if len(tree) <= MAX_WORDS and is_whole(tree.heads)]
    made = tree_examples(whole, parser.scorer, parser.inference, objective=training.objective)
    examples = [example for example in made if example]
    skipped += Counter(
        {
            "sentences too long or without a whole tree": len(trees) - len(whole),
            "trees that the parser cannot build": len(whole) - len(examples),
        }
    )
    return examples


def _belief_examples(
    parser: ArcParser, pairs: Sequence[SentencePair], beliefs: Sequence[Scores | None]
) -> list[ArcExample]:
    """Encode the target sentences of which something is believed."""
    return [
        ArcExample(parser.scorer.encode(pair.target), CrossEntropy(chances, parser.inference.infer))
        for pair, chances in zip(pairs, beliefs, strict=True)
        if chances is not None
    ]


def _train(
    parser: ArcParser, examples: Sequence[ArcExample], *, rng: np.random.Generator, training: TrainingOptions
) -> ArcParser:
    """Return the parser with arc weights learned afresh."""
    template_set = parser.scorer.template_set
    scorer, _ = train_scorer(examples, template_set, rng=rng, inference=parser.inference, options=training)
    return replace(parser, scorer=scorer)
