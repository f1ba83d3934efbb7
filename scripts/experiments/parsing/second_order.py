"""Second-order parsing against first-order: accuracy, significance, time. Writes docs/graph-parsing.md.

    QSPROJ_DATA=... .venv/bin/python -m scripts.experiments.parsing.second_order [--rows NAME ...] [--cache FOLDER]

Each row is trained with the defaults of ``qsproj train`` with ``--order 1`` and ``--order 2``. All tokens are
scored, punctuation included; tags, lemmas and features are gold. With --cache, what has been measured is kept
there, so that treebanks can be measured one at a time.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.evaluation.significance import exact_paired_test
from qsproj.models.graph.graph_training import train_graph_parser
from scripts.experiments.parsing.treebank_rows import ROWS, SEED, Row, add_arguments, measured, right_heads

REPORT = Path(__file__).resolve().parents[3] / "docs" / "graph-parsing.md"

READING = """
## Reading the table

- The aim was 0.8 UAS on the mean of Danish, Dutch and Hungarian, where it is 1.15, and 1.0 on English-EWT, where it
  is 0.98 with all of the training data and 1.40 with a twelfth: the better the first order, the less the second adds.
- LINK starts from the weights of the first order. Started at zero, the beliefs of the first epoch are far off, and
  what they teach stays. Messages are damped, without which this start is worth less. Steps that become smaller, a
  smaller step size, weaker penalties, and leaving the first epochs out of the average were no better. All of this was
  chosen on the dev files of English-EWT and Hungarian.
- How far messages are from exact inference over the same factors is measured in
  [search-error.md](search-error.md) and [search-error-learned.md](search-error-learned.md), graphs with fewer factors
  in [relaxation.md](relaxation.md).
- Parsing without projectivity, factor by factor, beside exact inference and hill climbing (thesis, table 3.2):
  [nonprojective-parsing.md](nonprojective-parsing.md). Weaker hard constraints than a tree (table 3.3):
  [hard-constraints.md](hard-constraints.md). Tags and tree together: [joint-tagging.md](joint-tagging.md).
"""


@dataclass(frozen=True)
class Result:
    """Right heads of each test sentence by order, and processor times."""

    row: Row
    words: int
    first: np.ndarray
    second: np.ndarray
    second_order_share: float
    train_seconds: float
    parse_milliseconds: float
    base_milliseconds: float


def measure(row: Row, data: Path) -> Result:
    """Train and test one row; the first-order parser is the one inside the second-order one."""
    train = list(read_conllu(data / f"{row.train}.conllu.gz"))[:: row.every]
    test = list(read_conllu(data / f"{row.test}.conllu.gz"))
    train_graph_parser(train[:5], rng=np.random.default_rng(SEED))[0].parse(test[0])
    start = time.process_time()
    parser, _ = train_graph_parser(train, rng=np.random.default_rng(SEED))
    trained = time.process_time()
    second = [parser.parse(sentence) for sentence in test]
    parsed = time.process_time()
    first = [parser.base.parse(sentence) for sentence in test]
    done = time.process_time()
    orders = [parser.arc_beliefs(sentence).order for sentence in test]
    return Result(
        row=row,
        words=sum(map(len, test)),
        first=right_heads(test, first),
        second=right_heads(test, second),
        second_order_share=float(np.mean(np.array(orders) == 2)),
        train_seconds=trained - start,
        parse_milliseconds=1000 * (parsed - trained) / len(test),
        base_milliseconds=1000 * (done - parsed) / len(test),
    )


def p_value(differences: np.ndarray) -> str:
    """Return the p-value of a sum of differences, as far as it is exact."""
    p = exact_paired_test(differences)
    return f"{p:.2g}" if p > 1e-12 else "< 1e-12"


def report(results: list[Result]) -> Iterator[str]:
    """Format the results as Markdown."""
    yield "# Second-order parsing by belief propagation\n"
    yield f"Made by `scripts/experiments/parsing/second_order.py` on {platform.machine()}, Python {platform.python_version()}, one"
    yield "core. PTREE + LINK + GRAND + CHILDSEQ + VALENCE, five iterations, decoding by minimum Bayes risk. The"
    yield "first-order parser is the one that prunes, and where LINK starts. p is that of an exact paired permutation test"
    yield "over sentences. Times are of the processor: *ms* a sentence, features, inference and labels included.\n"
    yield "| treebank | first order | second order | gain | p | training, s | ms, first | ms, second | in second order |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for result in results:
        one, two = (100 * counts.sum() / result.words for counts in (result.first, result.second))
        yield (
            f"| {result.row.name} | {one:.2f} | {two:.2f} | {two - one:+.2f} | {p_value(result.second - result.first)} | {result.train_seconds:.0f} "
            f"| {result.base_milliseconds:.2f} | {result.parse_milliseconds:.2f} | {100 * result.second_order_share:.1f}% |"
        )
    pooled = np.concatenate([result.second - result.first for result in results])
    yield f"\nAll rows pooled: {pooled.sum():+d} right heads (p: {p_value(pooled)})."
    yield READING


def main() -> None:
    """Measure the rows and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser, ROWS)
    results = measured("graph parser", measure, ROWS, parser.parse_args())
    text = "\n".join(report(results)) + "\n"
    REPORT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
