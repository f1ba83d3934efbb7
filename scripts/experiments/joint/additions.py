"""ALIGNITG, factors over two arcs of either side, and target trees learned from without a source, on dev files.

Additions to the joint model, with gold tags and 1-best source trees; of XL-WA, links alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.features.joint_templates import EVERY_FAMILY, FAMILIES
from qsproj.models.joint.joint_alignment import train_link_chooser
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_structure import within_itg
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.choose_links import CANDIDATE_THRESHOLD
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.conditions import accuracy, accuracy_alone
from scripts.experiments.joint.corpora import CORPORA, dev_pairs_of, source_parser
from scripts.experiments.joint.kept import Figures, Kept
from scripts.experiments.joint.links import bitext, error_rate, hand_files, hand_links, likely
from scripts.experiments.joint.setting import Setting, train_jointly
from scripts.experiments.pages.channel import ALL, FIXED, JOINT, NULL, WITH_PAIRS, additions, row_of_arcs

ALONE = "the trees alone"
ALIGNER = "the aligner"
PLAIN = "ALIGN and fertilities"
# The words of a side, in the geometric mean, of the pairs that are trained on and tested.
SHORT = 15
SHORT_TRAINED, SHORT_TESTED = 80, 200
NULL_TRAINED = 100
ALIGNED = 5350
ITG: dict[str, tuple[str, ...] | None] = {
    ALONE: None,
    "MONO": ("MONO",),
    "MONO and ALIGNITG": ("MONO", "ITG"),
    "MONO and ALIGNHMM over source words": ("MONO", "SOURCEHMM"),
}
LINKS: dict[str, tuple[str, ...] | None] = {
    ALIGNER: None,
    PLAIN: (),
    "with ALIGNHMM over source words": ("SOURCEHMM",),
    "with ALIGNITG": ("ITG",),
}
WEIGHTS = {FIXED: ("fixed", False), JOINT: ("joint", False), NULL: ("joint", True)}
ARCS: dict[tuple[int, str], tuple[str, ...]] = {
    (order, what): families
    for order in (1, 2)
    for what, families in ((ALL, FAMILIES), (WITH_PAIRS, EVERY_FAMILY))
}
ARCS_TRAINED = (100, 200)
PARTS = ("itg", "arcs", "links", "null")


@dataclass(frozen=True)
class Parsing:
    """Pairs of a corpus to train on and to test on; short ones alone, where ``size`` is that of short ones."""

    lab: Lab
    corpus: str
    size: int
    short: bool = False

    @cached_property
    def setting(self) -> Setting:
        train, dev = dev_pairs_of(self.lab, CORPORA[self.corpus])
        if self.short:
            train, dev = ([pair for pair in side if is_short(pair)] for side in (train, dev))
            dev = dev[:SHORT_TESTED]
        return Setting(source_parser(self.lab), train[: self.size], dev)

    def trained(self, families: tuple[str, ...], *, weights: str, null: bool, epochs: int) -> JointParser:
        return train_joint_parser(
            self.setting.train,
            self.setting.source,
            rng=np.random.default_rng(1),
            target=self.setting.target,
            options=BiparseOptions(
                labels="after",
                target_weights=weights,
                joint=JointOptions(families=families, source_tree="best"),
                training=JointTrainingOptions(epochs=epochs, null_source=null),
            ),
        )[0]

    def itg(self, families: tuple[str, ...] | None) -> Figures:
        """Parse by a joint model of some families; None: without a source."""
        if families is None:
            return accuracy_alone(self.setting.target.parser, self.setting.test)
        return accuracy(self.trained(families, weights="fixed", null=False, epochs=5), self.setting.test)

    def arcs(self, order: int, families: tuple[str, ...]) -> Figures:
        """Parse by a joint model of some families beside a target parser of an order."""
        options = BiparseOptions(
            order=order, labels="after", joint=JointOptions(families=families, source_tree="best")
        )
        return accuracy(train_jointly(self.setting, options).parser, self.setting.test)

    def null(self, weights: str, null: bool) -> Figures:
        """Parse by a joint model, and by its target side alone."""
        joint = self.trained(("MONO",), weights=weights, null=null, epochs=6)
        alone = accuracy_alone(joint.target, self.setting.test)["target"]
        return {"alone": alone, "target": accuracy(joint, self.setting.test)["target"]}


def is_short(pair: SentencePair) -> bool:
    return len(pair.source) * len(pair.target) <= SHORT**2


@dataclass(frozen=True)
class Choosing:
    """Pairs of XL-WA with hand alignments: one half teaches, the other is tested."""

    lab: Lab

    @cached_property
    def pairs(self) -> list[SentencePair]:
        """Pairs with the aligner's candidates, and links by hand."""
        words = bitext(self.lab)[:ALIGNED]
        hand = hand_links(self.lab, "dev")
        links = align_words(words, threshold=CANDIDATE_THRESHOLD)
        return [
            SentencePair(Sentence.from_words(source), Sentence.from_words(target), own, hand=gold)
            for (source, target), own, gold in zip(words, links, hand, strict=False)
        ]

    def errors(self, families: tuple[str, ...] | None) -> Figures:
        """Return the AER of all tested pairs, and of those within the limit of ALIGNITG."""
        half = len(self.pairs) // 2
        taught, tested = self.pairs[:half], self.pairs[half:]
        if families is None:
            found = [likely(pair.alignment) for pair in tested]
        else:
            options = JointTrainingOptions(rate=0.1, l2=5.0, epochs=5)
            rng = np.random.default_rng(1)
            chooser = train_link_chooser(taught, rng=rng, families=families, options=options)
            found = [chooser.align(replace(pair, hand=None), counted=True) for pair in tested]
        inside = [within_itg(pair.alignment.links) for pair in tested]
        gold = [pair.hand for pair in tested if pair.hand is not None]
        return {
            "pairs": len(tested),
            "within": sum(inside),
            "AER": error_rate(gold, found),
            "AER within": error_rate(list(compress(gold, inside)), list(compress(found, inside))),
        }


def cells(lab: Lab, part: str) -> dict[str, tuple[Callable[[], Figures], Source]]:
    """Return what measures each row of a table, and what it depends on."""
    if part == "links":
        choosing = Choosing(lab)
        return {
            name: (partial(choosing.errors, families), {"options": {"links": name}, "data": hand_files(lab)})
            for name, families in LINKS.items()
        }
    if part == "itg":
        short = Parsing(lab, "lines", SHORT_TRAINED, short=True)
        kept = Kept(lab, short.corpus)
        return {
            name: (partial(short.itg, families), kept.source(short.size, f"{part}: {name}"))
            for name, families in ITG.items()
        }
    if part == "arcs":
        return {
            row_of_arcs(order, what, size): (
                partial(parsing.arcs, order, families),
                Kept(lab, parsing.corpus).source(size, f"{part}: {order}, {what}"),
            )
            for size, parsing in ((size, Parsing(lab, "lines", size)) for size in ARCS_TRAINED)
            for (order, what), families in ARCS.items()
        }
    few = Parsing(lab, "partut", NULL_TRAINED)
    kept = Kept(lab, few.corpus)
    return {
        name: (partial(few.null, *weights), kept.source(few.size, f"{part}: {name}"))
        for name, weights in WEIGHTS.items()
    }


def found(lab: Lab, part: str) -> dict[str, Figures]:
    """Return the figures of a table by row: measured, where it is chosen, or else kept; none of others."""
    figures = {}
    for name, (measure, source) in cells(lab, part).items():
        if part in lab.options.parts:
            figures[name] = lab.cache.figures(part, measure, **source)
        elif (kept := lab.cache.kept(part, **source)) is not None:
            figures[name] = kept
        else:
            figures[name] = {}
    return figures


def run(lab: Lab) -> PageFigures:
    itg, arcs, links, null = (found(lab, part) for part in PARTS)
    return PageFigures(
        tables={
            "itg": shown(itg, {"target": "Swedish UAS", "milliseconds": "ms a parse"}),
            "arcs": shown(
                arcs,
                {"target": "Swedish UAS", "target LAS": "Swedish LAS", "milliseconds": "ms a parse"},
                digits=2,
            ),
            "links": shown(links, {"AER": "AER, all pairs", "AER within": "AER, pairs within the limit"}),
            "null": shown(null, {"alone": "target side alone", "target": "with the source"}),
            "pairs": shown(
                {ALIGNER: links[ALIGNER]}, {"pairs": "tested", "within": "within the limit"}, digits=0
            ),
        }
    )


def shown(figures: dict[str, Figures], columns: dict[str, str], *, digits: int = 1) -> Table:
    """Lay out figures by row; those that are not there are empty cells."""
    return table(
        ["", *columns.values()],
        [
            [name, *(f"{figures[name][key]:.{digits}f}" if key in figures[name] else "" for key in columns)]
            for name in figures
        ],
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "tables to measure; others are of what is kept (default: all)"
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS), help=text)


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="joint-additions",
    reading=additions,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
