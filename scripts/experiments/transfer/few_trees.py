"""Measure the gain from a few target trees (`--annotated`) for a projected parser, by their number.

Tests: sentences 601-1000 of PUD, with the first of 1-600 annotated, and the ends of two parallel treebanks, LinES
(Swedish) and ParTUT (Italian). Tags are gold or predicted, both on annotated and on test sentences. Nothing was chosen on
PUD.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from statistics import mean

import numpy as np

from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.pipelines.suggest import Candidate, rank, word_uncertainties
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.transfer.by_tags import (
    BEST_TAGS,
    EVERY_KIND,
    GOLD_TAGS,
    UNCERTAIN_TAGS,
    Scores,
    scores_by_tags,
)
from scripts.experiments.transfer.few_trees_settings import Material, Setting, Trees, settings
from scripts.experiments.transfer.stages import Stages

SETTINGS = ("German", "Spanish", "Swedish", "Swedish LinES", "Italian ParTUT")
TAGGER_TAGS = "the tagger's tags"
# Tags of the annotated trees, and the corresponding tags of tests.
KINDS = {GOLD_TAGS: (GOLD_TAGS,), TAGGER_TAGS: (BEST_TAGS, UNCERTAIN_TAGS)}
SIZES = (10, 50, 100)
# Number of projected trees mixed with the annotated ones.
MIXED_IN = 2000
OF_TREES = TrainingOptions(template_set="words", projective=True, single_root=True)
SCORES = {"UAS": "uas", "LAS, no subtypes": "las_no_subtypes", "ECE": "ece"}
ALONE, PROJECTED, MIXED = "trees alone", "projection alone", "projected trees and these, mixed"
TUNED, SUGGESTED = "fine-tuned", "fine-tuned, suggested trees"
WAYS = (ALONE, PROJECTED, MIXED, TUNED, SUGGESTED)
# By training data and tags of the tests.
ByWay = dict[str, dict[str, Scores]]
# By setting and tags, and the number of trees; None where it is not measured.
Results = Mapping[tuple[str, str], Mapping[str, ByWay] | None]


def suggested(pool: Trees, size: int, parser: ArcParser) -> Trees:
    """Return the sentences that `qsproj suggest` ranks first with the projected parser."""
    candidates = [Candidate(one, word_uncertainties(parser, one)) for one in pool if len(one)]
    return [candidate.sentence for candidate in islice(rank(candidates), size)]


def from_trees(trees: Trees) -> ArcParser:
    return train_arc_parser(trees, rng=np.random.default_rng(1), options=OF_TREES)[0]


def tuned(parser: ArcParser, trees: Trees) -> ArcParser:
    return parser.fine_tuned(trees, rng=np.random.default_rng(1))


def measure(setting: Setting, name: str, tags: str) -> dict[str, ByWay]:
    """Return mean scores over the draws, by number of trees and training data."""
    material = setting.material(tags)
    ranked = suggested(material.pool, max(SIZES), material.parser)
    found = {}
    for size in SIZES:
        found[str(size)] = scores_of_ways(material, ranked, size, KINDS[tags])
        shown = {name: f"{row[KINDS[tags][0]]['uas']:.1f}" for name, row in found[str(size)].items()}
        print(name, tags, size, shown, file=sys.stderr, flush=True)
    return found


def scores_of_ways(material: Material, ranked: Trees, size: int, kinds: Sequence[str]) -> ByWay:
    parser, drawn = material.parser, [draw[:size] for draw in material.draws]
    ways: dict[str, tuple[Callable[[Trees], ArcParser], Sequence[Trees]]] = {
        ALONE: (from_trees, drawn),
        PROJECTED: (lambda _: parser, drawn[:1]),
        MIXED: (lambda trees: from_trees([*material.projected[:MIXED_IN], *trees]), drawn[:1]),
        TUNED: (partial(tuned, parser), drawn),
        SUGGESTED: (partial(tuned, parser), [ranked[:size]]),
    }
    return {
        name: mean_scores([scores_by_tags(learn(trees), [material.test], kinds=kinds) for trees in several])
        for name, (learn, several) in ways.items()
    }


def mean_scores(rows: Sequence[Mapping[str, Scores]]) -> dict[str, Scores]:
    """Return the means of scores of each kind of tags."""
    return {kind: {key: mean(row[kind][key] for row in rows) for key in of} for kind, of in rows[0].items()}


def results_of(lab: Lab, name: str, tags: str) -> dict[str, ByWay] | None:
    """Return stored results, or measure them if the setting is chosen."""
    if name not in lab.options.settings:
        return None
    setting = settings(Stages(lab))[name]
    found: dict[str, ByWay] = lab.cache.figures(
        f"{name} {tags}",
        partial(measure, setting, name, tags),
        options={"setting": name, "tags": tags},
        data=setting.data,
    )
    return found


def found_of(results: Results, name: str, kind: str, size: int) -> dict[str, Scores] | None:
    """Return scores by training data; None if they are not measured."""
    of = results[name, next(tags for tags, kinds in KINDS.items() if kind in kinds)]
    return {way: row[kind] for way, row in of[str(size)].items()} if of else None


def setting_table(results: Results, name: str) -> Table:
    """Return the table of one setting; missing figures are empty cells."""
    lines = []
    for kind in EVERY_KIND:
        found = [found_of(results, name, kind, size) for size in SIZES]
        for way in WAYS:
            cells = (f"{row[way][key]:.1f}" if row else "" for key in SCORES.values() for row in found)
            lines.append([kind, way, *cells])
    return table(["tags", "learned from", *(f"{score}, {size}" for score in SCORES for size in SIZES)], lines)


def tables_of(results: Results) -> dict[str, Table]:
    """Return the tables of all figures."""
    return {name: setting_table(results, name) for name in SETTINGS}


def run(lab: Lab) -> Figures:
    results = {(name, tags): results_of(lab, name, tags) for name in SETTINGS for tags in KINDS}
    return Figures(tables=tables_of(results))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--settings",
        nargs="*",
        default=list(SETTINGS),
        choices=SETTINGS,
        metavar="NAME",
        help="measure these; others show stored figures (default: all)",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
