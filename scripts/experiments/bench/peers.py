"""Other parsers: those that are run if installed, and the published figures of others."""

from __future__ import annotations

import time
from importlib import import_module
from importlib.metadata import version

from scripts.experiments.bench.rows_data import every, treebank
from scripts.experiments.bench.sides import Bench

HEADER = ["parser", "sentences/s", "whence"]
TIMES = 4
# Training sentences of EWT: the time of a transition-based parser does not depend on its weights.
SHARE = 12
ON_A_GPU = "reported by its makers with version 1.1.1: Penn Treebank, GTX 1080 Ti"
REPORTED = (
    ["SuPar, biaffine", "1,832", ON_A_GPU],
    ["SuPar, second-order CRF", "532", ON_A_GPU],
)


def peers(bench: Bench) -> list[list[str]]:
    """Return a row for each parser; parsers that are not installed are left out."""
    try:
        return [_udpipe(bench), *REPORTED]
    except ModuleNotFoundError:
        return [*REPORTED]


def _udpipe(bench: Bench) -> list[str]:
    """Measure UDPipe 1 under the same conditions: words and tags given, reading and writing, EWT test."""
    udpipe = import_module("ufal.udpipe")
    fault = udpipe.ProcessingError()
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(every(bench, "english-ewt-train", SHARE).read_text(encoding="utf-8"))
    trees = udpipe.Sentences()
    while reader.nextSentence(sentence := udpipe.Sentence(), fault):
        trees.append(sentence)
    path = bench.folder / "peer.udpipe"
    learning = ("none", "none", "iterations=1")
    path.write_bytes(udpipe.Trainer.train("morphodita_parsito", trees, udpipe.Sentences(), *learning, fault))
    # The pipeline does not keep it alive.
    model = udpipe.Model.load(str(path))
    pipeline = udpipe.Pipeline(model, "conllu", udpipe.Pipeline.NONE, udpipe.Pipeline.DEFAULT, "conllu")
    text = treebank(bench, "english-ewt-test")
    taken = []
    for times in (1, 1 + TIMES):
        start = time.process_time()
        pipeline.process(text * times, fault)
        taken.append(time.process_time() - start)
    rate = text.count("\n\n") * TIMES / (taken[1] - taken[0])
    return ["UDPipe 1, parser alone", f"{rate:,.0f}", f"measured here: ufal.udpipe {version('ufal.udpipe')}"]
