"""Measure the gain from conditioning a grammar trained through links on the most recent sibling (thesis 4.6.1).

Grammars are trained on gold source trees and gold target tags, with links trained on the pairs alone. They are tested on
development files, without siblings as estimated by EM, and with siblings as in the trees that EM finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.pairs.pairing import pair_sentences
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.pipelines.projection.em_projection import project_hard_em, project_qg
from qsproj.pipelines.projection.methods import EM_FROM_ARCS, ProjectedArcs
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

SEED, THRESHOLD = 1, 0.15
PAIRS = {
    "German, PUD": "pud/de",
    "Spanish, PUD": "pud/es",
    "Swedish, LinES": "lines/sv-train",
    "Italian, ParTUT": "partut/it-train",
}
DEV = {
    "German, PUD": "treebanks/german-gsd-dev",
    "Spanish, PUD": "treebanks/spanish-gsd-dev",
    "Swedish, LinES": "lines/sv-dev",
    "Italian, ParTUT": "partut/it-dev",
}
TESTED = 300


def measure(
    source: Sequence[Sentence], target: Sequence[Sentence], dev: Sequence[Sentence]
) -> dict[str, float]:
    """Return UAS on dev sentences without siblings and with them."""
    words = [(one.forms, other.forms) for one, other in zip(source, target, strict=True)]
    links = align_words(words, threshold=THRESHOLD)
    pairs = [SentencePair(*one) for one in zip(source, target, links, strict=True)]
    found: dict[str, float] = {}
    for number in (0, QgOptions().sibling_pairs):
        rng = np.random.default_rng(SEED)
        by_arcs = replace(EM_FROM_ARCS, sibling_pairs=number)
        parsers = {
            "qg": project_qg(pairs, training=QgOptions(sibling_pairs=number), rng=rng).parser,
            "hard-em": project_hard_em(
                pairs, projection=ProjectedArcs(), training=by_arcs, rng=np.random.default_rng(SEED)
            ).parser,
        }
        for method, parser in parsers.items():
            (scores,) = attachment_scores(dev, [map(parser.parse, dev)])
            way = f"{method} {'with' if number else 'without'}"
            found[f"{way} UAS"], found[f"{way} LAS"] = scores.uas, scores.las_no_subtypes
    return found


def run(lab: Lab) -> Figures:
    rows = []
    for name, target in PAIRS.items():
        folder, _, file = target.partition("/")
        english = f"{folder}/en{file[2:]}"
        paths = [lab.data / f"{one}.conllu.gz" for one in (english, target, DEV[name])]
        source, own = zip(*pair_sentences(*map(read_conllu, paths[:2])), strict=True)
        dev = [one for one in read_conllu(paths[2]) if len(one)]
        dev = dev[:: max(1, len(dev) // TESTED)]
        found = lab.cache.figures(name, partial(measure, source, own, dev), data=paths)
        for method in ("qg", "hard-em"):
            cells = [
                found[f"{method} {way} {score}"] for score in ("UAS", "LAS") for way in ("without", "with")
            ]
            rows.append([name, f"{len(source):,}", f"`{method}`", *(f"{cell:.1f}" for cell in cells)])
    header = ["pairs", "number", "method", "UAS", "UAS with siblings", "LAS", "LAS with siblings"]
    return Figures(tables={"uas": table(header, rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
