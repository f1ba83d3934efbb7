"""Parsers of objective_runs.py on parts of their files, and what minimum Bayes risk gains and why.

Choices are made on the last fifth of a dev file by parsers of the rest; sentences with crossing arcs are looked at
alone, as McDonald et al. 2006 do (table 2).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from qsproj.conventions import Heads, Scores
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.tree_inference import TreeInference, of_tree, reachable
from qsproj.trees.crossings import crossing_arcs
from scripts.experiments.harness.cache import Source
from scripts.experiments.harness.experiment import Lab
from scripts.experiments.parsing.objective_runs import TREEBANKS, Way, measure
from scripts.experiments.parsing.treebank_rows import SEED

# Between these a temperature is looked for.
LEAST, MOST = 0.5, 8.0


@dataclass(frozen=True)
class HeldOut(Lab):
    """Dev files alone: four fifths to train on, the last fifth to test on."""

    def treebank(self, name: str) -> list[Sentence]:
        treebank, _, part = name.rpartition("-")
        sentences = super().treebank(f"{treebank}-dev")
        cut = len(sentences) * 4 // 5
        return sentences[:cut] if part == "dev" else sentences[cut:]


@dataclass(frozen=True)
class Crossing(Lab):
    """Dev files whole, and of test files the sentences with crossing arcs."""

    def treebank(self, name: str) -> list[Sentence]:
        sentences = super().treebank(name)
        if name.endswith("-dev"):
            return sentences
        return [sentence for sentence in sentences if crossing_arcs(sentence.heads).any()]


class Parts:
    """What was measured on parts of the chosen treebanks, and what is kept of others.

    Parameters
    ----------
    lab : Lab
    asked : collection of str
        The treebanks that are to be measured.
    """

    def __init__(self, lab: Lab, asked: Collection[str]) -> None:
        self._lab = lab
        self._asked = asked

    def held_out(self, language: str, way: Way) -> dict[str, Any] | None:
        """Return what a parser of four fifths of a dev file finds on the last fifth."""
        inside = HeldOut(self._lab.data, self._lab.cache, self._lab.options)
        return self._figures("held out", language, way, partial(measure, way, inside, TREEBANKS[language]))

    def crossing(self, language: str, way: Way) -> dict[str, Any] | None:
        """Return what a parser finds on the test sentences with crossing arcs."""
        inside = Crossing(self._lab.data, self._lab.cache, self._lab.options)
        return self._figures("crossing", language, way, partial(measure, way, inside, TREEBANKS[language]))

    def risk(self, language: str, way: Way) -> dict[str, Any] | None:
        """Return what minimum Bayes risk gains over the best tree on the test file."""
        found = partial(risk_gains, way, self._lab, TREEBANKS[language])
        return self._figures("risk", language, way, found)

    def _figures(
        self, part: str, language: str, way: Way, found: partial[dict[str, Any]]
    ) -> dict[str, Any] | None:
        lab, treebank = self._lab, TREEBANKS[language]
        source: Source = {
            "options": {"part": part, **asdict(way)},
            "data": [lab.treebank_path(f"{treebank}-{half}") for half in ("dev", "test")],
            "experiment": Path(__file__),
        }
        name = f"{part} {language} {way.name}"
        if language in self._asked:
            figures: dict[str, Any] = lab.cache.figures(name, found, **source)
            return figures
        return lab.cache.kept(name, **source)


def risk_gains(way: Way, lab: Lab, treebank: str) -> dict[str, Any]:
    """Compare minimum Bayes risk with the best tree: what the model expects it to gain, and what it gains.

    A second parser, of four fifths of the dev file, tells the temperature under which the trees of the last fifth are
    most probable; with scores divided by it, probabilities are as sure as they ought to be.
    """
    held_out = HeldOut(lab.data, lab.cache, lab.options)
    test = lab.treebank(f"{treebank}-test")
    scores, inference = scores_of(way, lab.treebank(f"{treebank}-dev"), test)
    last = held_out.treebank(f"{treebank}-test")
    temperature = best_temperature(
        *scores_of(way, held_out.treebank(f"{treebank}-dev"), last), [sentence.heads for sentence in last]
    )
    best = [inference.best(one) for one in scores]
    told: dict[str, Any] = {
        "words": sum(map(len, test)),
        "temperature": temperature,
        "map": right(test, best),
    }
    for name, divisor in (("mbr", 1.0), ("tempered", temperature)):
        marginals = [inference.infer(one / divisor)[1] for one in scores]
        trees = [inference.best(one) for one in marginals]
        told[name] = {
            "right": right(test, trees),
            "differing": sum(int(np.count_nonzero(a != b)) for a, b in zip(trees, best, strict=True)),
            "expected": sum(
                float(of_tree(one, a).sum() - of_tree(one, b).sum())
                for one, a, b in zip(marginals, trees, best, strict=True)
            ),
        }
    return told


def scores_of(
    way: Way, train: Sequence[Sentence], sentences: Sequence[Sentence]
) -> tuple[list[Scores], TreeInference]:
    """Train a parser without relations; return its scores of the arcs of sentences, and its trees."""
    train = [with_columns(sentence, deprels=[UNSPECIFIED] * len(sentence)) for sentence in train]
    parser, _ = train_arc_parser(train, rng=np.random.default_rng(SEED), options=way.options)
    return [parser.scores(sentence) for sentence in sentences], parser.inference


def right(gold: Sequence[Sentence], trees: Sequence[Heads]) -> list[int]:
    """Return the number of right heads of each sentence."""
    return [
        int(np.count_nonzero(sentence.heads[1:] == heads[1:]))
        for sentence, heads in zip(gold, trees, strict=True)
    ]


def best_temperature(scores: Sequence[Scores], inference: TreeInference, trees: Sequence[Heads]) -> float:
    """Return what scores are to be divided by for trees to be most probable."""
    of_gold = [float(of_tree(one, reachable(heads, inference)).sum()) for one, heads in zip(scores, trees)]

    def surprise(log_temperature: float) -> float:
        divisor = math.exp(log_temperature)
        return sum(inference.infer(one / divisor)[0] - gold / divisor for one, gold in zip(scores, of_gold))

    bounds = math.log(LEAST), math.log(MOST)
    return math.exp(minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 0.01}).x)
