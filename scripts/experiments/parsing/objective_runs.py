"""Parsers trained with one objective each, by the settings of the command, and their scores on test files.

Each is trained on a dev file and tested on the test file, with gold tags, lemmas and features. This file stores the
figures, because several pages show them.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, ROOT, Heads, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions, objective_named
from qsproj.models.clusters.cluster_parser import summed_out, train_cluster_parser
from qsproj.models.tree_decoder import MAX_Z, TreeDecoder
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.treebank_rows import SEED, differs, percent

TREEBANKS = {
    "Danish": "danish-ddt",
    "Dutch": "dutch-alpino",
    "Czech": "czech-cac",
    "Turkish": "turkish-imst",
    "Japanese": "japanese-gsd",
    "Hungarian": "hungarian-szeged",
    "Arabic": "arabic-padt",
    "Slovenian": "slovenian-ssj",
    "Spanish": "spanish-gsd",
    "English": "english-ewt",
}
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Way:
    """The settings of a training, as of TrainingOptions."""

    objective: str
    projective: bool
    best: int = 5
    clusters: int = 2
    cutoff: int = 0
    support: str = "trees"

    @property
    def name(self) -> str:
        changed = [str(value) for name, value in asdict(self).items() if value != getattr(Way, name, None)]
        return " ".join(changed)

    @property
    def options(self) -> TrainingOptions:
        chosen = objective_named(self.objective)
        return TrainingOptions(**asdict(self), epochs=chosen.epochs, l2=chosen.l2)


def shape(projective: bool) -> str:
    return "projective" if projective else "non-projective"


def measure(way: Way, lab: Lab, treebank: str) -> dict[str, Any]:
    """Train on a dev file, and parse the test file by every decoder; right heads by sentence, roots, whole trees."""
    # Relations take time and change no head.
    train = [
        with_columns(sentence, deprels=[UNSPECIFIED] * len(sentence))
        for sentence in lab.treebank(f"{treebank}-dev")
    ]
    test = lab.treebank(f"{treebank}-test")
    rng = np.random.default_rng(SEED)
    if objective_named(way.objective).clustered:
        clustered, report = train_cluster_parser(train, rng=rng, options=way.options)
        in_clusters = [clustered.cluster_scores(sentence) for sentence in test]
        scores, best_clusters = (
            [summed_out(one)[0] for one in in_clusters],
            [one.max(axis=2) for one in in_clusters],
        )
        weights, inference = clustered.scorer.weights, clustered.inference
    else:
        parser, report = train_arc_parser(train, rng=rng, options=way.options)
        scores, best_clusters = [parser.scores(sentence) for sentence in test], []
        weights, inference = parser.scorer.weights, parser.inference
    decoded = {
        name: counts(test, trees)
        for name, trees in (*every_tree(scores, inference), *clustered_trees(best_clusters, inference))
    }
    seconds = statistics.median(record.seconds for record in report.epochs)
    return {
        "words": sum(map(len, test)),
        "decoded": decoded,
        "epoch": seconds,
        "weights": int(np.count_nonzero(weights)),
    }


def every_tree(scores: Sequence[Scores], inference: TreeDecoder) -> Iterator[tuple[str, list[Heads]]]:
    """Yield the heads that each decoder finds, by its name; greedy ones need not be trees."""
    for projective in (True, False):
        trees = TreeDecoder(projective=projective, single_root=inference.single_root)
        for decode in ("map", "mbr"):
            yield f"{shape(projective)} {decode}", [trees.decode(matrix, decode) for matrix in scores]
    yield "greedy by score", list(map(greedy, scores))
    yield "greedy by posterior", [greedy(inference.infer(matrix)[1]) for matrix in scores]


def clustered_trees(scores: Sequence[Scores], inference: TreeDecoder) -> Iterator[tuple[str, list[Heads]]]:
    """Yield the scores of trees under arcs in their best clusters, if there are clusters."""
    if scores:
        yield f"{shape(inference.projective)} {MAX_Z}", list(map(inference.best, scores))


def greedy(scores: Scores) -> Heads:
    """Return the best head of each word for itself."""
    allowed = scores.copy()
    np.fill_diagonal(allowed, -np.inf)
    heads: Heads = allowed.argmax(axis=0).astype(np.int32)
    heads[0] = NO_HEAD
    return heads


def counts(gold: Sequence[Sentence], trees: Sequence[Heads]) -> dict[str, Any]:
    """Count right heads by sentence, sentences whose roots are right, and right trees."""
    pairs = [(sentence.heads[1:], heads[1:]) for sentence, heads in zip(gold, trees, strict=True)]
    return {
        "right": [int(np.count_nonzero(right == found)) for right, found in pairs],
        "root": sum(bool(np.array_equal(right == ROOT, found == ROOT)) for right, found in pairs),
        "complete": sum(bool(np.array_equal(right, found)) for right, found in pairs),
    }


class Results:
    """Figures of the chosen treebanks, measured now, and stored figures of others.

    Parameters
    ----------
    lab : Lab
    asked : callable
        The treebanks that are to be measured in some way, by name.
    """

    def __init__(self, lab: Lab, asked: Callable[[Way], Collection[str]]) -> None:
        self._lab = lab
        self._asked = asked

    def of(self, language: str, way: Way) -> dict[str, Any] | None:
        """Return the figures of one parser, or None if it is neither chosen nor stored."""
        lab, treebank = self._lab, TREEBANKS[language]
        source: Source = {
            "options": asdict(way),
            "data": [lab.treebank_path(f"{treebank}-{part}") for part in ("dev", "test")],
            "experiment": Path(__file__),
        }
        name = f"{language} {way.name}"
        if language in self._asked(way):
            figures: dict[str, Any] = lab.cache.figures(name, partial(measure, way, lab, treebank), **source)
            return figures
        return lab.cache.kept(name, **source)

    def uas(
        self, language: str, way: Way, decode: str, *, against: Way | None = None, other: str = ""
    ) -> str:
        """Return the UAS of one parser by one decoder; * where it differs from another parser's by ``other``."""
        found = self.of(language, way)
        if found is None:
            return ""
        right = found["decoded"][decode]["right"]
        rival = None if against is None else self.of(language, against)
        differing = rival is not None and differs(
            right, rival["decoded"][other or decode]["right"], level=LEVEL
        )
        mark = "*" if differing else ""
        return f"{percent(right, found['words'])}{mark}"


def by_language(results: Results, rows: dict[str, Callable[[str], str]], corner: str) -> Table:
    """Make a table with a column for each treebank, and their mean where all of a row are there."""
    cells = {name: [cell(language) for language in TREEBANKS] for name, cell in rows.items()}
    shown = [k for k, language in enumerate(TREEBANKS) if any(row[k] for row in cells.values())]
    whole = [k for k in shown if all(row[k] for row in cells.values())]
    header = [corner, *(list(TREEBANKS)[k] for k in shown), f"mean of {len(whole)}"]
    lines = []
    for name, row in cells.items():
        values = [float(row[k].rstrip("*")) for k in whole]
        lines.append([name, *(row[k] for k in shown), f"{statistics.fmean(values):.2f}" if values else ""])
    return table(header, lines)


def add_treebanks_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--treebanks",
        nargs="*",
        choices=list(TREEBANKS),
        default=list(TREEBANKS),
        metavar="NAME",
        help="measure on these; others show stored figures (default: all)",
    )
