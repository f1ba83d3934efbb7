"""The main job on the sample in ``corpora/``: English trees and a bitext in, a German parser out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.editing import with_columns
from qsproj.corpus.formats import read_alignments, read_sentences
from qsproj.corpus.pairing import pair_aligned
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.evaluation.alignment import AlignmentScores, alignment_scores
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.models.arc.arc_training import TrainingOptions, train_arc_parser
from qsproj.pipelines.projection.baselines import attach_next, attach_previous
from qsproj.pipelines.projection.hard_projection import ProjectionCounts
from qsproj.pipelines.projection.method_options import HardProjectionOptions
from qsproj.pipelines.projection.project import ProjectedTrees, train_on_projection

HELD_OUT = 30
EPOCHS = 8


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo measured.

    Attributes
    ----------
    alignment : AlignmentScores
        Our aligner, trained on nothing but the sample's sentences, against the hand alignment.
    projection : ProjectionCounts
        The English trees projected onto the German training sentences, against their own trees.
    trained_on : int
        Projected trees that were dense enough to train on.
    scores : dict of str to AttachmentScores
        Each system on the held-out German sentences.
    """

    alignment: AlignmentScores
    projection: ProjectionCounts
    trained_on: int
    scores: dict[str, AttachmentScores]


def run_demo(corpora: Path, *, seed: int) -> DemoResult:
    """Project the sample's English trees to German, train on them, test on held-out German trees.

    Parameters
    ----------
    corpora : path
        Folder with ``en.conllu``, ``de.conllu`` and ``en-de.pharaoh``.

    Raises
    ------
    UsageError
        When the sample is not there.
    """
    pairs = list(_pairs(corpora))
    training, held_out = pairs[:-HELD_OUT], [pair.target for pair in pairs[-HELD_OUT:]]
    words = ((pair.source.forms, pair.target.forms) for pair in pairs)
    alignment = alignment_scores((pair.alignment for pair in pairs), align_words(words))
    projection = ProjectedTrees(training)
    projected, _, trained_on = train_on_projection(
        (_tags_only(tree) for tree in projection),
        rng=np.random.default_rng(seed),
        selection=HardProjectionOptions(),
        training=TrainingOptions(epochs=EPOCHS),
    )
    transferred, _ = train_arc_parser(
        [pair.source for pair in training],
        rng=np.random.default_rng(seed),
        options=TrainingOptions(epochs=EPOCHS, template_set="delexicalised"),
    )
    systems = {
        "every word on the previous one": map(attach_previous, held_out),
        "every word on the next one": map(attach_next, held_out),
        "English parser of tags alone": map(transferred.parse, held_out),
        "parser trained on projected trees": map(projected.parse, held_out),
    }
    scores = attachment_scores(held_out, list(systems.values()))
    return DemoResult(alignment, projection.counts, trained_on, dict(zip(systems, scores, strict=True)))


def _pairs(corpora: Path) -> Iterator[SentencePair]:
    english, german, links = (corpora / name for name in ("en.conllu", "de.conllu", "en-de.pharaoh"))
    for path in (english, german, links):
        if not path.is_file():
            raise UsageError(f"found no {path}; name the folder of the sample with --corpora")
    return pair_aligned(read_sentences(english), read_sentences(german), read_alignments(links))


def _tags_only(tree: Sentence) -> Sentence:
    """Return what a user without a treebank has: words, tags, and the projected heads and relations."""
    unknown = ("_",) * len(tree)
    return with_columns(tree, lemmas=unknown, xpos=unknown, feats=unknown)
