"""Measure hidden clusters of arcs, three decoders, and greedily chosen heads: Smith and Smith 2007, 5 and 6.

Every parser is trained on a dev file and tested on the test file, with gold tags, lemmas and features.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.objective_runs import (
    TREEBANKS,
    Results,
    Way,
    add_treebanks_argument,
    by_language,
    shape,
)

# Numbers of clusters; the paper trains non-projective parsers, but projective ones suit these treebanks.
CLUSTERS = (2, 4, 8)
NONE = {projective: Way(objective="likelihood", projective=projective) for projective in (False, True)}
HIDDEN = {
    (clusters, projective): Way(objective="hidden", projective=projective, clusters=clusters)
    for projective in (False, True)
    for clusters in CLUSTERS
}
GREEDY = {
    "best head by score": "greedy by score",
    "best head by posterior": "greedy by posterior",
    "best tree": "non-projective map",
    "minimum Bayes risk": "non-projective mbr",
}


def run(lab: Lab) -> Figures:
    results = Results(lab, lambda way: lab.options.treebanks)
    names = {False: "clusters", True: "projective clusters"}
    return Figures(
        tables={
            **{
                names[projective]: by_language(results, rows(results, projective=projective), "UAS")
                for projective in (False, True)
            },
            "greedy": by_language(
                results,
                {
                    name: partial(results.uas, way=NONE[False], decode=decode)
                    for name, decode in GREEDY.items()
                },
                "UAS",
            ),
            "time": times(results),
        }
    )


def rows(results: Results, *, projective: bool) -> dict[str, Callable[[str], str]]:
    """Return the rows of the table: * differs from no clusters by the same decoder; max-z from map."""
    none = NONE[projective]
    cells: dict[str, Callable[[str], str]] = {}
    for decode in ("map", "mbr"):
        cells[f"none, {decode}"] = partial(results.uas, way=none, decode=f"{shape(projective)} {decode}")
    for clusters in CLUSTERS:
        way = HIDDEN[clusters, projective]
        for decode in ("map", "mbr", "max-z"):
            cells[f"{clusters}, {decode}"] = partial(
                results.uas,
                way=way,
                decode=f"{shape(projective)} {decode}",
                against=none,
                other=f"{shape(projective)} {'map' if decode == 'max-z' else decode}",
            )
    return cells


def times(results: Results) -> Table:
    """Return the time of an epoch relative to that without clusters, on all treebanks with both."""
    lines = []
    for clusters in CLUSTERS:
        pairs = [
            (found["epoch"], none["epoch"])
            for language in TREEBANKS
            if (found := results.of(language, HIDDEN[clusters, True]))
            and (none := results.of(language, NONE[True]))
        ]
        if pairs:
            with_clusters, without = map(sum, zip(*pairs, strict=True))
            lines.append([str(clusters), f"{with_clusters / without:.1f}"])
    return table(["clusters", "an epoch, in those of likelihood"], lines)


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_treebanks_argument,
)

if __name__ == "__main__":
    EXPERIMENT.main()
