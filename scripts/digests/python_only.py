"""Models with options that the command line does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import write_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.pipelines.projection.methods import METHODS


def train_supported(path: str) -> None:
    """Train a parser of features that candidate arcs support, with an L1 penalty."""
    options = TrainingOptions(epochs=1, template_set="words", cutoff=1, support="links", l1=0.01)
    parser, _ = train_arc_parser(
        list(read_conllu("de.conllu")), rng=np.random.default_rng(1), options=options
    )
    parser.save(path)


def project(name: str, method: str, **options: Any) -> None:
    """Project a parser, and write it and the trees, as ``qsproj project`` does."""
    sources = (AlignedFiles("en.conllu", "de.conllu", "en-de.pharaoh"),)
    made = METHODS[method].project(sources, rng=np.random.default_rng(1), **options)
    write_sentences(made.trees(), f"{name}.trees.conllu")
    made.parser.save(f"{name}.parser")
