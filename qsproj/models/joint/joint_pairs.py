"""Training of a joint parser on pairs: preparation, examples, fit, and further training."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.bp.run import Status
from qsproj.conventions import MAX_WORDS, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import NothingToLearnError, listed_reasons, pluralise
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.joint import joint_options, joint_training, joint_trees
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.models.joint.tag_choices import GIVEN, TagChoices, TargetTags, learned_tags
from qsproj.models.tree_decoder import reachable
from qsproj.training.loop import EpochRecord

NO_LINK = "no candidate link"
_MORE_EPOCHS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JointData:
    """Inputs of joint training, see :func:`prepare`.

    ``parser``: untrained. ``target``: scores of the pairs' targets. ``skipped``: other pairs, by reason.
    """

    parser: JointParser
    pairs: Sequence[SentencePair]
    target: joint_trees.TrainedTarget
    tags: TargetTags
    skipped: dict[str, int]
    stages: Checkpoint | None


def prepare(
    pairs: Iterable[SentencePair],
    source: joint_trees.TreeParser,
    *,
    rng: np.random.Generator,
    options: joint_options.BiparseOptions,
    target: joint_trees.TrainedTarget | joint_trees.TreeParser | None = None,
    checkpoint: Checkpoint | None = None,
) -> JointData:
    usable, skipped = usable_pairs(pairs)
    if len(usable) < 2:
        found = pluralise(len(usable), "pair")
        left_out = f"left out: {listed_reasons(skipped)}"
        expected = "two or more with whole target trees and candidate links"
        raise NothingToLearnError(f"found {found} to learn from, expected {expected}; {left_out}")
    tags, training, shape = GIVEN, options.target_training, options.joint
    if options.tags != "given":
        if options.tags == "joint":
            shape = replace(shape, tag_threshold=shape.tag_threshold or joint_options.TAG_THRESHOLD)
        tags, usable = learned_tags(usable, rng=rng, threshold=shape.tag_threshold)
        # Words seen only by the tagger have no other features.
        training = replace(training, template_set=training.template_set or "words")
    given = None if isinstance(target, joint_trees.TrainedTarget) else target
    stages = None
    if checkpoint is not None:
        true = [replace(pair, target=own) for pair, own in zip(usable, tags.true or (), strict=False)]
        parsers = [source] if given is None else [source, given]
        stages = joint_trees.kept_stages(checkpoint, [*usable, *true], parsers, rng=rng, options=options)
    least = shape.least_probability
    if given is not None:
        target = joint_trees.given_target(usable, given, least_probability=least, tags=tags)
    elif not isinstance(target, joint_trees.TrainedTarget):
        target = joint_trees.train_target(
            usable,
            rng=rng,
            stages=stages,
            tags=tags,
            training=training,
            order=options.order,
            least_probability=least,
        )
    parser = JointParser(
        source=source,
        target=target.parser,
        weights=JointWeights.untrained(),
        options=shape,
        tagger=tags.tagger,
    )
    return JointData(parser=parser, pairs=usable, target=target, tags=tags, skipped=skipped, stages=stages)


def examples_of(data: JointData) -> list[joint_training.JointExample]:
    rows = enumerate(zip(data.pairs, data.target.scores, strict=True))
    return [joint_example(data.parser, *row, *data.tags.of(number)) for number, row in rows]


def fit(
    data: JointData,
    examples: Sequence[joint_training.JointExample],
    *,
    rng: np.random.Generator,
    options: joint_options.BiparseOptions,
    notify: Callable[[str], None] = lambda _: None,
) -> tuple[JointParser, list[EpochRecord], list[Counter[Status]]]:
    weights, records, statuses = joint_training.train_joint_weights(
        examples, rng=rng, options=options.training, stages=data.stages, notify=notify
    )
    trained = replace(data.parser, weights=weights, training=options.training)
    unseen = data.target.unseen
    if options.labels == "joint":
        trained = joint_training.with_joint_labeller(trained, data.pairs, examples, rng=rng, unseen=unseen)
    return trained, records, statuses


def train_on_more_pairs(
    parser: JointParser, pairs: Iterable[SentencePair], *, rng: np.random.Generator
) -> JointParser:
    """Return a joint parser whose joint weights are trained on more pairs; its two parsers stay.

    The target parser must not have seen their trees. Hand links are added to the candidates, and observed.
    """
    usable, skipped = usable_pairs(map(_with_hand_links, pairs))
    if not usable:
        raise NothingToLearnError(f"found no pair to learn from; left out: {listed_reasons(skipped)}")
    if parser.options.families == (joint_options.SYNCH,):
        return parser
    least = parser.options.least_probability
    target = joint_trees.given_target(usable, parser.target, least_probability=least)
    scored = zip(usable, target.scores, strict=True)
    examples = [joint_example(parser, pair, scores, None, None) for pair, scores in scored]
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


def joint_example(
    parser: JointParser,
    pair: SentencePair,
    scores: joint_trees.TreeScores,
    choices: TagChoices | None,
    target_tags: NDArray[np.int8] | None,
) -> joint_training.JointExample:
    heads = reachable(pair.target.heads, parser.target.inference)
    prepared = parser.prepare(pair, target_scores=scores, choices=choices)
    states = source_heads = None
    if pair.hand is not None:
        states = joint_training.observed_links(pair.alignment, pair.hand, parser.options.families)
    if not prepared.structure.source.observed:
        source_heads = joint_trees.monolingual_heads(parser.source, pair.source)
    return joint_training.JointExample(prepared, heads, states, source_heads, target_tags)


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
