"""Lemmas, features and XPOS learned from treebanks, with UDPipe 1 beside where it is installed.

Words are given, UPOS is each tagger's own. UDPipe is trained with its default settings (package ufal.udpipe); its models
do not depend on ours and are kept in the folder that ``--udpipe`` names, where those that are there are taken as they are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.files import open_text
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.cut_differently import universal_features
from qsproj.models.morphology.morphology_training import train_morphology
from qsproj.models.tagging.tagger_training import train_tagger
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.pages.words import morphology

# What is trained on, and what is tested on: treebanks with train files, then those of which dev stands for train.
TREEBANKS = {
    "Greek": ("greek-gdt-train", "greek-gdt-test"),
    "Hungarian": ("hungarian-szeged-train", "hungarian-szeged-test"),
    "Turkish": ("turkish-imst-train", "turkish-imst-test"),
    "Danish": ("danish-ddt-dev", "danish-ddt-test"),
    "German": ("german-gsd-dev", "german-gsd-test"),
    "Czech": ("czech-cac-dev", "czech-cac-test"),
    "Slovenian": ("slovenian-ssj-dev", "slovenian-ssj-test"),
    "English": ("english-ewt-train", "english-ewt-test"),
}
CHOSEN_ON = {
    "Greek": ("greek-gdt-train", "greek-gdt-dev"),
    "Hungarian": ("hungarian-szeged-train", "hungarian-szeged-dev"),
    "Turkish": ("turkish-imst-train", "turkish-imst-dev"),
}
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


def ours(lab: Lab, train: str, test: str) -> dict[str, float]:
    """Train our tagger and test it; also tell words tagged a second, and processor seconds of training."""
    treebank, gold = lab.treebank(train), lab.treebank(test)
    started = time.process_time()
    tagger = train_tagger(treebank, rng=np.random.default_rng(1))
    learned = train_morphology(treebank, rng=np.random.default_rng(1))
    assert learned is not None
    trained = time.process_time() - started
    tags = [tagger.tag_words(sentence.forms) for sentence in gold[:1]]  # compiled, and loaded
    started = time.process_time()
    tags = [tagger.tag_words(sentence.forms) for sentence in gold]
    rows = []
    for sentence, upos in zip(gold, tags, strict=True):
        analyses = learned.analyses(sentence.forms, upos)
        for form, one in zip(sentence.forms, analyses, strict=True):
            lemma = learned.lemma(form, one) if "lemma" in learned.columns else "_"
            rows.append((one.upos, one.feats, lemma, one.xpos))
    rate = len(rows) / (time.process_time() - started)
    return {**scores(gold, iter(rows)), "words/s": rate, "training": trained}


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


Measure = Callable[[Lab, str, str], dict[str, float]]


def run(lab: Lab) -> Figures:
    return Figures(
        tables={
            "test": scored(lab, {name: TREEBANKS[name] for name in lab.options.treebanks}),
            "dev": scored(lab, CHOSEN_ON),
        }
    )


def scored(lab: Lab, treebanks: Mapping[str, tuple[str, str]]) -> Any:
    """Return a table of both taggers; UDPipe's cells are empty where it was not run."""
    lines = []
    for name, files in treebanks.items():
        data = [lab.treebank_path(file) for file in files]
        found = lab.cache.figures(f"morphology {name} {files[1]}", partial(ours, lab, *files), data=data)
        peer: dict[str, float] = {}
        if name in lab.options.peers and lab.options.udpipe:
            peer = udpipe(lab, *files)
        shown = [f"{found[column]:.2f}" for column in COLUMNS]
        beside = [f"{peer[column]:.2f}" if peer else "" for column in COLUMNS[:3]]
        lines.append([name, *shown, *beside, f"{found['words/s']:,.0f}", f"{found['training']:.0f}"])
    heads = [*(f"{OURS} {column}" for column in COLUMNS), *(f"{UDPIPE} {column}" for column in COLUMNS[:3])]
    return table(["treebank", *heads, "words/s", "training, s"], lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--udpipe", metavar="FOLDER", help="train UDPipe 1, too, and keep its models here (default: do not)"
    )
    names = list(TREEBANKS)
    parser.add_argument(
        "--treebanks",
        nargs="*",
        default=names,
        choices=names,
        metavar="NAME",
        help="test on these (default: all)",
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        default=names,
        choices=names,
        metavar="NAME",
        help="UDPipe on these (default: all)",
    )


EXPERIMENT = Experiment(
    file=__file__,
    about=__doc__,
    measure=run,
    page="morphology",
    reading=morphology,
    add_arguments=add_arguments,
)

if __name__ == "__main__":
    EXPERIMENT.main()
