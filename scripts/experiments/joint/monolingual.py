"""Measure parsers of the target alone, trained with a bitext (thesis 5.3); tags are gold.

Besides the pairs with target trees there are up to 1,000 more, the last ones in the random order, whose target trees are
not used.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.joint.joint_graph import JointWeights
from qsproj.models.joint.joint_options import JointOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import TreeParser
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.cotrain import NoisyChannelOptions, cotrain, train_noisy_channel
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.joint.conditions import ALONE, accuracy, accuracy_alone
from scripts.experiments.joint.corpora import CORPORA, pairs_of, source_parser
from scripts.experiments.joint.kept import Kept, figure_table

SIZES = {"lines": (100, 200), "partut": (200,)}
UNANNOTATED_PAIRS = 1000
SELF_TRAINED = "self-trained"
ONE_ROUND = "co-trained, one round"
TWO_ROUNDS = "co-trained, two rounds"
NOISY_CHANNEL = "noisy channel"
ALL_FACTORS = "noisy channel, all factors"
SOURCE_WORDS = "noisy channel, source words too"
AFTER_CO_TRAINING = "co-trained, one round, then noisy channel"
BILINGUAL = "full QG, joint, with the source"
CONDITIONS = (
    ALONE,
    SELF_TRAINED,
    ONE_ROUND,
    TWO_ROUNDS,
    SOURCE_WORDS,
    ALL_FACTORS,
    NOISY_CHANNEL,
    AFTER_CO_TRAINING,
    BILINGUAL,
)


def parsers(
    joint: JointParser, train: list[SentencePair], others: list[SentencePair]
) -> Iterator[tuple[str, TreeParser]]:
    """Yield the target parsers after training with the joint model, by condition."""
    trees = [pair.target for pair in train]

    def through_channel(model: JointParser, options: NoisyChannelOptions | None = None) -> ArcParser:
        rng = np.random.default_rng(1)
        return train_noisy_channel(model, trees, others, rng=rng, options=options)[0]

    yield ALONE, joint.target
    # Weights of zero: the sides do not interact, so the result is the target parser's own belief.
    apart = replace(
        joint, weights=JointWeights.untrained(), options=JointOptions(families=(), source_tree="best")
    )
    yield SELF_TRAINED, cotrain(apart, trees, others, rng=np.random.default_rng(1))[0]
    yield NOISY_CHANNEL, through_channel(joint)
    yield SOURCE_WORDS, through_channel(joint, NoisyChannelOptions(source_scale=1.0))
    yield ALL_FACTORS, through_channel(joint, NoisyChannelOptions(families=FAMILIES))
    rng = np.random.default_rng(1)
    once = replace(joint, target=cotrain(joint, trees, others, rng=rng)[0])
    yield ONE_ROUND, once.target
    yield AFTER_CO_TRAINING, through_channel(once)
    yield TWO_ROUNDS, cotrain(once, trees, others, rng=rng)[0]


def measure(lab: Lab, corpus: str, size: int) -> None:
    """Measure all missing conditions of a corpus."""
    kept = Kept(lab, corpus)
    if not kept.missing(size, CONDITIONS):
        return
    train, test = pairs_of(lab, CORPORA[corpus])
    first, last = train[:size], train[size:][-UNANNOTATED_PAIRS:]
    joint, _ = train_joint_parser(first, source_parser(lab), rng=np.random.default_rng(1))
    kept.measured(size, BILINGUAL, lambda: accuracy(joint, test))
    for condition, alone in parsers(joint, first, last):
        kept.measured(size, condition, partial(accuracy_alone, alone, test))


def run(lab: Lab) -> PageFigures:
    for corpus in lab.options.corpora:
        for size in lab.options.sizes or SIZES[corpus]:
            measure(lab, corpus, size)
    named = {corpus: Kept(lab, corpus).results(SIZES[corpus], CONDITIONS) for corpus in SIZES}
    shown = {corpus: results for corpus, results in named.items() if results}
    return PageFigures(
        tables={corpus: figure_table(results, "target", CONDITIONS) for corpus, results in shown.items()},
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpora", nargs="*", choices=list(SIZES), default=list(SIZES), help="default: all")
    parser.add_argument(
        "--sizes", nargs="*", type=int, help="numbers of pairs with trees (default: the corpus's)"
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
