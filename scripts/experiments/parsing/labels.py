"""Compare relations decoded jointly with the tree and after it: accuracy, calibration, time.

First-order parsers trained by ``qsproj train`` with and without ``--labels joint``, on gold tags, lemmas and features.
All tokens are scored, punctuation included. Settings were chosen on parts of the dev files of Danish, Dutch and German,
and on English-EWT dev.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads
from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.editing import RELATION_PROBABILITY
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.calibration import (
    Outcomes,
    confidences_of,
    expected_calibration_error,
    reliability,
)
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.labelled.labelled_parser import LabelledParser
from qsproj.models.labelled.labelled_training import train_labelled_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.treebank_rows import SEED, Row, add_rows_argument, differs, measured

ROWS = (
    Row("Danish-DDT", "danish-ddt-dev", "danish-ddt-test"),
    Row("Dutch-Alpino", "dutch-alpino-dev", "dutch-alpino-test"),
    Row("German-GSD", "german-gsd-dev", "german-gsd-test"),
    Row("English-EWT, 1 in 12", "english-ewt-train", "english-ewt-test", every=12),
)
LEVEL = 0.05
PASSES = 5


def measure(train: list[Sentence], test: list[Sentence]) -> dict[str, Any]:
    """Train each kind of parser, and parse."""
    return {
        "after": of_parser(partial(train_arc_parser, train), test),
        "joint": of_parser(partial(train_labelled_parser, train), test),
    }


def of_parser(train: Callable[..., Any], test: list[Sentence]) -> dict[str, Any]:
    """Train and test one parser."""
    began = time.process_time()
    parser, _ = train(rng=np.random.default_rng(SEED), options=TrainingOptions())
    trained = time.process_time() - began
    parsed = list(parser.parse_all(test, confidence=True))
    found = {
        "words": sum(map(len, test)),
        "heads": [int(one.sum()) for one in right(test, parsed, labelled=False)],
        "relations": [int(one.sum()) for one in right(test, parsed, labelled=True)],
        "arc error": error_of(confidences_of(test, parsed)),
        "training": trained,
        "parsing": parse_seconds(parser, test),
    }
    if isinstance(parser, LabelledParser):
        found |= {
            "relation error": error_of(confidences_of(test, parsed, RELATION_PROBABILITY)),
            **parts(parser, test),
        }
    return found


def right(gold: Sequence[Sentence], parsed: Sequence[Sentence], *, labelled: bool) -> list[NDArray[np.bool_]]:
    """Tell of each word whether its head, or head and relation, are right."""
    found = []
    for one, other in zip(gold, parsed, strict=True):
        heads = (one.heads == other.heads)[1:]
        same = [a == b for a, b in zip(one.deprels, other.deprels, strict=True)]
        found.append(heads & same if labelled else heads)
    return found


def parts(parser: LabelledParser, test: Sequence[Sentence]) -> dict[str, Any]:
    """Count right labelled arcs of the same trees with relations by the posterior, and by the labeller, alone."""
    counts = {"by posterior": 0, "by labeller": 0}
    arcs = 0
    for sentence in test:
        posterior = parser.beliefs(sentence)
        heads = parser.heads(posterior)
        arcs += len(posterior.scores.heads)
        names = parser.relations.relations
        named = {
            "by posterior": [names[best] for best in posterior.chances_of(heads).argmax(axis=1).tolist()],
            "by labeller": parser.labeller.label(parser.encode(sentence), heads),
        }
        for way, relations in named.items():
            counts[way] += labelled_right(sentence, heads, relations)
    return {**counts, "arcs": arcs, "temperatures": [parser.temperature, parser.relation_temperature]}


def labelled_right(gold: Sentence, heads: Heads, relations: Sequence[str]) -> int:
    same = np.array([one == other for one, other in zip(gold.deprels, relations, strict=True)])
    return int(np.count_nonzero((gold.heads == heads)[1:] & same))


def error_of(outcomes: Outcomes) -> float:
    return 100.0 * expected_calibration_error(reliability(*outcomes))


def parse_seconds(parser: ArcParser | LabelledParser, test: Sequence[Sentence]) -> float:
    """Return the least processor time of reading, parsing and writing a file, of some passes."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "test.conllu", Path(folder) / "out.conllu"
        write_conllu(test, given)
        seconds = []
        for _ in range(PASSES):
            began = time.process_time()
            write_conllu(parser.parse_all(read_conllu(given)), made)
            seconds.append(time.process_time() - began)
    return min(seconds)


def run(lab: Lab) -> Figures:
    results = measured(lab, ROWS, measure)
    return Figures(
        tables={
            "accuracy": accuracy(results),
            "parts": named_by(results),
            "calibration": calibration(results),
            "time": times(results),
        }
    )


def accuracy(results: dict[str, Any]) -> Table:
    """Lay out UAS and LAS of both kinds; * where they differ."""
    rows, all_scores = [], []
    for name, found in results.items():
        after, joint = found["after"], found["joint"]
        cells, scores = [], []
        for key in ("heads", "relations"):
            before, now = (100.0 * sum(one[key]) / one["words"] for one in (after, joint))
            mark = "*" if differs(joint[key], after[key], level=LEVEL) else ""
            cells += [f"{before:.2f}", f"{now:.2f}{mark}", f"{now - before:+.2f}"]
            scores += [before, now, now - before]
        rows.append([name, *cells])
        all_scores.append(scores)
    if all_scores:
        rows.append(["mean", *means(all_scores, signed=(2, 5))])
    header = [
        "treebank",
        "UAS, after",
        "UAS, joint",
        "gain of UAS",
        "LAS, after",
        "LAS, joint",
        "gain of LAS",
    ]
    return table(header, rows)


def named_by(results: dict[str, Any]) -> Table:
    """Return the table of LAS of the same trees by labeller."""
    rows, all_scores = [], []
    for name, found in results.items():
        joint = found["joint"]
        right_ones = joint["by posterior"], joint["by labeller"], sum(joint["relations"])
        scores = [100.0 * count / joint["words"] for count in right_ones]
        rows.append([name, *(f"{score:.2f}" for score in scores)])
        all_scores.append(scores)
    if all_scores:
        rows.append(["mean", *means(all_scores)])
    return table(["LAS", "posterior alone", "labeller alone", "both"], rows)


def calibration(results: dict[str, Any]) -> Table:
    """Return the table of calibration errors and temperatures."""
    rows = []
    for name, found in results.items():
        after, joint = found["after"], found["joint"]
        errors = after["arc error"], joint["arc error"], joint["relation error"]
        cells = [*(f"{error:.2f}" for error in errors), *(f"{one:.2f}" for one in joint["temperatures"])]
        rows.append([name, *cells])
    header = ["treebank", "ArcProb, after", "ArcProb, joint", "RelProb, joint"]
    return table([*header, "temperature", "of relations"], rows)


def times(results: dict[str, Any]) -> Table:
    """Lay out the processor time of joint in that of after, and how many arcs have their relations scored."""
    rows, all_scores = [], []
    for name, found in results.items():
        after, joint = found["after"], found["joint"]
        scores = [joint[key] / after[key] for key in ("parsing", "training")]
        scores.append(joint["arcs"] / joint["words"])
        rows.append([name, *(f"{score:.2f}" for score in scores)])
        all_scores.append(scores)
    if all_scores:
        rows.append(["mean", *means(all_scores)])
    return table(["joint in after", "parsing", "training", "arcs scored for a word"], rows)


def means(rows: Sequence[Sequence[float]], *, signed: Sequence[int] = ()) -> list[str]:
    """Return the mean of each column, with a sign where it is a difference."""
    columns = zip(*rows, strict=True)
    return [
        f"{statistics.mean(values):{'+' if place in signed else ''}.2f}"
        for place, values in enumerate(columns)
    ]


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
