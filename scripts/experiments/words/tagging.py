"""The tagger against nltk's averaged perceptron, one ingredient at a time.

Options of the tagger were chosen on the German development rows; PUD is only tested on.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_text
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import tokenize
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.pages.words import tagging

NLTK = "nltk"
WORST = 15
Predict = Callable[[Sentence], Sequence[str]]


@dataclass(frozen=True)
class Setting:
    """One row of the first table: a language, what it is trained and tested on, and its raw text."""

    name: str
    language: str
    train: tuple[str, ...]
    test: str
    bitext: str
    column: int = 1


SETTINGS = (
    Setting("de-dev, LIT to GSD", "de", ("treebanks/german-lit-test",), "treebanks/german-gsd-dev", "en-de"),
    Setting("de-dev, GSD to LIT", "de", ("treebanks/german-gsd-dev",), "treebanks/german-lit-test", "en-de"),
    Setting("German PUD", "de", ("treebanks/german-gsd-dev", "treebanks/german-lit-test"), "pud/de", "en-de"),
    Setting(
        "Spanish PUD",
        "es",
        ("treebanks/spanish-gsd-dev", "treebanks/spanish-ancora-dev", "treebanks/spanish-ancora-test"),
        "pud/es",
        "en-es",
    ),
    Setting(
        "Swedish PUD",
        "sv",
        ("treebanks/swedish-talbanken-dev", "treebanks/swedish-talbanken-test"),
        "pud/sv",
        "en-sv",
    ),
    Setting("English PUD", "en", ("treebanks/english-ewt-train",), "pud/en", "en-de", column=0),
)

INGREDIENTS = (
    ("words only", False, TaggerOptions(merge_contractions=False)),
    ("+ whole contractions", False, TaggerOptions()),
    ("+ word classes", True, TaggerOptions(self_training=0)),
    ("+ self-training", True, TaggerOptions()),
)


@dataclass(frozen=True)
class Result:
    """Accuracy in percent, user CPU seconds to train, sentences tagged a second, and words by gold and wrong tag."""

    accuracy: float
    training_seconds: float
    sentences_per_second: float
    errors: list[tuple[str, str, int]]
    words: int


def files(lab: Lab, setting: Setting) -> list[Path]:
    """Return the files of a setting: those to train on, that to test on, and its raw text."""
    treebanks = (lab.data / f"{name}.conllu.gz" for name in (*setting.train, setting.test))
    return [*treebanks, lab.data / "bitext" / f"{setting.bitext}.tsv.xz"]


def measure(lab: Lab, setting: Setting) -> dict[str, object]:
    """Train and test each tagger on one setting."""
    *training, testing, text = files(lab, setting)
    train = [sentence for path in training for sentence in read_conllu(path)]
    test = list(read_conllu(testing))
    raw = raw_text(text, setting)
    results = {NLTK: asdict(timed(lambda: nltk_tagger(train), test))}
    for name, with_raw, options in INGREDIENTS:
        learn = partial(our_tagger, train, raw if with_raw else (), options)
        results[name] = asdict(timed(learn, test))
    return dict(results)


def our_tagger(train: Sequence[Sentence], raw: Sequence[Sequence[str]], options: TaggerOptions) -> Predict:
    tagger = train_tagger(train, rng=np.random.default_rng(1), raw=raw, options=options)
    return lambda sentence: tagger.tag_words(sentence.forms)


def raw_text(path: Path, setting: Setting) -> list[list[str]]:
    """Return the words of one side of a bitext."""
    with open_text(path) as handle:
        sides = (line.rstrip("\n").split("\t")[setting.column] for line in handle)
        return [tokenize(side, setting.language) for side in sides]


def nltk_tagger(train: Sequence[Sentence]) -> Predict:
    """Train nltk's averaged perceptron with its default number of iterations."""
    from nltk.tag.perceptron import PerceptronTagger

    random.seed(1)
    tagger = PerceptronTagger(load=False)
    tagger.train([list(zip(sentence.forms, sentence.upos)) for sentence in train])
    return lambda sentence: [tag for _, tag in tagger.tag(list(sentence.forms))]


def timed(learn: Callable[[], Predict], test: Sequence[Sentence]) -> Result:
    """Train, then tag ``test``."""
    started = time.process_time()
    predict = learn()
    training_seconds = time.process_time() - started
    predict(test[0])
    started = time.process_time()
    tagged = [predict(sentence) for sentence in test]
    seconds = time.process_time() - started
    errors: Counter[tuple[str, str]] = Counter()
    for sentence, tags in zip(test, tagged):
        errors.update((gold, tag) for gold, tag in zip(sentence.upos, tags) if gold != tag)
    words = sum(map(len, test))
    return Result(
        accuracy=100 * (1 - sum(errors.values()) / words),
        training_seconds=training_seconds,
        sentences_per_second=len(test) / seconds,
        errors=[(gold, tag, count) for (gold, tag), count in errors.most_common(WORST)],
        words=words,
    )


def run(lab: Lab) -> Figures:
    results: dict[str, dict[str, Result]] = {}
    for setting in SETTINGS:
        found = lab.cache.figures(
            f"tagging {setting.name}", partial(measure, lab, setting), data=files(lab, setting)
        )
        results[setting.name] = {name: Result(**kept) for name, kept in found.items()}
    columns = [NLTK, *(name for name, _, _ in INGREDIENTS)]
    accuracy = [
        [setting, *(f"{of[name].accuracy:.2f}" for name in columns)] for setting, of in results.items()
    ]
    speeds = [
        [setting, name, f"{of[name].training_seconds:.0f}", f"{of[name].sentences_per_second:,.0f}"]
        for setting, of in results.items()
        for name in (NLTK, columns[-1])
    ]
    german = results["German PUD"][columns[-1]]
    worst = [
        [gold, tag, str(count), f"{100 * count / german.words:.2f}"] for gold, tag, count in german.errors
    ]
    return Figures(
        tables={
            "accuracy": table(["trained and tested on", *columns], accuracy),
            "speed": table(["setting", "tagger", "training, CPU s", "sentences/s"], speeds),
            "errors": table(["gold", "tagged", "words", "% of all"], worst),
        }
    )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, page="tagging", reading=tagging)

if __name__ == "__main__":
    EXPERIMENT.main()
