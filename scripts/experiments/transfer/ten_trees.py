"""Measure what ten trees change in a model made from a New Testament, over several draws.

Trees are drawn by chance from the first half of the development file and given as `--annotated`. The second half is
scored: words given, the model's own tags, relations without subtypes. A language is worse off if its mean over the draws
falls, a draw if its own scores do; differences of a few tenths in one draw are within the noise of the scored sentences.

``--work`` is the folder of stages of ``many_bench``, whose models are used where they are kept. Each language is stored
when it is measured.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.annotation_hour import MEASURES, Start, start_of
from scripts.experiments.transfer.by_tags import UNCERTAIN_TAGS, Part, scores_by_tags
from scripts.experiments.transfer.many_languages import ENGLISH, LANGUAGES, TESTAMENT, Corpora, add_work

TARGETS = [code for code, one in LANGUAGES.items() if one.kind == TESTAMENT]
TREES, DRAWS = 10, 10


def scores_after(start: Start, seed: int) -> list[float]:
    """Return the scores after learning the trees of a draw."""
    rng = np.random.default_rng(seed)
    trees = [start.pool[at] for at in rng.permutation(len(start.pool))[:TREES]]
    model = start.learned(trees, {})
    scores = scores_by_tags(model.base, [Part(start.scored, model.tagger)], kinds=[UNCERTAIN_TAGS])
    return [scores[UNCERTAIN_TAGS][name] for name in MEASURES.values()]


def changes(lab: Lab, target: str) -> dict[str, list[list[float]]]:
    """Return the scores before, and what each draw changes."""
    start = start_of(lab.data, lab.options.work, target, (ENGLISH,))
    before = np.array([start.scores[name] for name in MEASURES.values()])
    after = np.array([scores_after(start, seed) for seed in range(1, DRAWS + 1)])
    return {"before": [before.tolist()], "changes": (after - before).tolist()}


def run(lab: Lab) -> Figures:
    lines, every = [], []
    for target in lab.options.languages:
        files = Corpora(lab.data, lab.options.work, 0, 0).files(target)
        found = lab.cache.figures(
            f"ten trees, {target}", partial(changes, lab, target), options={}, data=files
        )
        (before,), change = found["before"], np.array(found["changes"])
        error = change[:, 2].std(ddof=1) / np.sqrt(len(change))
        every.append(change.mean(axis=0))
        shown = [f"{one:+.1f}" for one in change.mean(axis=0)]
        least = [f"{one:+.1f}" for one in change[:, :3].min(axis=0)]
        lines.append([LANGUAGES[target].name, f"{before[2]:.1f}", *shown, f"{error:.2f}", *least])
        print(*lines[-1], flush=True)
    lines.append(["mean", "", *(f"{one:+.1f}" for one in np.mean(every, axis=0)), "", "", "", ""])
    names = list(MEASURES)
    header = ["", "LAS before", *names, "standard error of LAS", *(f"{name}, least" for name in names[:3])]
    return Figures(tables={"changes": table(header, lines)})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--languages", nargs="+", default=TARGETS, choices=TARGETS, metavar="CODE")
    add_work(parser)


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
