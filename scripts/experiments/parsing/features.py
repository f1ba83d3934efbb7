"""What parsers gain by features (FEATS), lemmas and XPOS: gold, and as a tagger fills them in.

Parsers of the first order, trained on train files and tested on dev. Whatever trains a parser on own columns gets them
from taggers that have not seen the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.morphology.morphology import COLUMN_CELLS
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.pages.parsing import features
from scripts.experiments.parsing.treebank_rows import SEED

TREEBANKS = {"Greek": "greek-gdt", "Hungarian": "hungarian-szeged", "Turkish": "turkish-imst"}
FOLDS = 5
# By name the columns that the parser reads beside forms and UPOS.
READ: Mapping[str, tuple[str, ...]] = {
    "words": (),
    "features": ("feats",),
    "all": tuple(COLUMN_CELLS),
}
Annotate = Callable[[Sentence], Sentence]


def tagger_of(treebank: Sequence[Sentence]) -> Tagger:
    """Train a tagger of all columns."""
    tagger = train_tagger(treebank, rng=np.random.default_rng(SEED))
    return replace(tagger, morphology=train_morphology(treebank, rng=np.random.default_rng(SEED)))


def own_columns(train: Sequence[Sentence], test: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Tag the test sentences, and each training sentence by a tagger of the others."""
    taggers = [
        tagger_of([one for number, one in enumerate(train) if number % FOLDS != fold])
        for fold in range(FOLDS)
    ]
    whole = tagger_of(train)
    return (
        [taggers[number % FOLDS].tag(one) for number, one in enumerate(train)],
        [whole.tag(one) for one in test],
    )


def only(columns: Sequence[str], sentence: Sentence) -> Sentence:
    """Empty the other columns."""
    cells = {cells: ["_"] * len(sentence) for name, cells in COLUMN_CELLS.items() if name not in columns}
    return with_columns(sentence, **cells)


def las(
    gold: Sequence[Sentence], train: Sequence[Sentence], test: Sequence[Sentence], read: str
) -> list[float]:
    """Return UAS and LAS of a parser that reads some columns."""
    template_set = "morphology" if READ[read] else "words"
    parser, _ = train_arc_parser(
        [only(READ[read], one) for one in train],
        rng=np.random.default_rng(SEED),
        options=TrainingOptions(template_set=template_set),
    )
    parsed = list(parser.parse_all([only(READ[read], one) for one in test]))
    (score,) = attachment_scores(gold, [parsed])
    return [score.uas, score.las]


def measure(lab: Lab, name: str) -> dict[str, list[float]]:
    """Return UAS and LAS by the columns that are read, and by whose they are."""
    train, dev = (lab.treebank(f"{name}-{part}") for part in ("train", "dev"))
    ways = {"gold": (train, dev), "own": own_columns(train, dev)}
    found = {f"{way}|{read}": las(dev, *files, read) for way, files in ways.items() for read in READ}
    seen = (train, ways["own"][1])
    return {**found, **{f"gold in training|{read}": las(dev, *seen, read) for read in READ}}


def run(lab: Lab) -> Figures:
    rows = []
    for name, treebank in TREEBANKS.items():
        data = [lab.treebank_path(f"{treebank}-{part}") for part in ("train", "dev")]
        found = lab.cache.figures(f"features {name}", partial(measure, lab, treebank), data=data)
        for key, scores in found.items():
            rows.append([name, *key.split("|"), *(f"{score:.2f}" for score in scores)])
    return Figures(
        tables={"learned": table(["treebank", "tags and columns", "parser reads", "UAS", "LAS"], rows)}
    )


EXPERIMENT = Experiment(
    file=__file__, about=__doc__, measure=run, page="features-in-parsers", reading=features
)

if __name__ == "__main__":
    EXPERIMENT.main()
