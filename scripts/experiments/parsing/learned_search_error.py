"""Measure search error under the scores of trained second-order parsers.

As search_error.py, but the scores of LINK, GRAND and CHILDSEQ are those of parsers trained by belief propagation, and
graphs are pruned as by those parsers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.constraints import candidate_arcs
from qsproj.models.graph.graph_parser import (
    GraphOptions,
    GraphParser,
    sentences_with_trees,
    train_factors,
    train_pruners,
)
from qsproj.trees.second_order import SecondOrderScores
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.parsing.exact_scores import exact_scores, scored_graph
from scripts.experiments.parsing.parsing_methods import Measured, compare, methods_table
from scripts.experiments.parsing.treebank_rows import SEED

# Use one of this many training sentences.
EVERY = 12
MODELS = {"GRAND": ("grand",), "GRAND + CHILDSEQ": ("grand", "childseq")}


def train_parsers(
    sentences: Sequence[Sentence], models: Mapping[str, tuple[str, ...]] = MODELS
) -> dict[str, GraphParser]:
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
        for name, families in models.items()
    }


def learned_scores(sentence: Sentence, parser: GraphParser) -> SecondOrderScores:
    """Return the parser's scores over the arcs that its first order leaves."""
    base = parser.base
    _, marginals = base.inference.infer(base.scores(sentence))
    candidates = candidate_arcs(marginals, base.inference, threshold=parser.options.threshold)
    families = parser.options.families_for(base.inference)
    return exact_scores(*scored_graph(parser, sentence, candidates, families))


def measure(sentence: Sentence, parser: GraphParser) -> Measured:
    """Parse one sentence with the parser's scores, exactly and by belief propagation."""
    return compare(
        sentence,
        learned_scores(sentence, parser),
        parser.base.heads(parser.base.scores(sentence)),
        siblings="childseq" in parser.options.families_for(parser.inference),
        single_root=True,
    )


def measure_all(lab: Lab) -> dict[str, Any]:
    """Parse all sentences with each parser."""
    parsers = train_parsers(lab.treebank("english-ewt-train")[::EVERY])
    test = lab.treebank("english-ewt-test")
    return {
        name: [asdict(measure(sentence, parser)) for sentence in test] for name, parser in parsers.items()
    }


def run(lab: Lab) -> Figures:
    files = [lab.treebank_path(name) for name in ("english-ewt-train", "english-ewt-test")]
    found = lab.cache.figures("learned search error", partial(measure_all, lab), data=files)
    results = {name: list(map(Measured.of, kept)) for name, kept in found.items()}
    some = next(iter(results.values()))
    return Figures(
        tables={name: methods_table(measured) for name, measured in results.items()},
        values={"sentences": f"{len(some):,}", "words": f"{sum(one.words for one in some):,}"},
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
)

if __name__ == "__main__":
    EXPERIMENT.main()
