"""Compare belief propagation with exact inference (thesis figures 2.7-2.9).

Graphs are those of English-EWT test: LINK scores of a first-order parser, GRAND and CHILDSEQ scores estimated from
counts in the trees of English-EWT train.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from qsproj.conventions import NO_HEAD, Scores, frozen_heads
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import Table, table
from scripts.experiments.parsing.parsing_methods import (
    RUNS,
    WAYS,
    Measured,
    compare,
    mean_ms,
    methods_table,
)
from scripts.experiments.parsing.second_order_counts import CountModel, count_model, model_scores

# The parser is trained on one of this many sentences; counts use all of them.
EVERY = 4
MODELS = ("GRAND", "GRAND + CHILDSEQ", "GRAND + CHILDSEQ, pruned")
# Pruned graphs have no arc whose first-order probability is less, unless it is in the best tree.
LEAST_PROBABILITY = 3e-3
LONG = (20, 40, 80, 120)
LONG_WAYS = ("best", "exact", "flooding 10")


def measure(
    sentence: Sentence,
    parser: ArcParser,
    counted: CountModel,
    model: str,
    runs: Sequence[tuple[str, int]] = RUNS,
) -> Measured:
    """Parse one sentence exactly, and by belief propagation in each of ``runs``."""
    single_root = parser.inference.single_root
    arcs = parser.scores(sentence)
    if "pruned" in model:
        arcs = pruned(arcs, parser)
    scores = model_scores(sentence, arcs, counted, siblings="CHILDSEQ" in model)
    return compare(
        sentence,
        scores,
        parser.heads(arcs),
        siblings="CHILDSEQ" in model,
        single_root=single_root,
        runs=runs,
    )


def pruned(arcs: Scores, parser: ArcParser) -> Scores:
    """Forbid the arcs that are improbable under the first-order model."""
    _, marginals = parser.inference.infer(arcs)
    kept = marginals >= LEAST_PROBABILITY
    heads = parser.inference.best(marginals)
    kept[heads[1:], np.arange(1, heads.size)] = True
    return np.where(kept, arcs, -np.inf)


def joined(sentences: Sequence[Sentence], start: int, length: int) -> Sentence:
    """Return the words of successive sentences as one sentence of a given length, with meaningless heads."""
    words: list[tuple[str, ...]] = []
    while len(words) < length:
        one = sentences[start % len(sentences)]
        words.extend(zip(one.forms, one.lemmas, one.upos, one.xpos, one.feats, one.deprels, strict=True))
        start += 1
    forms, lemmas, upos, xpos, feats, deprels = map(tuple, zip(*words[:length], strict=True))
    heads = frozen_heads([NO_HEAD] * (length + 1))
    return Sentence(
        sent_id=None,
        forms=forms,
        lemmas=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        deprels=deprels,
        heads=heads,
    )


def joined_texts(
    sentences: Sequence[Sentence], parser: ArcParser, counted: CountModel, model: str
) -> dict[str, dict[str, float]]:
    """Return milliseconds by way to parse, of texts longer than sentences are, by length."""
    by_length: dict[str, dict[str, float]] = {}
    for length in LONG:
        texts = [joined(sentences, place, length) for place in (0, 100)]
        measured = [measure(text, parser, counted, model, runs=[("flooding", 10)]) for text in texts]
        by_length[str(length)] = {way: mean_ms([one.outcomes[way] for one in measured]) for way in LONG_WAYS}
    return by_length


def measure_all(lab: Lab) -> dict[str, Any]:
    """Parse all sentences under each model."""
    train, test = lab.treebank("english-ewt-train"), lab.treebank("english-ewt-test")
    options = TrainingOptions(projective=True)
    parser, _ = train_arc_parser(train[::EVERY], rng=np.random.default_rng(1), options=options)
    counted = count_model(train)
    measure(test[0], parser, counted, MODELS[-1])
    return {
        "sentences": {
            model: [asdict(measure(sentence, parser, counted, model)) for sentence in test]
            for model in MODELS
        },
        "joined": {model: joined_texts(test, parser, counted, model) for model in MODELS},
    }


def run(lab: Lab) -> Figures:
    files = [lab.treebank_path(name) for name in ("english-ewt-train", "english-ewt-test")]
    found = lab.cache.figures("search error", partial(measure_all, lab), data=files)
    results = {model: list(map(Measured.of, kept)) for model, kept in found["sentences"].items()}
    tables: dict[str, Table] = {}
    for model, measured in results.items():
        tables[model] = methods_table(measured)
        rows = [
            [length, *(f"{times[way]:.1f}" for way in LONG_WAYS)]
            for length, times in found["joined"][model].items()
        ]
        tables[f"{model}: joined"] = table(["words", *(f"{WAYS[way]}, ms" for way in LONG_WAYS)], rows)
    return Figures(tables=tables)


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run)

if __name__ == "__main__":
    EXPERIMENT.main()
