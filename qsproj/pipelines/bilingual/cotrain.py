"""Train monolingual target parsers on trees and on pairs without trees: co-training and noisy channel.

Co-training: the monolingual parser is trained on annotated trees and on the bilingual parser's beliefs about
unannotated pairs; it then replaces that parser's target side, and so on. *Source*: thesis 5.3.1, but with all
arcs' probabilities. Noisy channel: target trees must explain source trees through a bilingual parser.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from qsproj.bp.run import Status
from qsproj.conventions import MAX_WORDS, Rng, Scores, is_whole
from qsproj.corpus.files import temporary_folder
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import NothingToLearnError, UsageError, listed_reasons, pluralise
from qsproj.models.arc.arc_learners import tree_examples
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_scorer import ArcExample, ArcScorer
from qsproj.models.arc.arc_training import train_residual, train_scorer
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint import noisy_channel
from qsproj.models.joint.joint_options import Propagation
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_structure import NO_VARIABLE
from qsproj.models.joint.joint_training import convergence, usable_pairs
from qsproj.models.joint.joint_trees import first_order, given_source_heads
from qsproj.models.spec import CheckedOptions, option_field
from qsproj.parallel import THIS_PROCESS, Workers, map_in_order
from qsproj.pipelines.bilingual import biparse
from qsproj.progress import track
from qsproj.training.objectives import CrossEntropy

NOTHING = "found neither a whole tree nor a pair with candidate links to learn from"


@dataclass(frozen=True, slots=True)
class CotrainingReport:
    """Report of co-training."""

    trees: int  # annotated training sentences
    pairs: int  # training pairs without trees
    skipped: dict[str, int]  # sentences or pairs left out, by reason
    statuses: Counter[Status]  # statuses of belief propagation, over all rounds

    def summary(self) -> str:
        trained = f"trained on {pluralise(self.trees, 'tree')} and {pluralise(self.pairs, 'pair')} without"
        return f"{trained}; {convergence(self.statuses)}; left out: {listed_reasons(self.skipped)}"


def cotrain(
    bilingual: JointParser,
    trees: Sequence[Sentence],
    pairs: Sequence[SentencePair],
    *,
    rng: Rng,
    rounds: int = 1,
    training: TrainingOptions | None = None,
    workers: Workers = THIS_PROCESS,
) -> tuple[ArcParser, CotrainingReport]:
    """Train a monolingual parser of the target on trees and on a bilingual parser's beliefs about pairs.

    Features and possible trees are those of the bilingual parser's target side, which the parser of each of
    the ``rounds`` replaces for the next. ``training``: objective (of the trees), epochs, rate and L2.
    """
    training = training or TrainingOptions()
    monolingual = first_order(bilingual.target)
    usable, annotated, skipped = _prepare(bilingual, monolingual, trees, pairs, training)
    biparse.warn_without_itg(bilingual.options.families, usable)
    statuses: Counter[Status] = Counter()
    taught: list[ArcExample] = []
    for _ in range(rounds):
        believed = track(all_beliefs(bilingual, usable, workers), "parsing", total=len(usable), unit="pair")
        beliefs, ends = zip(*believed) if usable else ((), ())
        statuses.update(ends)
        infer = monolingual.inference.infer
        taught = [
            ArcExample(monolingual.scorer.encode(pair.target), CrossEntropy(chances, infer))
            for pair, chances in zip(usable, beliefs, strict=True)
            if chances is not None
        ]
        if not annotated and not taught:
            raise NothingToLearnError(NOTHING)
        examples = [*annotated, *taught]
        start, trees_of = ArcScorer.untrained(monolingual.scorer.template_set), monolingual.inference
        scorer, _ = train_scorer(examples, start, rng=rng, inference=trees_of, options=training)
        monolingual = replace(monolingual, scorer=scorer)
        bilingual = replace(bilingual, target=monolingual)
    if len(taught) < len(usable):
        skipped["pairs with contradicting factors"] = len(usable) - len(taught)
    return monolingual, CotrainingReport(len(annotated), len(taught), dict(skipped), statuses)


def target_beliefs(bilingual: JointParser, pair: SentencePair) -> tuple[Scores | None, Status]:
    """Return normalised probabilities of target arcs, float64[n+1, n+1] (None: contradiction), and status."""
    beliefs = bilingual.infer(bilingual.prepare(pair))
    if beliefs.status is Status.CONTRADICTION:
        return None, beliefs.status
    chances = beliefs.target.copy()
    chances[:, 1:] /= chances[:, 1:].sum(axis=0)
    return chances, beliefs.status


def all_beliefs(
    bilingual: JointParser, pairs: Sequence[SentencePair], workers: Workers
) -> Iterator[tuple[Scores | None, Status]]:
    """Yield :func:`target_beliefs` of each pair; other processes load the parser from a file."""
    if workers.jobs == 1:
        yield from (target_beliefs(bilingual, pair) for pair in pairs)
        return
    with temporary_folder() as folder:
        believed = partial(_loaded_beliefs, bilingual.loader(folder / "joint.model"))
        yield from map_in_order(believed, pairs, workers=workers, block=biparse.BLOCK_PAIRS)


def _loaded_beliefs(load: Callable[[], Any], pair: SentencePair) -> tuple[Scores | None, Status]:
    return target_beliefs(load(), pair)


def _prepare(
    bilingual: JointParser,
    parser: ArcParser,
    trees: Sequence[Sentence],
    pairs: Sequence[SentencePair],
    training: TrainingOptions,
) -> tuple[list[SentencePair], list[ArcExample], Counter[str]]:
    """Return usable pairs, the complete trees with their objectives, and what is left out, by reason."""
    usable, skipped = usable_pairs(map(bilingual.with_tags, pairs), with_trees=False)
    prepared = map(bilingual.prepared, trees)
    whole = [tree for tree in prepared if len(tree) <= MAX_WORDS and is_whole(tree.heads)]
    made = tree_examples(whole, parser.scorer, parser.inference, objective=training.objective)
    examples = [example for example in made if example]
    left_out = {
        "sentences too long or without a whole tree": len(trees) - len(whole),
        "trees that the parser cannot build": len(whole) - len(examples),
    }
    return usable, examples, Counter(skipped) + Counter(left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyChannelOptions(CheckedOptions):
    """Options of a monolingual parser that learns through a noisy channel."""

    # epochs, rate and L2, which pulls the weights to those of the parser trained on trees alone
    training: TrainingOptions = field(default_factory=lambda: TrainingOptions(epochs=2, rate=0.03))
    # factor of the source parser's scores in the channel: with 1, as in the thesis, the source words explain
    # most of the source tree; with 0 the target tree must explain it
    source_scale: float = 0.0
    # source trees of the channel: ``best``; ``agreement``, all, by their probabilities (M of thesis 5.3.2)
    source_forest: str = option_field("best", known=("source forest", ("best", "agreement")))
    # subset of the bilingual parser's; MONO alone is about as accurate, and faster (docs/results/thesis.md)
    families: tuple[str, ...] = ("MONO",)
    propagation: Propagation = field(default_factory=lambda: Propagation(tolerance=1e-2))


def train_noisy_channel(
    bilingual: JointParser,
    trees: Sequence[Sentence],
    pairs: Sequence[SentencePair],
    *,
    rng: Rng,
    options: NoisyChannelOptions | None = None,
) -> tuple[ArcParser, CotrainingReport]:
    """Train a monolingual parser of the target on trees and on source trees that its trees must explain.

    Training starts from the bilingual parser's target side; the channel, the rest of that parser, is fixed.
    The source tree is the source parser's best (eq. 5.1), or that of the source sentence if the bilingual
    parser was trained on observed ones. All graphs are held in memory. *Source*: thesis 5.3.2.
    """
    options = options or NoisyChannelOptions()
    found, expected = (", ".join(one.families) for one in (bilingual.options, options))
    if not set(options.families) & set(bilingual.options.families):
        why = "without it the source tree does not affect the target tree"
        raise UsageError(f"found {found} as factors of the joint parser, expected one of {expected}: {why}")
    source, base = first_order(bilingual.source), first_order(bilingual.target)
    bilingual = replace(bilingual, source=source, target=base)
    usable, annotated, skipped = _prepare(bilingual, base, trees, pairs, options.training)
    statuses: Counter[Status] = Counter()
    explaining = []
    for pair in track(usable, "preparing", unit="pair"):
        likelihood = replace(source_tree_likelihood(bilingual, pair, options=options), statuses=statuses)
        explaining.append(ArcExample(base.scorer.encode(pair.target), likelihood))
    if not annotated and not explaining:
        raise NothingToLearnError(NOTHING)
    parser = train_residual(base, [*annotated, *explaining], rng=rng, options=options.training)
    return parser, CotrainingReport(len(annotated), len(explaining), dict(skipped), statuses)


def source_tree_likelihood(
    bilingual: JointParser, pair: SentencePair, *, options: NoisyChannelOptions
) -> noisy_channel.SourceTreeLikelihood:
    families = tuple(name for name in bilingual.options.families if name in options.families)
    kind = "observed" if bilingual.options.source_tree == "observed" else "best"
    if kind == "observed" and options.source_forest != "best":
        found = f"observed source trees and source forest {options.source_forest}"
        raise UsageError(f"found {found}, which is that of the source parser; leave one of them out")
    heads = given_source_heads(kind, bilingual.source, pair.source)
    assert heads is not None  # both kinds give a tree
    channel = replace(bilingual, options=replace(bilingual.options, families=families))
    prepared = channel.prepare(pair, source_tree="joint", source_heads=heads)
    scores = bilingual.weights.scores(prepared)
    # Forbidden arcs have no variable, so the value in place of -inf is not read.
    source = options.source_scale * np.nan_to_num(scores.source, neginf=0.0)
    arcs = np.where(prepared.structure.source.arcs == NO_VARIABLE, -np.inf, scores.source)
    seen = noisy_channel.tree_evidence(heads)
    if options.source_forest == "agreement":
        seen = noisy_channel.forest_evidence(arcs, bilingual.source.inference)
    return noisy_channel.SourceTreeLikelihood(
        structure=noisy_channel.channel_structure(prepared.structure),
        scores=replace(scores, source=source),
        seen=seen,
        target_trees=bilingual.target.inference,
        propagation=options.propagation,
    )
