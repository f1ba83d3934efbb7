"""Compare second-order with first-order parsing: accuracy, significance, time.

Each row is trained with the defaults of ``qsproj train`` with ``--order 1`` and ``--order 2``. All tokens are scored,
including punctuation; tags, lemmas and features are gold.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.attachment import exact_paired_test
from qsproj.models.graph.graph_parser import train_graph_parser
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.parsing.treebank_rows import (
    ROWS,
    SEED,
    Counts,
    add_rows_argument,
    differences,
    measured,
    right_heads,
)

NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Result:
    """Right heads of each test sentence by order, and processor times."""

    words: int
    first: list[int]
    second: list[int]
    second_order_share: float
    train_seconds: float
    parse_milliseconds: float
    base_milliseconds: float


def measure(train: list[Sentence], test: list[Sentence]) -> dict[str, object]:
    """Train and test one row; the first-order parser is the one inside the second-order one."""
    train_graph_parser(train[:5], rng=np.random.default_rng(SEED))[0].parse(test[0])
    start = time.process_time()
    parser, _ = train_graph_parser(train, rng=np.random.default_rng(SEED))
    trained = time.process_time()
    second = [parser.parse(sentence) for sentence in test]
    parsed = time.process_time()
    first = [parser.base.parse(sentence) for sentence in test]
    done = time.process_time()
    orders = [parser.arc_beliefs(sentence).order for sentence in test]
    result = Result(
        words=sum(map(len, test)),
        first=right_heads(test, first),
        second=right_heads(test, second),
        second_order_share=float(np.mean(np.array(orders) == 2)),
        train_seconds=trained - start,
        parse_milliseconds=1000 * (parsed - trained) / len(test),
        base_milliseconds=1000 * (done - parsed) / len(test),
    )
    return asdict(result)


def p_value(gains: Counts) -> str:
    """Return the exact p-value of a sum of differences, or a bound if it is negligible."""
    p = exact_paired_test(gains)
    return f"{p:.2g}" if p > NEGLIGIBLE else f"< {NEGLIGIBLE:g}"


def cells(name: str, result: Result) -> Sequence[str]:
    """Return a row of the table."""
    one, two = (100 * sum(right) / result.words for right in (result.first, result.second))
    return (
        name,
        *(f"{one:.2f}", f"{two:.2f}", f"{two - one:+.2f}", p_value(differences(result.second, result.first))),
        *(
            f"{result.train_seconds:.0f}",
            f"{result.base_milliseconds:.2f}",
            f"{result.parse_milliseconds:.2f}",
        ),
        f"{100 * result.second_order_share:.1f}%",
    )


def run(lab: Lab) -> Figures:
    results = {name: Result(**kept) for name, kept in measured(lab, ROWS, measure).items()}
    header = ("treebank", "first order", "second order", "gain", "p")
    times = ("training, s", "ms, first", "ms, second", "in second order")
    gains = np.concatenate([differences(result.second, result.first) for result in results.values()])
    rows = [cells(name, result) for name, result in results.items()]
    return Figures(
        tables={"gains": table((*header, *times), rows)},
        values={"pooled": f"{gains.sum():+d} right heads (p: {p_value(gains)})"},
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_rows_argument([row.name for row in ROWS]),
)

if __name__ == "__main__":
    EXPERIMENT.main()
