"""Training pairs of a joint model: their selection, their examples, and further training."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import MAX_WORDS, is_whole
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import SentencePair, make_alignment
from qsproj.errors import NothingToLearnError, listed_reasons
from qsproj.models.joint import joint_options, joint_training, joint_trees
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.tag_choices import TagChoices
from qsproj.models.tree_decoder import reachable

NO_LINK = "no candidate link"
_MORE_EPOCHS = 3


def train_on_more_pairs(
    parser: JointParser, pairs: Iterable[SentencePair], *, rng: np.random.Generator
) -> JointParser:
    """Return a joint parser whose joint weights are trained on more pairs; its two parsers stay.

    The target parser must not have seen their trees. Hand links are added to the candidates, and observed.
    A parser of SYNCH, which has no such weights, stays unchanged.
    """
    usable, skipped = usable_pairs(map(_with_hand_links, pairs))
    if not usable:
        raise NothingToLearnError(f"found no pair to learn from; left out: {listed_reasons(skipped)}")
    if parser.options.families == (joint_options.SYNCH,):
        return parser
    least = parser.options.least_probability
    target = joint_trees.given_target(usable, parser.target, least_probability=least)
    examples = [
        joint_example(parser, pair, scores, None, None)
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


def joint_example(
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
        joint_trees.monolingual_heads(parser.source, pair.source) if inferred else None,
        target_tags,
    )


def usable_pairs(
    pairs: Iterable[SentencePair], *, with_trees: bool = True
) -> tuple[list[SentencePair], dict[str, int]]:
    """Leave out pairs that training cannot use, and count them by reason."""
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
