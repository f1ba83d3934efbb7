"""Measure accuracy and size with features of arcs selected by the criteria of thesis 2.8.3.

Every parser is trained on a dev file and tested on the test file, with gold tags, lemmas and features.
"""

from __future__ import annotations

from functools import partial

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.parsing.objective_runs import Results, Way, add_treebanks_argument, by_language

ALL = Way(objective="likelihood", projective=True)
CRITERIA = {
    "all features": ALL,
    "right arcs, once": Way(objective="likelihood", projective=True, cutoff=1),
    "candidate arcs, 10": Way(objective="likelihood", projective=True, cutoff=10, support="links"),
    "short candidate arcs, once": Way(objective="likelihood", projective=True, cutoff=1, support="short"),
    "sentences, 10": Way(objective="likelihood", projective=True, cutoff=10, support="sentences"),
}


def run(lab: Lab) -> Figures:
    results = Results(lab, lambda way: lab.options.treebanks)

    def millions(language: str, *, way: Way) -> str:
        found = results.of(language, way)
        return "" if found is None else f"{found['weights'] / 1e6:.2f}"

    return Figures(
        tables={
            "uas": by_language(
                results,
                {
                    name: partial(
                        results.uas, way=way, decode="projective mbr", against=None if way == ALL else ALL
                    )
                    for name, way in CRITERIA.items()
                },
                "UAS",
            ),
            "weights": by_language(
                results, {name: partial(millions, way=way) for name, way in CRITERIA.items()}, "millions"
            ),
        }
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_treebanks_argument,
)

if __name__ == "__main__":
    EXPERIMENT.main()
