"""Measure the gain of a noisy channel by kind of source trees, number of target trees, and punctuation (thesis 5.3.2).

First-order target parsers on gold tags. Besides the target trees there are 400 pairs without, the last ones in the
random order. The test data are the first 250 sentences of the dev file, and as many from the middle of the training
file, which no parser was trained on.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from qsproj.corpus.sentence import SentencePair
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.models.joint.joint_parser import JointParser
from qsproj.models.joint.joint_trees import TreeParser
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.bilingual.cotrain import NoisyChannelOptions, train_noisy_channel
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures as PageFigures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.joint.corpora import CORPORA, dev_pairs_of, parallel_arcs, source_parser
from scripts.experiments.joint.kept import Figures, Kept

ALONE = "nothing: target trees alone"
BEST, GOLD = "the source parser's best tree", "the gold source tree"
OTHERS = 400
TESTED = 250
PARTS = {"dev": "dev", "held out": "training file"}
EXPLAINED = {
    ALONE: None,
    BEST: NoisyChannelOptions(),
    "agreement with all of its trees": NoisyChannelOptions(source_forest="agreement"),
    GOLD: NoisyChannelOptions(),
}
MONO = "MONO"
ALL_FAMILIES = "all families"
CHANNELS = {
    MONO: BiparseOptions(
        labels="after",
        joint=JointOptions(families=("MONO",), source_tree="best"),
        training=JointTrainingOptions(epochs=6),
    ),
    ALL_FAMILIES: BiparseOptions(labels="after"),
}
COMPARED = (ALONE, BEST, GOLD)
# Statistics of the bitexts, and their number of digits.
OFFERED = (("length", 1), ("links", 2), ("arcs", 2), ("parallel", 1), ("English", 1))


@dataclass(frozen=True)
class Row:
    """One joint model used as the channel, and the training through it; size 0 uses only the bitext."""

    corpus: str
    size: int
    explained: tuple[str, ...] = ()
    channel: str = MONO

    @property
    def name(self) -> str:
        more = "" if self.channel == MONO else f", {self.channel}"
        return f"{self.corpus} {self.size or 'bitext'}{more}"

    def key(self, explained: str) -> str:
        return f"{self.channel}: {explained}"


ROWS = (
    Row("lines", 200, tuple(EXPLAINED)),
    Row("partut", 200, tuple(EXPLAINED)),
    Row("partut", 50, COMPARED),
    Row("lines", 600, COMPARED),
    Row("partut", 200, tuple(EXPLAINED)[1:], ALL_FAMILIES),
)
BITEXTS = (Row("lines", 0), Row("partut", 0))


@dataclass(frozen=True)
class Setting:
    """A corpus, and the parts that all parsers with the same number of target trees share."""

    lab: Lab
    corpus: str
    size: int
    channel: str = MONO

    @cached_property
    def pairs(self) -> tuple[list[SentencePair], list[SentencePair]]:
        """Those of the training file, in random order, and those of the dev file."""
        return dev_pairs_of(self.lab, CORPORA[self.corpus])

    @property
    def others(self) -> list[SentencePair]:
        """The pairs whose target trees are not used."""
        return self.pairs[0][::-1][:OTHERS]

    @property
    def tests(self) -> dict[str, list[SentencePair]]:
        """The test data, by the keys of PARTS."""
        train, dev = self.pairs
        return {"dev": dev[:TESTED], "held out": train[len(train) // 2 :][:TESTED]}

    @cached_property
    def joint(self) -> JointParser:
        return train_joint_parser(
            self.pairs[0][: self.size],
            source_parser(self.lab),
            rng=np.random.default_rng(1),
            options=CHANNELS[self.channel],
        )[0]

    def parser(self, explained: str) -> TreeParser:
        """Learn a parser of the target."""
        options = EXPLAINED[explained]
        if options is None:
            return self.joint.target
        tree = "observed" if explained == GOLD else "best"
        model = replace(self.joint, options=replace(self.joint.options, source_tree=tree))
        trees = [pair.target for pair in self.pairs[0][: self.size]]
        rng = np.random.default_rng(1)
        return train_noisy_channel(model, trees, self.others, rng=rng, options=options)[0]

    def counted(self, explained: str) -> Figures:
        """Count words and right heads, with punctuation by itself."""
        parser = self.parser(explained)
        counts: Counter[str] = Counter()
        for part, pairs in self.tests.items():
            for gold in (pair.target for pair in pairs):
                right = (parser.parse(gold).heads == gold.heads)[1:].tolist()
                for relation, one in zip(gold.deprels, right, strict=True):
                    kind = "punctuation" if relation.split(":")[0] == "punct" else "words"
                    counts[f"{part} {kind}"] += 1
                    counts[f"{part} right {kind}"] += one
        return dict(counts)

    def offered(self) -> Figures:
        """Return statistics of the pairs without target trees."""
        words = sum(len(pair.target) for pair in self.others)
        arcs = [same for pair in self.others for same in parallel_arcs(pair)]
        likely = sum(
            int((pair.alignment.weights >= 0.5).sum())
            for pair in self.others
            if pair.alignment.weights is not None
        )
        english = [pair.source for pair in self.others]
        parser = source_parser(self.lab)
        right = sum(int((parser.parse(gold).heads == gold.heads)[1:].sum()) for gold in english)
        return {
            "length": words / len(self.others),
            "links": likely / words,
            "arcs": len(arcs) / words,
            "parallel": 100 * sum(arcs) / len(arcs),
            "English": 100 * right / sum(map(len, english)),
        }


Found = dict[tuple[str, str], Figures]
PUNCTUATION, WORDS = "punctuation", "words"


def run(lab: Lab) -> PageFigures:
    found: Found = {}
    for row in ROWS:
        setting = Setting(lab, row.corpus, row.size, row.channel)
        for explained in row.explained:
            measure = partial(setting.counted, explained)
            figures = chosen(lab, row, row.key(explained), measure)
            if figures is not None:
                found[row.name, explained] = figures
    offers = {
        row.corpus: figures
        for row in BITEXTS
        if (figures := chosen(lab, row, "bitext", Setting(lab, row.corpus, row.size).offered)) is not None
    }
    return PageFigures(
        tables={
            "explained": by_explained(found, ROWS[:2], EXPLAINED),
            "families": by_explained(found, ROWS[-1:], ROWS[-1].explained),
            "trees": by_trees(found),
            "punctuation": punctuation(found),
            "bitexts": bitexts(offers),
        }
    )


def chosen(lab: Lab, row: Row, condition: str, measure: Callable[[], Figures]) -> Figures | None:
    """Return the figures of a chosen row, measured if necessary; for other rows, stored figures."""
    kept = Kept(lab, row.corpus)
    if row.name in lab.options.rows:
        return kept.measured(row.size, condition, measure)
    return kept.results([row.size], [condition]).get(row.size, {}).get(condition)


def score(found: Found, row: Row, explained: str, part: str, *, kinds: Sequence[str]) -> str:
    """Return the percentage of right heads among some kinds of words; empty where it is not measured."""
    counts = found.get((row.name, explained))
    if counts is None:
        return ""
    right, words = (sum(counts[f"{part} {what}{kind}"] for kind in kinds) for what in ("right ", ""))
    return f"{100 * right / words:.1f}"


def by_explained(found: Found, rows: Sequence[Row], explained: Iterable[str]) -> Table:
    """Return the table of UAS by generated source trees."""
    header = [f"{CORPORA[row.corpus].language}, {name}" for row in rows for name in PARTS.values()]
    cells = [
        [name, *(score(found, row, name, part, kinds=(PUNCTUATION, WORDS)) for row in rows for part in PARTS)]
        for name in explained
    ]
    return table(["explained", *header], cells)


def by_trees(found: Found) -> Table:
    """Lay out UAS by the number of target trees."""
    rows = sorted((row for row in ROWS if row.channel == MONO), key=lambda row: (row.corpus, row.size))
    cells = [
        [
            f"{CORPORA[row.corpus].language}, {row.size}, {name}",
            *(score(found, row, explained, part, kinds=(PUNCTUATION, WORDS)) for explained in COMPARED),
        ]
        for row in rows
        for part, name in PARTS.items()
    ]
    return table(["target trees", *COMPARED], cells)


def punctuation(found: Found) -> Table:
    """Return the table of accuracy for Swedish punctuation and for other words."""
    kinds = {PUNCTUATION: "punctuation", WORDS: "all else"}
    header = [f"{kind}, {name}" for name in PARTS.values() for kind in kinds.values()]
    cells = [
        [name, *(score(found, ROWS[0], name, part, kinds=[kind]) for part in PARTS for kind in kinds)]
        for name in COMPARED
    ]
    return table(["explained", *header], cells)


def bitexts(offers: Mapping[str, Figures]) -> Table:
    """Return the table of statistics of the pairs without target trees."""
    rows = [
        [CORPORA[row.corpus].language, *(f"{offers[row.corpus][key]:.{digits}f}" for key, digits in OFFERED)]
        if row.corpus in offers
        else [CORPORA[row.corpus].language, *("" for _ in OFFERED)]
        for row in BITEXTS
    ]
    header = ["words a sentence", "likely links a word", "linked arcs a word", "of these parallel, %"]
    return table(["target", *header, "English UAS"], rows)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = [row.name for row in (*ROWS, *BITEXTS)]
    text = "measure these, and show others that are kept (default: all)"
    parser.add_argument("--rows", nargs="*", choices=names, default=names, metavar="ROW", help=text)


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
