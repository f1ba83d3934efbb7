"""The conditions of joint parsing: what is trained on a number of pairs, and how it parses others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from qsproj.bp.status import Status
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.evaluation.attachment import attachment_scores
from qsproj.features.joint_templates import (
    FACTOR_TEMPLATES,
    FAMILIES,
    HASH_BITS,
    factor_buckets,
    word_hashes,
)
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.checkpoint import Checkpoint
from qsproj.models.epoch_keeping import KeptStages
from qsproj.models.joint.joint_options import JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser, synchronous_parser
from qsproj.models.joint.joint_trees import Parser
from qsproj.models.joint.joint_weights import JointWeights
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.biparse_options import BiparseOptions
from qsproj.pipelines.bilingual.biparse_reports import JointTrainingReport
from qsproj.pipelines.bilingual.target_parsers import TrainedTarget, train_target
from scripts.experiments.harness.build import DIGITS, hash_of
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.joint.corpora import CORPORA, pairs_of, source_parser
from scripts.experiments.joint.kept import Figures, Kept

TARGET_ONLY = "target only"
JOINT = "full QG, joint"
PIPELINED = "full QG, 1-best source"
TRUE_SOURCE = "full QG, true source"
SYNCHRONOUS = "synchronous"
MONO_PARSE = "QG-mono parse"
MONO_TRAINING = "QG-mono training"
SECOND_ALONE = "order 2, alone"
SECOND_JOINT = "order 2, joint"
SECOND_PIPELINED = "order 2, 1-best source"

# The first pairs load and compile kernels; their time does not count.
UNTIMED = 10


@dataclass(frozen=True)
class Setting:
    """A number of training pairs, and what all conditions share of what is learned from them."""

    source: ArcParser
    train: list[SentencePair]
    test: list[SentencePair]
    # Where training keeps what it has done, so that a run that was broken off goes on; None: nowhere.
    folder: Path | None = None
    # The pairs of the training file after those that are trained on.
    rest: Sequence[SentencePair] = ()

    @cached_property
    def target(self) -> TrainedTarget:
        """The target parser, with the scores of others that have not seen their trees."""
        return self._target(1)

    @cached_property
    def second_order(self) -> TrainedTarget:
        """The same, of the second order."""
        return self._target(2)

    def _target(self, order: int) -> TrainedTarget:
        name = f"order-{order}"
        state = self.checkpoint(name)
        stages = None if state is None else KeptStages(checkpoint=state, fingerprint=name)
        return train_target(self.train, rng=np.random.default_rng(1), order=order, stages=stages)

    def checkpoint(self, name: str) -> Checkpoint | None:
        """Return where a training is kept."""
        if self.folder is None:
            return None
        state = Checkpoint(folder=self.folder / name, resume=True)
        state.make_folder()
        return state


Measure = Callable[[Setting], Figures]


def alone(setting: Setting) -> Figures:
    """Score both parsers without each other; the time is the target's."""
    trees = [pair.target for pair in setting.train]
    parser, _ = train_arc_parser(trees, rng=np.random.default_rng(1), options=TrainingOptions())
    return {**accuracy_alone(parser, setting.test), "source": source_accuracy(setting)}


def second_order_alone(setting: Setting) -> Figures:
    """Score a second-order parser of the target; the time is its."""
    return accuracy_alone(setting.second_order.parser, setting.test)


def accuracy_alone(parser: Parser, pairs: Sequence[SentencePair]) -> Figures:
    """Score a parser of the target, sentence after sentence."""
    trees, seconds = [], 0.0
    for number, pair in enumerate(pairs):
        start = time.process_time()
        trees.append(parser.parse(pair.target))
        seconds += time.process_time() - start if number >= UNTIMED else 0.0
    return {**target_scores(trees, pairs), "milliseconds": 1000 * seconds / max(len(pairs) - UNTIMED, 1)}


def target_scores(trees: Sequence[Sentence], pairs: Sequence[SentencePair]) -> Figures:
    """Return UAS and LAS of target trees."""
    (scores,) = attachment_scores([pair.target for pair in pairs], [trees])
    return {"target": scores.uas, "target LAS": scores.las}


def source_accuracy(setting: Setting) -> float:
    """Return the UAS of the source parser alone."""
    sentences = [pair.source for pair in setting.test]
    trees = setting.source.parse_all(sentences)
    right = sum(
        int((tree.heads == gold.heads)[1:].sum()) for tree, gold in zip(trees, sentences, strict=True)
    )
    return 100 * right / sum(map(len, sentences))


def untrained_mono(setting: Setting) -> Figures:
    """Join two parsers by MONO with log-potential 1, all candidate links alike."""
    weights = np.zeros(1 << HASH_BITS)
    words = word_hashes(setting.test[0].source)
    mono = np.array([FAMILIES.index("MONO")], dtype=np.int8)
    # The template without atoms: its feature is there whatever the words.
    bias = factor_buckets(mono, np.zeros((1, 4), np.int32), words, words)[0, FACTOR_TEMPLATES.index(())]
    weights[bias] = 1.0
    parser = JointParser(
        source=setting.source,
        target=setting.target.parser,
        weights=JointWeights(weights, 1.0),
        options=JointOptions(families=("MONO",)),
    )
    return accuracy(parser, [unweighted(pair) for pair in setting.test])


def unweighted(pair: SentencePair) -> SentencePair:
    """Return the pair with equally likely links."""
    links = pair.alignment
    even = make_alignment(links.n_source, links.n_target, links.links, weights=np.full(len(links.links), 0.5))
    return replace(pair, alignment=even)


def synchronous(setting: Setting) -> Figures:
    """Join two parsers by SYNCH."""
    return accuracy(synchronous_parser(setting.source, setting.target.parser), setting.test)


def trained(
    source_tree: str,
    families: tuple[str, ...] = FAMILIES,
    options: JointTrainingOptions | None = None,
    *,
    order: int = 1,
) -> Measure:
    """Return what trains a joint model and scores it."""
    joint = JointOptions(families=families, source_tree=source_tree)
    chosen = BiparseOptions(order=order, joint=joint, training=options or JointTrainingOptions())

    def measure(setting: Setting) -> Figures:
        parser, report = train_jointly(setting, chosen)
        settled = 100 * report.statuses[Status.CONVERGED] / report.statuses.total()
        return {**accuracy(parser, setting.test), "converged in training": settled}

    return measure


def train_jointly(setting: Setting, options: BiparseOptions) -> tuple[JointParser, JointTrainingReport]:
    """Train a joint model beside the target parser that others share."""
    return train_joint_parser(
        setting.train,
        setting.source,
        rng=np.random.default_rng(1),
        target=setting.target if options.order == 1 else setting.second_order,
        options=options,
        checkpoint=setting.checkpoint(hash_of([str(options).encode()])[:DIGITS]),
    )


def accuracy(parser: JointParser, pairs: Sequence[SentencePair]) -> Figures:
    """Parse pairs and score the trees of both sides; count seconds, and runs that converged."""
    counts: Counter[str] = Counter()
    trees, seconds = [], 0.0
    for number, pair in enumerate(pairs):
        start = time.process_time()
        parsed = parser.parse_pair(pair.source, pair.target, pair.alignment)
        seconds += time.process_time() - start if number >= UNTIMED else 0.0
        trees.append(parsed.target)
        counts["source"] += int((parsed.source.heads == pair.source.heads)[1:].sum())
        counts["source words"] += len(pair.source)
        counts["converged"] += parsed.status is Status.CONVERGED
    return {
        **target_scores(trees, pairs),
        "source": 100 * counts["source"] / counts["source words"],
        "milliseconds": 1000 * seconds / max(len(pairs) - UNTIMED, 1),
        "converged": 100 * counts["converged"] / len(pairs),
    }


CONDITIONS: dict[str, Measure] = {
    TARGET_ONLY: alone,
    SYNCHRONOUS: synchronous,
    MONO_PARSE: untrained_mono,
    JOINT: trained("joint"),
    PIPELINED: trained("best"),
    TRUE_SOURCE: trained("observed"),
    MONO_TRAINING: trained("joint", ("MONO",)),
    SECOND_ALONE: second_order_alone,
    SECOND_JOINT: trained("joint", order=2),
    SECOND_PIPELINED: trained("best", order=2),
}
# Measured on dev, where choices may be made.
ABLATIONS: dict[str, Measure] = {
    "without source evidence": trained("joint", options=JointTrainingOptions(source_evidence=0.0)),
    "without SGRAND and SSIB": trained(
        "joint", tuple(name for name in FAMILIES if name not in ("SGRAND", "SSIB"))
    ),
    "without grandparents and siblings": trained("joint", FAMILIES[:4]),
    "QG-mono training, 1-best source": trained("best", ("MONO",)),
    "QG-mono training, true source": trained("observed", ("MONO",)),
}


def measure_missing(
    lab: Lab,
    corpus: str,
    size: int,
    *,
    conditions: Sequence[str],
    measures: Mapping[str, Callable[[Setting], Figures]],
) -> None:
    """Measure those conditions of a corpus, with a number of training pairs, that are not kept."""
    kept = Kept(lab, corpus)
    missing = kept.missing(size, conditions)
    if not missing:
        return
    train, test = pairs_of(lab, CORPORA[corpus])
    setting = Setting(source_parser(lab), train[:size], test, folder=kept.folder(size), rest=train[size:])
    for condition in missing:
        kept.measured(size, condition, partial(measures[condition], setting))
