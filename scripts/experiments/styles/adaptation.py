"""Measure adaptation between annotation styles: accuracy by number of trees, speed.

Source trees and tags of Naija and PUD are gold; those of English-EWT are gold or parsed.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.converter.converter import Converter, train_converter
from qsproj.models.parser import load_parser
from qsproj.styles.convert import convert
from qsproj.styles.style import parse_style
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table

# The four styles of thesis table 4.1 as choices of qsproj.styles; all else is as in UD.
STYLES = {
    "CoNLL-PrepHead": "coordination=conll,prepositions=head",
    "CoNLL-PrepChild": "coordination=conll",
    "Prague-PrepHead": "coordination=prague,prepositions=head",
    "Prague-PrepChild": "coordination=prague",
}
TABLE_SIZES = (0, 10, 100)
TABLE_TEST = 1000
NAIJA_SIZES = (10, 100, 1000, None)
PUD_SIZES = (10, 100, 600)
PUD_TEST_FROM = 600
DRAWS = 5
PARSER_EPOCHS = 3
SEED = 1

Trees = list[Sentence]


# UAS, LAS, and LAS without subtypes.
Scores = tuple[float, float, float]
KINDS = ("gold", "parsed", "parsed-both")
PAIRS = ("naija", "pud")
DIRECTIONS = ("ud-sud", "sud-ud")
SPEEDS = (
    ("Naija, UD to SUD", "naija-train.ud", "naija-train.sud", "naija-test.ud"),
    ("Naija, SUD to UD", "naija-train.sud", "naija-train.ud", "naija-test.sud"),
    ("English PUD, UD to SUD", "english-pud.ud", "english-pud.sud", "english-pud.ud"),
)


def style_path(lab: Lab, name: str) -> Path:
    return lab.data / "styles" / f"{name}.conllu.gz"


def styled(lab: Lab, name: str) -> Trees:
    return list(read_conllu(style_path(lab, name)))


def trained(sources: Trees, targets: Trees) -> Converter:
    return train_converter(sources, targets, rng=np.random.default_rng(SEED))[0]


def accuracy(gold: Trees, system: Trees) -> Scores:
    (scores,) = attachment_scores(gold, [system])
    return scores.uas, scores.las, scores.las_no_subtypes


def converted(converter: Converter, sources: Trees) -> Trees:
    return [converter.parse(sentence) for sentence in sources]


def style_pair_rows(
    train: tuple[Trees, Trees], test: tuple[Trees, Trees], sizes: tuple[int | None, ...]
) -> list[dict[str, Any]]:
    """Measure one direction: on the first trees, and for 10 and 100 on trees drawn at random."""
    sources, targets = train
    rows = []

    def learned_from(chosen: list[int]) -> Scores:
        converter = trained([sources[i] for i in chosen], [targets[i] for i in chosen])
        return accuracy(test[1], converted(converter, test[0]))

    for size in sizes:
        first = list(range(len(sources)))[:size]
        row: dict[str, Any] = {"size": len(first), "scores": learned_from(first)}
        row["words"] = sum(len(sources[i]) for i in first)
        if size is not None and size <= 100:
            draws = (
                np.random.default_rng(seed).choice(len(sources), size, replace=False) for seed in range(DRAWS)
            )
            row["draws"] = [learned_from(chosen.tolist()) for chosen in draws]
        rows.append(row)
    return rows


def files_of(pair: str, direction: str) -> list[str]:
    """Return the files of a direction: source and target to train on, and to test on where these are others."""
    source, _, target = direction.partition("-")
    if pair == "pud":
        return [f"english-pud.{style}" for style in (source, target)]
    return [f"naija-{part}.{style}" for part in ("train", "test") for style in (source, target)]


def measure_pair(lab: Lab, pair: str, direction: str) -> dict[str, Any]:
    """Measure one direction of Naija or English PUD."""
    trees = [styled(lab, name) for name in files_of(pair, direction)]
    if pair == "pud":
        train, test = ([side[:PUD_TEST_FROM] for side in trees], [side[PUD_TEST_FROM:] for side in trees])
        sizes: tuple[int | None, ...] = PUD_SIZES
    else:
        train, test, sizes = trees[:2], trees[2:], NAIJA_SIZES
    rows = style_pair_rows((train[0], train[1]), (test[0], test[1]), sizes)
    return {"copied": accuracy(test[1], test[0]), "rows": rows, "tested on": len(test[0])}


def ewt(lab: Lab, part: str, style: str, limit: int | None = None) -> Trees:
    target = parse_style(STYLES[style])
    return [convert(sentence, target) for sentence in lab.treebank(f"english-ewt-{part}")[:limit]]


def parser_trees(lab: Lab, style: str) -> Trees:
    """Return all trees after the first 100, for training converters."""
    return ewt(lab, "train", style)[max(TABLE_SIZES) :]


def parser_path(lab: Lab, style: str) -> Path:
    """Return the model file of the parser of a style, trained when it is first asked for."""

    def train(path: Path) -> None:
        options = TrainingOptions(epochs=PARSER_EPOCHS)
        trees = parser_trees(lab, style)
        train_arc_parser(trees, rng=np.random.default_rng(SEED), options=options)[0].save(path)

    return lab.cache.file(
        f"{style}.parser", train, options={"style": style}, data=[lab.treebank_path("english-ewt-train")]
    )


def measure_parser(lab: Lab, style: str) -> Scores:
    """Score the parser of a style."""
    gold, parser = ewt(lab, "test", style, TABLE_TEST), load_parser(parser_path(lab, style))
    return accuracy(gold, [parser.parse(sentence) for sentence in gold])


def measure_table(lab: Lab, kind: str) -> dict[str, Scores]:
    """Measure all pairs of styles.

    ``gold`` source trees; ``parsed`` ones to convert and gold ones to learn from; ``parsed-both``.
    """
    train = {style: ewt(lab, "train", style, max(TABLE_SIZES)) for style in STYLES}
    test = {style: ewt(lab, "test", style, TABLE_TEST) for style in STYLES}
    cells = {}
    for source in STYLES:
        train_sources, test_sources = train[source], test[source]
        if kind != "gold":
            parser = load_parser(parser_path(lab, source))
            test_sources = [parser.parse(sentence) for sentence in test_sources]
            if kind == "parsed-both":
                train_sources = [parser.parse(sentence) for sentence in train_sources]
        for target in STYLES:
            for size in TABLE_SIZES:
                converter = trained(train_sources[:size], train[target][:size])
                cells[cell(source, target, size)] = accuracy(test[target], converted(converter, test_sources))
    return cells


def cell(source: str, target: str, size: int) -> str:
    return f"{source} {target} {size}"


def measure_speed(lab: Lab) -> list[list[str]]:
    """Time training on 100 trees and converting, median of five, the first call (compilation) apart."""
    rows = []
    for name, *files in SPEEDS:
        sources, targets, tests = (styled(lab, file) for file in files)
        training, converting = [], []
        converted(trained(sources[:100], targets[:100]), tests[:10])
        for _ in range(DRAWS):
            start = time.process_time()
            converter = trained(sources[:100], targets[:100])
            middle = time.process_time()
            converted(converter, tests)
            training.append(middle - start)
            converting.append(len(tests) / (time.process_time() - middle))
        words = sum(map(len, tests)) / len(tests)
        rates = (
            f"{statistics.median(training):.2f}",
            f"{statistics.median(converting):,.0f}",
            f"{words:.1f}",
        )
        rows.append([name, *rates])
    return rows


def style_pair_table(by_direction: dict[str, Any]) -> Table:
    """Show both directions of a pair of styles."""
    rows = []
    for direction, part in by_direction.items():
        label = direction.upper().replace("-", " to ")
        rows.append(
            [label, "0 (the source, copied)", "", *(f"{value:.1f}" for value in part["copied"]), "", "", ""]
        )
        for row in part["rows"]:
            scores = (f"{value:.1f}" for value in row["scores"])
            draws = [mean_and_deviation(values) for values in zip(*row.get("draws", []), strict=True)]
            rows.append([label, f"{row['size']:,}", f"{row['words']:,}", *scores, *(draws or ["", "", ""])])
    names = ("UAS", "LAS", "LAS, no subtypes")
    return table(["direction", "trees", "words", *names, *(f"{name}, random trees" for name in names)], rows)


def mean_and_deviation(values: tuple[float, ...]) -> str:
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


Cells = dict[str, dict[str, Scores]]


def adaptation_table(cells: Cells) -> Table:
    """Show the UAS of every pair of styles."""
    rows = [
        [
            f"{kind} {source}",
            *(
                f"{cells[kind][cell(source, target, size)][0]:.1f}"
                for target in STYLES
                for size in TABLE_SIZES
            ),
        ]
        for source in STYLES
        for kind in KINDS[:2]
    ]
    columns = (
        f"{size}" if place else f"{style}: {size}"
        for style in STYLES
        for place, size in enumerate(TABLE_SIZES)
    )
    return table(["source", *columns], rows)


def mean_table(cells: Cells) -> Table:
    """Show means over pairs of different styles, and of the same."""
    rows = []
    for kind in KINDS:
        for name, same in (("off the diagonal", False), ("diagonal", True)):
            pairs = [(source, target) for source in STYLES for target in STYLES if (source == target) == same]
            for score, label in enumerate(("UAS", "LAS", "LAS without subtypes")):
                means = (
                    statistics.mean(cells[kind][cell(*pair, size)][score] for pair in pairs)
                    for size in TABLE_SIZES
                )
                rows.append([kind, f"{name}, {label}", *(f"{mean:.2f}" for mean in means)])
    return table(["source", "cells", *map(str, TABLE_SIZES)], rows)


def parser_table(cells: Cells, parsers: dict[str, Scores]) -> Table:
    """Compare parsers of a target style with adapted parsers, the mean of the three other source styles."""
    rows = []
    for target in STYLES:
        others = [source for source in STYLES if source != target]
        means = (
            statistics.mean(cells["parsed"][cell(source, target, size)][0] for source in others)
            for size in TABLE_SIZES[1:]
        )
        rows.append([target, f"{parsers[target][0]:.1f}", *(f"{mean:.1f}" for mean in means)])
    sizes = (f"adapted, {size} trees" for size in TABLE_SIZES[1:])
    return table(["style", "parser of that style, UAS", *sizes], rows)


def run(lab: Lab) -> Figures:
    pairs = {
        pair: {
            direction: lab.cache.figures(
                f"{pair} {direction}",
                partial(measure_pair, lab, pair, direction),
                options={"pair": pair, "direction": direction},
                data=[style_path(lab, name) for name in files_of(pair, direction)],
            )
            for direction in DIRECTIONS
        }
        for pair in PAIRS
    }
    english: Source = {"data": [lab.treebank_path(f"english-ewt-{part}") for part in ("train", "test")]}
    cells = {
        kind: lab.cache.figures(f"table {kind}", partial(measure_table, lab, kind), **english)
        for kind in KINDS
    }
    parsers = {
        style: lab.cache.figures(f"parser {style}", partial(measure_parser, lab, style), **english)
        for style in STYLES
    }
    speed = ("training on 100 trees, s", "converting, sentences/s", "words a sentence")
    return Figures(
        tables={
            **{pair: style_pair_table(by_direction) for pair, by_direction in pairs.items()},
            "table": adaptation_table(cells),
            "means": mean_table(cells),
            "parsers": parser_table(cells, parsers),
            "speed": table(["styles", *speed], measure_speed(lab)),
        },
        values={
            "parser sentences": f"{len(lab.treebank('english-ewt-train')) - max(TABLE_SIZES):,}",
            "parser epochs": str(PARSER_EPOCHS),
            "test sentences": f"{TABLE_TEST:,}",
            "naija sentences": f"{pairs['naija']['ud-sud']['tested on']:,}",
        },
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
