"""Search error under the scores that a second-order parser has learned. Writes docs/search-error-learned.md.

    QSPROJ_DATA=... .venv/bin/python -m scripts.experiments.parsing.learned_search_error [--every N]

As scripts/experiments/parsing/search_error.py, but the scores of LINK, GRAND and CHILDSEQ are those of parsers trained by
belief propagation, and graphs are pruned as those parsers prune them. With --every only one test sentence in N is
taken, and the report goes to standard output.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.models.graph.graph_examples import sentences_with_trees, train_pruners
from qsproj.models.graph.graph_inference import candidate_arcs
from qsproj.models.graph.graph_parser import GraphOptions, GraphParser
from qsproj.models.graph.graph_training import train_factors
from scripts.experiments.parsing.exact_scores import exact_scores, scored_graph
from scripts.experiments.parsing.search_error import Measured, compare, ways_table

REPORT = Path(__file__).resolve().parents[3] / "docs" / "search-error-learned.md"
# One training sentence in so many.
EVERY = 12
SEED = 1
MODELS = {"GRAND": ("grand",), "GRAND + CHILDSEQ": ("grand", "childseq")}
READING = """\
## Reading it

Ten flooding iterations find other heads than exact inference in 1.66% of the words with GRAND (mean over sentences)
and in 2.13% with CHILDSEQ too. The thesis gives 0.4% and 2.4%: the second is reached, the first is not. The counted
scores of [search-error.md](search-error.md), which are weaker, stay below 1%. These scores may be
stronger because they were learned with a margin, and through the very approximation that is measured: two thirds of
the sentences have not settled after ten iterations. In right heads little of this shows: UAS is within 0.2 of that
of exact MBR, as the weights were learned for belief propagation. After ten iterations the exact best tree, which
needs no approximation, is further from exact MBR than what belief propagation finds.

Exact inference leaves probability space for log space, and becomes ten times slower, where scores are so strong
that products leave the range of numbers; that would explain its time with GRAND alone.
"""


def train_parsers(sentences: Sequence[Sentence]) -> dict[str, GraphParser]:
    """Train a parser with each set of factors, all with the same first order."""
    options = TrainingOptions(projective=True, single_root=True)
    rng = np.random.default_rng(SEED)
    base, _ = train_arc_parser(sentences, rng=rng, options=options)
    usable = sentences_with_trees(sentences, base)
    pruners = train_pruners(usable, base, rng=rng, options=options)
    return {
        name: train_factors(
            usable,
            base,
            pruners,
            rng=np.random.default_rng(SEED),
            options=options,
            graph_options=GraphOptions(families=families),
        )[0]
        for name, families in MODELS.items()
    }


def measure(sentence: Sentence, parser: GraphParser) -> Measured:
    """Parse one sentence with the parser's scores, exactly and by belief propagation."""
    base = parser.base
    first_order = base.scores(sentence)
    _, marginals = base.inference.infer(first_order)
    candidates = candidate_arcs(marginals, base.inference, threshold=parser.options.threshold)
    families = parser.options.families_for(base.inference)
    scores = exact_scores(*scored_graph(parser, sentence, candidates, families))
    return compare(
        sentence, scores, base.heads(first_order), siblings="childseq" in families, single_root=True
    )


def report(results: dict[str, list[Measured]]) -> Iterator[str]:
    """Format the results as Markdown."""
    some = next(iter(results.values()))
    words = sum(one.words for one in some)
    yield "# Search error under learned scores\n"
    yield f"Made by `scripts/experiments/parsing/learned_search_error.py` on {platform.machine()}, one core, Python"
    yield f"{platform.python_version()}; {len(some)} sentences of English-EWT test, {words} words. The graphs hold PTREE"
    yield "(one root), LINK, GRAND and, where it says so, CHILDSEQ, over the arcs that first order leaves. All scores are"
    yield f"those of parsers trained on one in {EVERY} sentences of English-EWT train through five sequential iterations of"
    yield "belief propagation over the same factors (`qsproj train --order 2 --factors grand,childseq`). Columns are"
    yield "explained in [search-error.md](search-error.md)."
    for name, measured in results.items():
        yield f"\n## {name}\n"
        yield from ways_table(measured)
    yield READING


def main() -> None:
    """Measure and print the report; over all sentences also write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="take one test sentence in so many; print only")
    options = parser.parse_args()
    folder = Path(os.environ["QSPROJ_DATA"]) / "treebanks"
    train = list(read_conllu(folder / "english-ewt-train.conllu.gz"))[::EVERY]
    test = list(read_conllu(folder / "english-ewt-test.conllu.gz"))[:: options.every]
    parsers = train_parsers(train)
    results = {name: [measure(sentence, parsers[name]) for sentence in test] for name in MODELS}
    text = "\n".join(report(results)) + "\n"
    print(text)
    if options.every == 1:
        REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
