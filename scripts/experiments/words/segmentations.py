"""Ways to cut a line into words: the most probable one, what a judge of words and tags chooses, and the best of them.

The judge is a tagger that also knows what is no word; it chooses among the ways that the tokeniser finds most probable.
Words are tagged and parsed by models of the same training sentences. F1 of words, UPOS, UAS and LAS as in CoNLL 2018.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from qsproj.corpus.editing import comment_value
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.cut_differently import cut_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.tagging.tagger import WAYS
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tagging.word_judge import train_word_judge
from qsproj.models.text.text_parser import TextParser
from qsproj.models.tokens.tokenizer_training import tokenized_text, train_tokenizer
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

SEED = 1
HALVES = {"Chinese PUD": "zh"}
FILES = {
    "Japanese-GSD": ("japanese-gsd-dev", "japanese-gsd-test", "ja"),
    "Spanish-GSD": ("spanish-gsd-dev", "spanish-gsd-test", "es"),
}
TRAINING = 600


def measure(train: Sequence[Sentence], test: Sequence[Sentence], language: str) -> dict[str, list[float]]:
    """Return F1 of words, UPOS, UAS, LAS and milliseconds of cutting for each way to choose."""
    tokenizer = train_tokenizer(train, rng=np.random.default_rng(SEED), language=language)
    judge = train_word_judge(train, rng=np.random.default_rng(SEED), language=language)
    options = TrainingOptions(template_set="words")
    parser, _ = train_arc_parser(train, rng=np.random.default_rng(SEED), options=options)
    plain = replace(
        train_tagger(train, rng=np.random.default_rng(SEED), language=language), tokenizer=tokenizer
    )
    model = TextParser(tagger=plain, parser=parser)
    lines = [comment_value(one, "text") or "" for one in test]

    def best(line: str, gold: Sentence) -> Sentence:
        """Return of the most probable ways that with the best words."""
        ways = plain.read([line], segmentations=WAYS)
        return max(ways, key=lambda way: cut_scores([gold], [way]).words.f1)

    choices: dict[str, Callable[[], list[Sentence]]] = {
        "most probable": lambda: list(plain.read(lines)),
        "judged": lambda: list(replace(plain, judge=judge).read(lines)),
        "best": lambda: list(map(best, lines, test)),
        "gold": lambda: list(test),
    }
    found = {}
    for name, choose in choices.items():
        start = time.process_time()
        cut = choose()
        took = time.process_time() - start
        scores = cut_scores(test, model.parse_all(cut, retag=True))
        f1 = [one.f1 for one in (scores.words, scores.tags, scores.unlabelled, scores.labelled)]
        found[name] = [*f1, 1000 * took / len(test)]
    chances = [next(plain.read([line], segmentations=1)) for line in lines]
    sure = np.mean([float(comment_value(one, "segmentation_probability") or 0) for one in chances])
    found["sure"] = [float(sure)]
    return found


def run(lab: Lab) -> Figures:
    conditions = {
        f"{name}, 601-1000": (lab.pud(code)[:TRAINING], lab.pud(code)[TRAINING:], code, [lab.pud_path(code)])
        for name, code in HALVES.items()
    }
    for name, (train, test, code) in FILES.items():
        paths = [lab.treebank_path(file) for file in (train, test)]
        conditions[name] = lab.treebank(train)[:TRAINING], lab.treebank(test), code, paths
    rows = []
    for name, (known, asked, code, paths) in conditions.items():
        shown = [one for one in asked if tokenized_text(one, code) is not None]
        found = lab.cache.figures(f"ways {name}", partial(measure, known, shown, code), data=paths)
        for way in ("most probable", "judged", "best", "gold"):
            *f1, took = found[way]
            cells = [f"{100 * found['sure'][0]:.1f}", *(f"{cell:.2f}" for cell in f1)]
            rows.append([name, way, *cells, f"{took:.1f}" if way in ("most probable", "judged") else ""])
    header = ["test", "cut", "its probability, %", "words", "UPOS", "UAS", "LAS", "ms"]
    return Figures(tables={"ways": table(header, rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="segmentations")

if __name__ == "__main__":
    EXPERIMENT.main()
