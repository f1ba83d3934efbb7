"""Write the figures of docs/completion.md: heads of some words are given, and how many more of the others are right.

The model is bootstrapped from the first pairs of a bitext, as those of the review page; tags are their own. The words
whose heads are given are drawn, and the same words are left out of the score where nothing is given. Nothing was
chosen on these sentences.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import qsproj
from qsproj.conventions import NO_HEAD, Mask, frozen_heads
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.sentence import Sentence
from qsproj.models.storage import load_model_of
from qsproj.models.text.text_parser import TextParser
from qsproj.trees.crossings import crossing_arcs
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.transfer.review import model_of

LANGUAGES = {"de": "German"}
SHARES = (0.1, 0.25, 0.5)
SEED = 1


def of_the_rest(lab: Lab, language: str, share: float) -> dict[str, Any]:
    """Return the UAS of the words whose heads are not given, alone and given the others."""
    model = load_model_of(model_of(lab, language), TextParser, expected="a model of text", remedy="make one")
    rng = np.random.default_rng(SEED)
    right: dict[str, list[Mask]] = {"alone": [], "given": []}
    for gold in lab.pud(language):
        if crossing_arcs(gold.heads).any():
            continue
        known = rng.random(len(gold)) < share
        for name, kept in (("alone", np.zeros_like(known)), ("given", known)):
            found = qsproj.complete(model, known_heads(gold, kept), retag=True)
            right[name].append((found.heads == gold.heads)[1:][~known])
    return {name: 100.0 * float(np.concatenate(masks).mean()) for name, masks in right.items()}


def known_heads(gold: Sentence, kept: Mask) -> Sentence:
    """Return the words with the heads of those that are ``kept``, bool[n], and with no relation."""
    heads = np.where(np.concatenate(([True], kept)), gold.heads, NO_HEAD)
    return replace(gold, heads=frozen_heads(heads), deprels=(UNSPECIFIED,) * len(gold))


def measure(lab: Lab) -> Figures:
    rows = []
    for language, name in LANGUAGES.items():
        for share in SHARES:
            count = partial(of_the_rest, lab, language, share)
            found = lab.cache.figures(
                f"{language} completed {share}",
                count,
                options={"share": share, "seed": SEED},
                data=[lab.pud_path(language)],
            )
            alone, given = found["alone"], found["given"]
            rows.append(
                [name, f"{100 * share:.0f}%", f"{alone:.1f}", f"{given:.1f}", f"{given - alone:+.1f}"]
            )
    return Figures(tables={"rest": table(["PUD", "heads given", "alone", "given these", "gain"], rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__ or "", measure=measure, page="completion")

if __name__ == "__main__":
    EXPERIMENT.main()
