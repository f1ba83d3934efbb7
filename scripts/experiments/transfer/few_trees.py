"""A few target trees beside a projected parser: what `--annotated` is worth, by how many there are.

Bitexts are those of two parallel treebanks, LinES (Swedish) and ParTUT (Italian): the source trees and all tags are
gold, links are learned from the bitext alone. The last sentences of the training files are tested on and not among
the bitext; the annotated ones are of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.fine_tuning import FineTuningOptions, fine_tuned
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.storage import load_model_of
from qsproj.pipelines.projection.method_options import SoftProjectionOptions
from qsproj.pipelines.projection.soft_projection import project_soft
from qsproj.pipelines.projection.soft_sources import soft_sources
from qsproj.pipelines.suggest import Candidate, rank
from qsproj.pipelines.uncertainty import word_uncertainties
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.pages.transfer import few_trees
from scripts.experiments.transfer.bootstrap_runs import scores

BITEXTS = {"Swedish": "lines/{}-train", "Italian": "partut/{}-train"}
CODES = {"Swedish": "sv", "Italian": "it"}
TESTED, SIZES, DRAWS = 300, (10, 20, 50, 100), 2
PROJECTION = SoftProjectionOptions(sentences=2000)
OF_TREES = TrainingOptions(template_set="words", projective=True, single_root=True)
NAMES = {"UAS": "uas", "LAS, no subtypes": "las_no_subtypes", "ECE": "ece"}
ALONE, PROJECTED, MIXED = "trees alone", "projection alone", "projected trees and these, mixed"
TUNED, WITHOUT, SUGGESTED = (
    "fine-tuned",
    "fine-tuned, nothing of trees alone added",
    "fine-tuned, suggested trees",
)

Row = dict[str, float]


@dataclass(frozen=True)
class Data:
    """A bitext with its links, and what is tested on."""

    pairs: list[SentencePair]
    tests: list[Sentence]

    @property
    def targets(self) -> list[Sentence]:
        return [pair.target for pair in self.pairs]


def paths(lab: Lab, language: str) -> list[Path]:
    return [lab.data / f"{BITEXTS[language].format(code)}.conllu.gz" for code in ("en", CODES[language])]


def read(lab: Lab, language: str) -> Data:
    """Read a treebank's two sides and align all but the last sentences."""
    source, target = (list(map(words_and_tags, read_conllu(path))) for path in paths(lab, language))
    held_out = min(TESTED, len(target) // 3)
    sides = list(zip(source[:-held_out], target[:-held_out], strict=True))
    links = align_words([(one.forms, other.forms) for one, other in sides], threshold=0.15)
    pairs = [SentencePair(*pair, alignment) for pair, alignment in zip(sides, links, strict=True)]
    return Data(pairs, target[-held_out:])


def words_and_tags(sentence: Sentence) -> Sentence:
    """Return the sentence without lemmas, XPOS and FEATS, which projected parsers do not read."""
    empty = ["_"] * len(sentence)
    return with_columns(sentence, lemmas=empty, xpos=empty, feats=empty)


def drawn(data: Data, size: int, draw: int) -> list[Sentence]:
    """Draw sentences to annotate."""
    order = np.random.default_rng(draw).permutation(len(data.pairs))
    return [data.targets[index] for index in order[:size].tolist()]


def suggested(data: Data, size: int, parser: ArcParser) -> list[Sentence]:
    """Choose those that `qsproj suggest` would put first, by the projected parser."""
    candidates = [
        Candidate(one, word_uncertainties([parser], one, criterion="errors"))
        for one in data.targets
        if len(one)
    ]
    ranked = (candidate.sentence for candidate, _ in zip(rank(candidates), range(size), strict=False))
    return list(ranked)


def from_trees(trees: Sequence[Sentence]) -> ArcParser:
    return train_arc_parser(trees, rng=np.random.default_rng(1), options=OF_TREES)[0]


def tuned(parser: ArcParser, trees: Sequence[Sentence], *, alone: float | None = None) -> ArcParser:
    options = FineTuningOptions()
    options = options if alone is None else replace(options, alone=alone)
    return fine_tuned(parser, trees, rng=np.random.default_rng(1), options=options)


def projected(lab: Lab, language: str) -> tuple[ArcParser, list[Sentence]]:
    """Project a parser, or find it; return also the trees that were learned from."""

    def write(path: Path) -> None:
        rng = np.random.default_rng(1)
        sources = soft_sources([[read(lab, language).pairs]], rng=rng)
        projection = project_soft(sources, rng=rng, options=PROJECTION)
        write_conllu(projection.trees(), beside(path))
        projection.parser.save(path)

    path = lab.cache.file(f"{language}.parser", write, data=paths(lab, language))
    return load_model_of(path, ArcParser, expected="a parser", remedy="remove it"), list(
        read_conllu(beside(path))
    )


def beside(path: Path) -> Path:
    """Return where the trees of a parser are."""
    return path.with_name("trees.conllu")


def measure(lab: Lab, language: str, size: int) -> dict[str, Row]:
    """Return scores by what is learned from, with some number of trees."""
    data = read(lab, language)
    parser, trees = projected(lab, language)
    ways: Mapping[str, Callable[[Sequence[Sentence]], ArcParser]] = {
        ALONE: from_trees,
        MIXED: lambda annotated: from_trees([*trees, *annotated]),
        WITHOUT: partial(tuned, parser, alone=0.0),
        TUNED: partial(tuned, parser),
    }

    def tested(one: ArcParser) -> Row:
        return scores(data.tests, one.parse_all(data.tests, confidence=True))

    found = {PROJECTED: tested(parser), SUGGESTED: tested(tuned(parser, suggested(data, size, parser)))}
    for name, way in ways.items():
        rows = [tested(way(drawn(data, size, draw))) for draw in range(1 if name == MIXED else DRAWS)]
        found[name] = {key: mean(row[key] for row in rows) for key in rows[0]}
    print(
        language,
        size,
        {name: f"{row['uas']:.1f}" for name, row in found.items()},
        file=sys.stderr,
        flush=True,
    )
    return found


def measured(lab: Lab, language: str, size: int) -> dict[str, Row] | None:
    """Return what is kept, or measure it where it is asked for."""
    name, options, data = f"{language} {size}", {"language": language, "size": size}, paths(lab, language)
    kept: dict[str, Row] | None = lab.cache.kept(name, options=options, data=data)
    if kept is None and language in lab.options.languages and size in lab.options.sizes:
        kept = lab.cache.figures(name, partial(measure, lab, language, size), options=options, data=data)
    return kept


def table_of(found: Mapping[int, dict[str, Row] | None], key: str) -> Table:
    """Show one score by way and number of trees; a cell that is not measured stays empty."""
    lines = [
        [name, *(f"{rows[name][key]:.1f}" if rows else "" for rows in found.values())]
        for name in (ALONE, PROJECTED, MIXED, WITHOUT, TUNED, SUGGESTED)
    ]
    return table(["learned from", *(f"{size} trees" for size in found)], lines)


def run(lab: Lab) -> Figures:
    tables: dict[str, Table] = {}
    for language in BITEXTS:
        found = {size: measured(lab, language, size) for size in SIZES}
        tables |= {f"{language}, {name}": table_of(found, key) for name, key in NAMES.items()}
    return Figures(tables=tables)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--languages", nargs="+", default=list(BITEXTS), choices=list(BITEXTS), help="default: all"
    )
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=int,
        default=list(SIZES),
        choices=SIZES,
        help="measure these (default: all)",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="few-trees",
    reading=few_trees,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
