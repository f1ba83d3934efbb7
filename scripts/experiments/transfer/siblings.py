"""What the most recent sibling tells a grammar that is learned through links (thesis 4.6.1).

A QG-DMV learns from gold trees of the source and gold tags of the target; links are learned from the pairs alone. The
grammar of new text is tested on development files: as the QG-DMV counts it, and with siblings, as its trees have them.
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
from qsproj.models.qg_dmv.qg_dmv_options import QgOptions
from qsproj.pipelines.projection.em_projection import project_qg
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
    found = {}
    for name, sibling_pairs in {"without": 0, "with": QgOptions().sibling_pairs}.items():
        options = replace(QgOptions(), sibling_pairs=sibling_pairs)
        parser = project_qg(pairs, training=options, rng=np.random.default_rng(SEED)).parser
        (scores,) = attachment_scores(dev, [map(parser.parse, dev)])
        found[name], found[f"{name}, LAS"] = scores.uas, scores.las_no_subtypes
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
        cells = [found["without"], found["with"], found["without, LAS"], found["with, LAS"]]
        rows.append([name, f"{len(source):,}", *(f"{cell:.1f}" for cell in cells)])
    header = ["pairs", "number", "UAS", "UAS with siblings", "LAS", "LAS with siblings"]
    return Figures(tables={"uas": table(header, rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="siblings")

if __name__ == "__main__":
    EXPERIMENT.main()
