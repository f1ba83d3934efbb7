"""Measure first-order parsing: accuracy beside published parsers, speed, memory.

Every row is trained in a separate process, to measure its peak memory. All tokens are scored, including punctuation;
lemmas and features are gold. Tags are gold, or those of a tagger trained on the same trees.
"""

from __future__ import annotations

import math
import resource
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import with_columns
from qsproj.evaluation.attachment import attachment_scores
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagger_training import train_tagger
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.process import in_own_process
from scripts.experiments.harness.tables import table
from scripts.experiments.parsing.treebank_rows import SEED, add_rows_argument


@dataclass(frozen=True)
class Row:
    """Training and test data; ``every`` uses one of that many training sentences."""

    name: str
    train: str
    test: str
    every: int = 1
    projective: bool | None = None
    peers: str = ""


ROWS = (
    Row(
        "Danish-DDT",
        "danish-ddt-dev",
        "danish-ddt-test",
        peers="pacaya 78.7, Turbo 78.1, MST 77.7",
    ),
    Row("Dutch-Alpino", "dutch-alpino-dev", "dutch-alpino-test", peers="MST 77.0, Turbo 73.7"),
    Row("German-GSD", "german-gsd-dev", "german-gsd-test", peers="MST 80.7, Turbo 80.4"),
    Row(
        "English-EWT, 1 in 12",
        "english-ewt-train",
        "english-ewt-test",
        every=12,
        peers="pacaya 82.4, MST 80.9, UDPipe 80.8, Turbo 80.6",
    ),
    Row("English-EWT, projective", "english-ewt-train", "english-ewt-test", projective=True),
    Row("English-EWT, non-projective", "english-ewt-train", "english-ewt-test", projective=False),
    Row("Hungarian-Szeged", "hungarian-szeged-train", "hungarian-szeged-test"),
    Row("Greek-GDT", "greek-gdt-train", "greek-gdt-test"),
    Row("Turkish-IMST", "turkish-imst-train", "turkish-imst-test"),
)


def measure(row: Row, lab: Lab) -> dict[str, Any]:
    """Train and test one row in this process."""
    train = lab.treebank(row.train)[:: row.every]
    test = lab.treebank(row.test)
    options = TrainingOptions(projective=row.projective)
    train_arc_parser(train[:5], rng=np.random.default_rng(SEED), options=options)[0].parse(test[0])
    start = time.process_time()
    parser, report = train_arc_parser(train, rng=np.random.default_rng(SEED), options=options)
    trained = time.process_time()
    mbr, best = (
        attachment_scores(test, [[parser.parse(sentence, decode=decode) for sentence in test]])[0]
        for decode in ("mbr", "map")
    )
    speed = parse_seconds(parser, lab.treebank_path(row.test))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tagger = train_tagger(train, rng=np.random.default_rng(SEED))
    tagged = [parser.parse(with_columns(sentence, upos=tagger.tag(sentence).upos)) for sentence in test]
    (of_tagged,) = attachment_scores(test, [tagged])
    return {
        "shape": "projective" if parser.inference.projective else "non-projective",
        "sentences": len(train),
        "uas": mbr.uas,
        "map_uas": best.uas,
        "las": mbr.las,
        "las_no_subtypes": mbr.las_no_subtypes,
        "tagged": [of_tagged.uas, of_tagged.las, of_tagged.las_no_subtypes],
        "epoch_rate": len(train) * len(report.epochs) / sum(record.seconds for record in report.epochs),
        "train_seconds": trained - start,
        "parse_rate": len(test) / speed["seconds"],
        "megabytes": memory,
        "model_megabytes": speed["model_megabytes"],
    }


def parse_seconds(parser: ArcParser, path: Path) -> dict[str, float]:
    """Return the least of three times of parsing a file, and the size of the model."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        parser.save(model)
        whole = math.inf
        for _ in range(3):
            began = time.process_time()
            write_conllu(parser.parse_all(read_conllu(path)), Path(folder) / "out")
            whole = min(whole, time.process_time() - began)
        return {"seconds": whole, "model_megabytes": model.stat().st_size / 1e6}


def run(lab: Lab) -> Figures:
    results = {}
    for row in ROWS:
        source: Source = {
            "options": {"every": row.every, "projective": row.projective},
            "data": [lab.treebank_path(row.train), lab.treebank_path(row.test)],
        }
        if row.name in lab.options.rows:
            measure_row = partial(in_own_process, measure, row, lab)
            results[row] = lab.cache.figures(row.name, measure_row, **source)
        elif (kept := lab.cache.kept(row.name, **source)) is not None:
            results[row] = kept
    header = ("treebank", "trees", "sentences", "UAS", "MAP", "LAS", "LAS, no subtypes")
    tagged = ("UAS, predicted tags", "LAS, predicted tags", "LAS, no subtypes, predicted tags")
    speed = ("epoch, sentences/s", "whole training, s", "parse, sentences/s", "peak MB", "model MB")
    return Figures(
        tables={
            "accuracy": table(
                (*header, *tagged, "peers"),
                [accuracy_row(row, found) for row, found in results.items()],
            ),
            "speed": table(
                ("treebank", "trees", *speed), [speed_row(row, found) for row, found in results.items()]
            ),
        }
    )


def accuracy_row(row: Row, found: dict[str, Any]) -> list[str]:
    scores = [found[key] for key in ("uas", "map_uas", "las", "las_no_subtypes")] + found["tagged"]
    cells = [f"{score:.2f}" for score in scores]
    return [row.name, found["shape"], str(found["sentences"]), *cells, row.peers]


def speed_row(row: Row, found: dict[str, Any]) -> list[str]:
    keys = {"epoch_rate": 0, "train_seconds": 1, "parse_rate": 0, "megabytes": 0, "model_megabytes": 1}
    return [row.name, found["shape"], *(f"{found[key]:.{digits}f}" for key, digits in keys.items())]


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
