"""Measure sentence splitting of running text: trained on treebanks, by rules, and by UDPipe 1 if it is installed.

The text consists of the sentences of the treebank separated by spaces, one paragraph a line. UDPipe's tokeniser is trained
with its default settings (package ufal.udpipe) and kept in the folder of ``--udpipe``, where an existing one is used.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.language.sentence_ends import rule_starts
from qsproj.corpus.sentence import Sentence
from qsproj.evaluation.conll18 import F1, cut_scores
from qsproj.models.tokens.splitter import running_texts, train_splitter
from scripts.experiments.harness.experiment import Experiment, Lab
from scripts.experiments.harness.page import Figures
from scripts.experiments.harness.tables import table
from scripts.experiments.words.morphology import library_sentences

# By name: code, training file, test file; the last four have no train file and use dev.
TREEBANKS = {
    "English": ("en", "english-ewt-train", ("english-ewt-dev", "english-ewt-test")),
    "Greek": ("el", "greek-gdt-train", ("greek-gdt-dev", "greek-gdt-test")),
    "Hungarian": ("hu", "hungarian-szeged-train", ("hungarian-szeged-dev", "hungarian-szeged-test")),
    "Turkish": ("tr", "turkish-imst-train", ("turkish-imst-dev", "turkish-imst-test")),
    "Danish": ("da", "danish-ddt-dev", ("danish-ddt-test",)),
    "German": ("de", "german-gsd-dev", ("german-gsd-test",)),
    "Czech": ("cs", "czech-cac-dev", ("czech-cac-test",)),
    "Slovenian": ("sl", "slovenian-ssj-dev", ("slovenian-ssj-test",)),
}
PEER = "UDPipe 1"


def text_of(gold: Iterable[Sentence]) -> str:
    """Return the running text of a treebank, a blank line between paragraphs."""
    return "\n\n".join(text for text, _ in running_texts(gold)) + "\n"


def ours(lab: Lab, language: str, train: str, tests: tuple[str, ...]) -> list[list[float]]:
    """Return F1 of sentences, as learned and by rules, of each test file."""
    splitter = train_splitter(lab.treebank(train), language=language)
    assert splitter is not None
    ways = (splitter.starts, partial(rule_starts, language=language))
    return [[score(lab.treebank(test), starts) for starts in ways] for test in tests]


def score(gold: Iterable[Sentence], starts: Callable[[str], Sequence[int]]) -> float:
    """Return F1 of sentences of the same first and last character."""
    counts = Counter[str]()
    for text, wanted in running_texts(gold):
        own, found = (set(pairwise([*places, len(text)])) for places in (wanted, starts(text)))
        counts.update(right=len(own & found), gold=len(own), system=len(found))
    return F1(**counts).f1


def udpipe(lab: Lab, train: str, test: str) -> float:
    """Return F1 of sentences of UDPipe 1, trained before or now."""
    library = import_module("ufal.udpipe")
    path = Path(lab.options.udpipe) / f"{train}.tokenizer.udpipe"
    if not path.exists():
        treebank = library_sentences(library, lab.treebank_path(train))
        fault = library.ProcessingError()
        model = library.Trainer.train(
            "morphodita_parsito", treebank, library.Sentences(), "", "none", "none", fault
        )
        path.write_bytes(model)
    # A pipeline does not keep its model alive.
    model = library.Model.load(str(path))
    pipeline = library.Pipeline(model, "tokenize", "none", "none", "conllu")
    gold = lab.treebank(test)
    cut = lab.cache.folder / f"{test}.udpipe.conllu"
    cut.write_text(pipeline.process(text_of(gold), library.ProcessingError()), encoding="utf-8")
    return cut_scores(gold, read_conllu(cut)).parts["sentences"].f1


def run(lab: Lab) -> Figures:
    lines = []
    for name in lab.options.treebanks:
        language, train, tests = TREEBANKS[name]
        data = [lab.treebank_path(file) for file in (train, *tests)]
        found = lab.cache.figures(f"sentences {name}", partial(ours, lab, language, train, tests), data=data)
        for test, scores in zip(tests, found, strict=True):
            measured = lab.options.udpipe and name in lab.options.peers
            peer = f"{udpipe(lab, train, test):.2f}" if measured else ""
            lines.append([f"{name}, {test.rpartition('-')[2]}", *(f"{one:.2f}" for one in scores), peer])
    return Figures(tables={"found": table(["treebank", "learned", "by rules", PEER], lines)})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--udpipe", metavar="FOLDER", help="also measure UDPipe 1; folder of its models (default: do not)"
    )
    names = list(TREEBANKS)
    for option, what in (("--treebanks", "cut these"), ("--peers", "UDPipe on these")):
        parser.add_argument(
            option, nargs="*", default=names, choices=names, metavar="NAME", help=f"{what} (default: all)"
        )


EXPERIMENT = Experiment(file=__file__, about=__doc__, measure=run, add_arguments=add_arguments)

if __name__ == "__main__":
    EXPERIMENT.main()
