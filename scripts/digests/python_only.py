"""Models with options that the command line does not offer."""

from __future__ import annotations

from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.formats import write_sentences
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.models.storage import load_model
from qsproj.pipelines.bilingual.biparse import train_joint_parser
from qsproj.pipelines.projection.methods import METHODS


def train_moved(path: str) -> None:
    """Train a joint model whose target weights move with the joint ones, and without a source, too."""
    options = BiparseOptions(
        target_weights="joint",
        joint=JointOptions(source_tree="joint"),
        training=JointTrainingOptions(epochs=1, null_source=True),
    )
    pairs = list(AlignedFiles("en.conllu", "de.conllu", "en-de.pharaoh"))
    train_joint_parser(pairs, load_model("english.parser"), rng=np.random.default_rng(1), options=options)[
        0
    ].save(path)


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
