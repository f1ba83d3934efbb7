"""Tokens learned from treebanks against the rules of sacremoses: F1 of tokens and words on PUD and on dev files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from qsproj.corpus.contractions import learn_contractions
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import read_text
from qsproj.evaluation.cut_differently import cut_scores
from qsproj.models.tokens.tokenizer_training import tokenized_text, train_tokenizer
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

SIZE = 500
CHINESE_TRAINING = 600
NO_RULES = ["-", "-"]


def spread(sentences: Sequence[Sentence], size: int) -> list[Sentence]:
    """Return ``size`` sentences, evenly from the whole file: treebanks are sorted by genre."""
    places = np.linspace(0, len(sentences) - 1, min(size, len(sentences)))
    return [sentences[int(place)] for place in places]


def measure(train: Sequence[Sentence], test: Sequence[Sentence], language: str) -> list[str]:
    """Return F1 of tokens and words, learned and by rules with the contractions of the treebank."""
    lines = [found.text for sentence in test if (found := tokenized_text(sentence)) is not None]
    tokenizer = train_tokenizer(train, rng=np.random.default_rng(1), language=language)
    learned = cut_scores(test, tokenizer.read(lines))
    cells = [f"{learned.tokens.f1:.2f}", f"{learned.words.f1:.2f}"]
    if tokenizer.known:
        return cells + NO_RULES
    contractions = learn_contractions(train)
    rules = cut_scores(test, read_text(lines, language, contractions=contractions))
    return [*cells, f"{rules.tokens.f1:.2f}", f"{rules.words.f1:.2f}"]


def run(lab: Lab) -> Figures:
    german, spanish = lab.treebank("german-gsd-dev"), lab.treebank("spanish-gsd-dev")
    ancora, swedish = lab.treebank("spanish-ancora-dev"), lab.treebank("swedish-talbanken-dev")
    chinese = lab.pud("zh")
    conditions = {
        "German PUD, 500 of GSD dev": (spread(german, SIZE), lab.pud("de"), "de"),
        "German PUD, the first 500 of GSD dev": (german[:SIZE], lab.pud("de"), "de"),
        "German PUD, 50 of GSD dev": (spread(german, 50), lab.pud("de"), "de"),
        "Spanish PUD, 500 of GSD dev": (spread(spanish, SIZE), lab.pud("es"), "es"),
        "Spanish PUD, the first 500 of GSD dev": (spanish[:SIZE], lab.pud("es"), "es"),
        "Spanish PUD, 50 of GSD dev": (spread(spanish, 50), lab.pud("es"), "es"),
        "Spanish AnCora dev, 500 of GSD dev": (spread(spanish, SIZE), ancora, "es"),
        "Swedish PUD, 500 of Talbanken dev": (spread(swedish, SIZE), lab.pud("sv"), "sv"),
        "Chinese PUD 601-1000, 600": (chinese[:CHINESE_TRAINING], chinese[CHINESE_TRAINING:], "zh"),
    }
    names = ("german-gsd-dev", "spanish-gsd-dev", "spanish-ancora-dev", "swedish-talbanken-dev")
    data = [lab.treebank_path(name) for name in names] + [
        lab.pud_path(code) for code in ("de", "es", "sv", "zh")
    ]
    rows = [
        [title, *lab.cache.figures(f"tokens {title}", partial(measure, *condition), data=data)]
        for title, condition in conditions.items()
        if condition[0] and condition[1]
    ]
    header = ("test, learned from", "tokens", "words", "tokens by rules", "words by rules")
    return Figures(tables={"cut": table(header, rows)})


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="tokens")

if __name__ == "__main__":
    EXPERIMENT.main()
