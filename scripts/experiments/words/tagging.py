"""Measure the tagger against nltk's averaged perceptron, one ingredient at a time, and write docs/tagging.md.

    QSPROJ_DATA=/path/to/data python -m scripts.experiments.words.tagging docs/tagging.md

Options of the tagger were chosen on the German development rows; PUD is only tested on.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.files import open_output, open_text
from qsproj.corpus.sentence import Sentence
from qsproj.corpus.text import tokenize
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger

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
    """Accuracy in percent, user CPU seconds to train, sentences tagged a second, and wrong (gold, tag)."""

    accuracy: float
    training_seconds: float
    sentences_per_second: float
    errors: Counter[tuple[str, str]]
    words: int


def main(output: str) -> None:
    """Measure every setting and write the tables."""
    data = Path(os.environ["QSPROJ_DATA"])
    results = {}
    for setting in SETTINGS:
        results[setting.name] = measure(setting, data)
        for name, result in results[setting.name].items():
            print(f"{setting.name}, {name}: {result.accuracy:.2f}", file=sys.stderr)
    with open_output(output) as handle:
        handle.write(report(results))


def measure(setting: Setting, data: Path) -> dict[str, Result]:
    """Train and test each tagger on one setting."""
    train = [sentence for name in setting.train for sentence in treebank(data, name)]
    test = treebank(data, setting.test)
    raw = raw_text(data, setting)
    results = {"nltk": timed(lambda: nltk_tagger(train), test)}
    for name, with_raw, options in INGREDIENTS:

        def learn(with_raw: bool = with_raw, options: TaggerOptions = options) -> Predict:
            tagger: Tagger = train_tagger(
                train, rng=np.random.default_rng(1), raw=raw if with_raw else (), options=options
            )
            return lambda sentence: tagger.tag_words(sentence.forms)

        results[name] = timed(learn, test)
    return results


def treebank(data: Path, name: str) -> list[Sentence]:
    """Read one treebank."""
    return list(read_conllu(data / f"{name}.conllu.gz"))


def raw_text(data: Path, setting: Setting) -> list[list[str]]:
    """Return the words of one side of a bitext."""
    with open_text(data / "bitext" / f"{setting.bitext}.tsv.xz") as handle:
        sides = (line.rstrip("\n").split("\t")[setting.column] for line in handle)
        return [tokenize(side, setting.language) for side in sides]


def nltk_tagger(train: Sequence[Sentence]) -> Predict:
    """Train nltk's averaged perceptron with its default number of iterations."""
    import random

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
        errors=errors,
        words=words,
    )


def report(results: dict[str, dict[str, Result]]) -> str:
    """Return the page."""
    columns = ["nltk", *(name for name, _, _ in INGREDIENTS)]
    rows = [[setting, *(f"{of[name].accuracy:.2f}" for name in columns)] for setting, of in results.items()]
    speeds = [
        [setting, name, f"{of[name].training_seconds:.0f}", f"{of[name].sentences_per_second:,.0f}"]
        for setting, of in results.items()
        for name in ("nltk", INGREDIENTS[-1][0])
    ]
    german = results["German PUD"][INGREDIENTS[-1][0]]
    worst = [
        [gold, tag, str(count), f"{100 * count / german.words:.2f}"]
        for (gold, tag), count in german.errors.most_common(15)
    ]
    return PAGE.format(
        machine=f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}",
        accuracy=table(["trained and tested on", *columns], rows),
        speed=table(["setting", "tagger", "training, CPU s", "sentences/s"], speeds),
        errors=table(["gold", "tagged", "words", "% of all"], worst),
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


PAGE = """# The tagger, measured

Written by `scripts/experiments/words/tagging.py`; {machine}. UPOS accuracy in percent, all words, gold words.

{accuracy}

- *nltk*: its averaged perceptron, five iterations, trained on the same sentences.
- *words only*: our chain CRF on forms, affixes, shapes and neighbours; AdaGrad, ten epochs, averaged weights.
- *+ whole contractions*: sentences with multiword tokens also with these left whole (*am* as ADP beside
  *an dem*), each copy at half weight. On gold words it is worth between -0.2 and 0.3; it is there for
  plain text, where *am* stays one word.
- *+ word classes*: exchange clustering of the bitext's side of that language, 64 classes of lower-cased
  words and 512 of words as written.
- *+ self-training*: 8,000 of those sentences, tagged by the tagger so far, at half weight.

The first two rows decided on features and options (together with German-GSD test); PUD decided nothing.

## Time

CPU seconds of one process, compilation and clustering included, on a machine with other work on it.

{speed}

## Errors on German PUD

{errors}

Much of what is left looks like annotation rather than language: which proper nouns are NOUN, whether *gut*
after a verb is ADJ or ADV, which *haben* is an auxiliary.
"""

if __name__ == "__main__":
    main(sys.argv[1])
