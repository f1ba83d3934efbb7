"""Train tagger and parser of a source language."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from qsproj.corpus.formats import read_all
from qsproj.errors import pluralise
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.morphology import morphology_training
from qsproj.models.tagging.tagger_training import TaggerOptions, train_tagger
from qsproj.models.text.text_parser import text_parser
from qsproj.pipelines.bootstrap.workspace import StageReport, stage

# Options of the source models. With 4 passes for tags, Wolof words had 1.4 UPOS less (one seed).
TAGS_OF_SOURCE = TaggerOptions(epochs=6)
ARCS_OF_SOURCE = TrainingOptions(template_set="words", epochs=6)
LABEL_EPOCHS_OF_SOURCE = 3
FEATURES_OF_SOURCE = morphology_training.MorphologyOptions(epochs=3)


@stage("source", version=11)
def train_source(paths: Sequence[Path], *, treebanks: Sequence[str], language: str, seed: int) -> StageReport:
    """Train tagger and parser of the source, with features if the treebank has them, to be projected.

    Raises UsageError or DataError when a treebank cannot be read, or has no trees or tags.
    """
    sentences = list(read_all(treebanks))
    rng = np.random.default_rng(seed)
    tagger = train_tagger(sentences, rng=rng, language=language, options=TAGS_OF_SOURCE)
    parser, report = train_arc_parser(
        sentences, rng=rng, options=ARCS_OF_SOURCE, label_epochs=LABEL_EPOCHS_OF_SOURCE
    )
    if "feats" in morphology_training.columns_shown(sentences):
        # Separate generator: features must not change tags and trees.
        features = morphology_training.train_morphology(
            sentences, rng=np.random.default_rng(seed), columns=["feats"], options=FEATURES_OF_SOURCE
        )
        tagger = replace(tagger, morphology=features)
    text_parser(tagger, parser).save(paths[0])
    words = sum(map(len, sentences))
    trained = f"trained on {pluralise(len(sentences), 'sentence')}, {pluralise(words, 'word')}"
    figures = {"sentences": len(sentences), "words": words}
    return StageReport(line=f"{trained}; {report.summary(parser.inference)}", figures=figures)
