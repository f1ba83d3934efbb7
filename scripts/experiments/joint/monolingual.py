"""Measure parsers of the target alone that bitext has taught (thesis 5.3); `joint/report.py` writes the document.

    QSPROJ_DATA=../shared/data python -m scripts.experiments.joint.monolingual --work FOLDER CORPUS SIZE

FOLDER is that of joint/parsing.py; the figures are CORPUS-SIZE-monolingual.json. Beside SIZE pairs with target
trees there are up to 1,000 more, the last ones in the random order, whose target trees are not looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.features.joint_templates import FAMILIES
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.cotrain import cotrain
from qsproj.pipelines.bilingual.noisy_channel import NoisyChannelOptions, train_noisy_channel
from scripts.experiments.joint.corpora import CORPORA, pairs_of, source_parser
from scripts.experiments.joint.parsing import TARGET_ONLY, Record, accuracy, accuracy_alone

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
    TARGET_ONLY,
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
) -> Iterator[tuple[str, ArcParser]]:
    """Yield what the joint model's target parser becomes, by condition."""
    trees = [pair.target for pair in train]

    def through_channel(model: JointParser, options: NoisyChannelOptions | None = None) -> ArcParser:
        rng = np.random.default_rng(1)
        return train_noisy_channel(model, trees, others, rng=rng, options=options)[0]

    yield TARGET_ONLY, joint.target
    # Weights of zero: the two sides do not meet, and what is handed over is the target parser's own belief.
    apart = replace(joint, weights=JointWeights.untrained(), families=(), source_tree="best")
    yield SELF_TRAINED, cotrain(apart, trees, others, rng=np.random.default_rng(1))[0]
    yield NOISY_CHANNEL, through_channel(joint)
    yield SOURCE_WORDS, through_channel(joint, NoisyChannelOptions(source_scale=1.0))
    yield ALL_FACTORS, through_channel(joint, NoisyChannelOptions(families=FAMILIES))
    rng = np.random.default_rng(1)
    once = replace(joint, target=cotrain(joint, trees, others, rng=rng)[0])
    yield ONE_ROUND, once.target
    yield AFTER_CO_TRAINING, through_channel(once)
    yield TWO_ROUNDS, cotrain(once, trees, others, rng=rng)[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for models, links and figures")
    parser.add_argument("corpus", choices=list(CORPORA))
    parser.add_argument("size", type=int, help="number of pairs with target trees")
    options = parser.parse_args()
    record = Record.of(options.work, options.corpus, f"{options.size}-monolingual")
    if all(condition in record.figures for condition in CONDITIONS):
        return
    train, test = pairs_of(CORPORA[options.corpus], options.work)
    first, last = train[: options.size], train[options.size :][-UNANNOTATED_PAIRS:]
    joint, _ = train_joint_parser(first, source_parser(options.work), rng=np.random.default_rng(1))
    record.add(BILINGUAL, accuracy(joint, test))
    for condition, alone in parsers(joint, first, last):
        record.add(condition, accuracy_alone(alone, test))


if __name__ == "__main__":
    main()
