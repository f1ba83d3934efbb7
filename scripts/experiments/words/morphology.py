"""Measure lemmas, features and XPOS of taggers trained on treebanks, and of UDPipe 1 if it is installed.

Word segmentation is gold, UPOS is predicted by each tagger. UDPipe is trained with its default settings (package
ufal.udpipe); its models do not depend on qsproj and are kept in the folder of ``--udpipe``, where existing ones are used.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import chain, cycle
from pathlib import Path
from typing import Any

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.files import open_text
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.conll18 import universal_features
from qsproj.models.parser import load_tags
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table

# Training and test files: treebanks with train files, then those trained on their dev file.
TREEBANKS = {
    "Greek": ("greek-gdt-train", "greek-gdt-test", "greek-gdt-dev"),
    "Hungarian": ("hungarian-szeged-train", "hungarian-szeged-test", "hungarian-szeged-dev"),
    "Turkish": ("turkish-imst-train", "turkish-imst-test", "turkish-imst-dev"),
    "English": ("english-ewt-train", "english-ewt-test", "english-ewt-dev"),
    "Danish": ("danish-ddt-dev", "danish-ddt-test"),
    "German": ("german-gsd-dev", "german-gsd-test"),
    "Czech": ("czech-cac-dev", "czech-cac-test"),
    "Slovenian": ("slovenian-ssj-dev", "slovenian-ssj-test"),
}
# Number of words for timing the whole command.
TIMED_WORDS = 10_000
COLUMNS = ("UPOS", "UFeats", "lemmas", "XPOS")
OURS, UDPIPE = "qsproj", "UDPipe 1"
Row = tuple[str, str, str, str]


def scores(gold: Sequence[Sentence], rows: Iterator[Row]) -> dict[str, float]:
    """Return the percentage of words with the right cell, by column; ``rows`` are those of all words in order."""
    right = dict.fromkeys(COLUMNS, 0)
    words = 0
    for sentence in gold:
        for cells in zip(sentence.upos, sentence.feats, sentence.lemmas, sentence.xpos, strict=True):
            words += 1
            for name, own, found in zip(COLUMNS, cells, next(rows), strict=True):
                if name == "UFeats":
                    own, found = universal_features(own), universal_features(found)
                right[name] += own == found
    return {name: 100 * count / words for name, count in right.items()}


def ours(lab: Lab, train: str, tests: Sequence[str]) -> dict[str, Any]:
    """Train our tagger as ``qsproj train-tagger`` does; return scores by test file, speed, seconds and size."""
    with tempfile.TemporaryDirectory() as folder:
        model, timed = (str(Path(folder) / name) for name in ("model", "timed.conllu"))
        started = children_seconds()
        command("train-tagger", str(lab.treebank_path(train)), "-o", model)
        found: dict[str, Any] = {
            "training": children_seconds() - started,
            "MB": Path(model).stat().st_size / 1e6,
        }
        tagger = load_tags(model)
        for test in tests:
            gold = lab.treebank(test)
            tagger.tag(gold[0])  # compiled
            started = time.process_time()
            tagged = [tagger.tag(sentence) for sentence in gold]
            words = sum(map(len, gold))
            found[f"{test} words/s"] = words / (time.process_time() - started)
            cells = (zip(one.upos, one.feats, one.lemmas, one.xpos, strict=True) for one in tagged)
            found[test] = scores(gold, chain.from_iterable(cells))
        some = list(sentences_of(lab.treebank(tests[0]), TIMED_WORDS))
        write_conllu(some, timed)
        started = children_seconds()
        command("tag", "-m", model, timed, "-o", str(Path(folder) / "out.conllu"))
        found["command"] = sum(map(len, some)) / (children_seconds() - started)
    return found


def command(*words: str) -> None:
    """Run qsproj with stored bytecode, as an installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / "qsproj-bytecode"))
    subprocess.run([sys.executable, "-m", "qsproj", *words], check=True, env=environment)


def children_seconds() -> float:
    """Return the processor seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sentences_of(gold: Sequence[Sentence], words: int) -> Iterator[Sentence]:
    """Yield sentences, repeatedly from the first one, until they have ``words`` words."""
    for sentence in cycle(gold):
        if words <= 0:
            return
        yield sentence
        words -= len(sentence)


def udpipe(lab: Lab, train: str, test: str) -> dict[str, float]:
    """Test UDPipe 1, trained before or now."""
    library = import_module("ufal.udpipe")
    path = Path(lab.options.udpipe) / f"{train}.udpipe"
    if not path.exists():
        settings = ("none", "", "none")
        model = library.Trainer.train(
            "morphodita_parsito",
            library_sentences(library, lab.treebank_path(train)),
            library.Sentences(),
            *settings,
            library.ProcessingError(),
        )
        path.write_bytes(model)
    model = library.Model.load(str(path))

    def rows() -> Iterator[Row]:
        for sentence in library_sentences(library, lab.treebank_path(test)):
            words = [sentence.words[place] for place in range(1, sentence.words.size())]
            for word in words:
                word.upostag = word.xpostag = word.feats = word.lemma = ""
            model.tag(sentence, "")
            for word in words:
                yield word.upostag, word.feats or "_", word.lemma, word.xpostag or "_"

    return scores(lab.treebank(test), rows())


def library_sentences(library: Any, path: Path) -> Any:
    """Read a treebank as UDPipe does."""
    reader = library.InputFormat.newConlluInputFormat()
    with open_text(str(path)) as handle:
        reader.setText(handle.read())
    sentences, fault = library.Sentences(), library.ProcessingError()
    while reader.nextSentence(sentence := library.Sentence(), fault):
        sentences.append(sentence)
    return sentences


def run(lab: Lab) -> Figures:
    tables: dict[str, list[list[str]]] = {"test": [], "dev": []}
    for name in lab.options.treebanks:
        train, *tests = TREEBANKS[name]
        data = [lab.treebank_path(file) for file in (train, *tests)]
        found = lab.cache.figures(f"morphology {name}", partial(ours, lab, train, tests), data=data)
        for test, lines in zip(tests, tables.values(), strict=False):
            peer = (
                udpipe(lab, train, test)
                if name in lab.options.peers and lab.options.udpipe
                else dict[str, float]()
            )
            lines.append(
                [name]
                + [f"{found[test][column]:.2f}" for column in COLUMNS]
                + [f"{peer[column]:.2f}" if peer else "" for column in COLUMNS[:3]]
                + [f"{found[f'{test} words/s']:,.0f}", f"{found['command']:,.0f}", f"{found['MB']:.1f}"]
                + [f"{found['training']:.0f}"]
            )
    heads = [*(f"{OURS} {column}" for column in COLUMNS), *(f"{UDPIPE} {column}" for column in COLUMNS[:3])]
    heads += ["words/s", "words/s, whole command", "MB", "training, s"]
    return Figures(
        tables={name: table(["treebank", *heads], lines) for name, lines in tables.items()},
        values={"timed": f"{TIMED_WORDS:,}"},
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--udpipe", metavar="FOLDER", help="also measure UDPipe 1; folder of its models (default: do not)"
    )
    names = list(TREEBANKS)
    parser.add_argument(
        "--treebanks",
        nargs="*",
        default=names,
        choices=names,
        metavar="NAME",
        help="treebanks to test on (default: all)",
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        default=names,
        choices=names,
        metavar="NAME",
        help="treebanks for UDPipe (default: all)",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
