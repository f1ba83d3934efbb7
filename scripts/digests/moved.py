"""A joint model whose target weights move with the joint ones, and that learns without a source, too."""

from __future__ import annotations

import numpy as np

from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.models.joint.joint_options import BiparseOptions, JointOptions, JointTrainingOptions
from qsproj.models.storage import load_model
from qsproj.pipelines.bilingual.biparse import train_joint_parser


def train(path: str) -> None:
    """Train on the files of the folder, and write the model."""
    options = BiparseOptions(
        target_weights="joint",
        joint=JointOptions(source_tree="joint"),
        training=JointTrainingOptions(epochs=1, null_source=True),
    )
    pairs = list(AlignedFiles("en.conllu", "de.conllu", "en-de.pharaoh"))
    train_joint_parser(pairs, load_model("english.parser"), rng=np.random.default_rng(1), options=options)[
        0
    ].save(path)
