"""The conditions of joint parsing: models trained on a number of pairs, and their parses of other pairs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.bp.run import Status
from qsproj.corpus.sentence import Sentence, SentencePair, make_alignment
from qsproj.evaluation.attachment import attachment_scores
from qsproj.features.joint_templates import (
    FACTOR_TEMPLATES,
    FAMILIES,
    HASH_BITS,
    factor_buckets,
    word_hashes,
)
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_graph import JointWeights
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser, synchronous_parser
from qsproj.models.joint.joint_trees import TreeParser
from qsproj.pipelines.bilingual.cotrain import cotrain
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.joint.corpora import CORPORA, pairs_of, second_order_source_parser, source_parser
from scripts.experiments.joint.kept import Figures, Kept
from scripts.experiments.joint.setting import UNTIMED, Setting, train_jointly

ALONE = "target only"
SYNCHRONOUS = "synchronous"
MONO_PARSE, MONO_TRAINING = "QG-mono parse", "QG-mono training"
JOINT, PIPELINED, TRUE_SOURCE = "full QG, joint", "full QG, 1-best source", "full QG, true source"
SECOND_ALONE, SECOND_JOINT = "order 2, alone", "order 2, joint"
SECOND_PIPELINED = "order 2, 1-best source"
BOTH_SECOND = "order 2 on both sides, joint"
FIRST_TAUGHT = "taught by the joint parser of order 1"
SECOND_TAUGHT = "taught by the joint parser of order 2"
UNANNOTATED_PAIRS = 1000
# The key of the processor seconds of all that a user of `train-biparser` waits for.
TRAINING = "training seconds"

Measure = Callable[[Setting], Figures]


def alone(setting: Setting) -> Figures:
    """Score both parsers without each other; the times are the target's."""
    trees = [pair.target for pair in setting.train]
    train_arc_parser(trees[:UNTIMED], rng=np.random.default_rng(1), options=TrainingOptions())
    start = time.process_time()
    parser, _ = train_arc_parser(trees, rng=np.random.default_rng(1), options=TrainingOptions())
    seconds = time.process_time() - start
    found = accuracy_alone(parser, setting.test)
    return {**found, "source": source_accuracy(setting), TRAINING: seconds}


def second_order_alone(setting: Setting) -> Figures:
    """Score parsers of the second order without each other; the time is the target's."""
    found = accuracy_alone(setting.second_order.trained.parser, setting.test)
    return {**found, "source": source_accuracy(setting.with_second_source)}


def taught(order: int, setting: Setting) -> Figures:
    """Score a parser of the target alone that a joint parser has taught, on pairs without target trees."""
    joint = train_jointly(setting, BiparseOptions(order=order)).parser
    trees = [pair.target for pair in setting.train]
    others = setting.rest[-UNANNOTATED_PAIRS:]
    return accuracy_alone(cotrain(joint, trees, others, rng=np.random.default_rng(1))[0], setting.test)


def accuracy_alone(parser: TreeParser, pairs: Sequence[SentencePair]) -> Figures:
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
    trees = [setting.source.parse(sentence) for sentence in sentences]
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
    """Return a function that trains a joint model and scores it."""
    joint = JointOptions(families=families, source_tree=source_tree)
    chosen = BiparseOptions(order=order, joint=joint, training=options or JointTrainingOptions())

    def measure(setting: Setting) -> Figures:
        train_jointly(setting.warming, chosen)
        made = train_jointly(setting, chosen)
        statuses = made.report.statuses
        settled = 100 * statuses[Status.CONVERGED] / statuses.total()
        found = accuracy(made.parser, setting.test)
        return {**found, "converged in training": settled, TRAINING: made.seconds}

    return measure


def second_order_on_both_sides(setting: Setting) -> Figures:
    """Train a joint model of two parsers of the second order, and score it."""
    return trained("joint", order=2)(setting.with_second_source)


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
    ALONE: alone,
    SECOND_ALONE: second_order_alone,
    SYNCHRONOUS: synchronous,
    MONO_PARSE: untrained_mono,
    MONO_TRAINING: trained("joint", ("MONO",)),
    JOINT: trained("joint"),
    PIPELINED: trained("best"),
    TRUE_SOURCE: trained("observed"),
    SECOND_JOINT: trained("joint", order=2),
    SECOND_PIPELINED: trained("best", order=2),
    BOTH_SECOND: second_order_on_both_sides,
}
# A first-order parser of the target alone that a joint parser of either order has taught (thesis 5.3.1).
TAUGHT: dict[str, Measure] = {FIRST_TAUGHT: partial(taught, 1), SECOND_TAUGHT: partial(taught, 2)}
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
    """Measure the missing conditions of a corpus with a number of training pairs."""
    kept = Kept(lab, corpus)
    missing = kept.missing(size, conditions)
    if not missing:
        return
    train, test = pairs_of(lab, CORPORA[corpus])
    setting = Setting(
        source_parser(lab),
        train[:size],
        test,
        folder=kept.folder(size),
        rest=train[size:],
        second_source=partial(second_order_source_parser, lab),
    )
    for condition in missing:
        kept.measured(size, condition, partial(measures[condition], setting))
