"""Demo on the sample in ``corpora/``: train a German parser from English trees and a bitext."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.conventions import NO_HEAD, ROOT
from qsproj.corpus.editing import with_columns, with_heads
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.evaluation.alignment import AlignmentScores, alignment_scores
from qsproj.evaluation.attachment import AttachmentScores, attachment_scores
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.parallel import start_task
from qsproj.pipelines.projection.hard_projection import ProjectedTrees, ProjectionCounts, train_on_projection
from qsproj.pipelines.projection.methods import HardProjectionOptions
from qsproj.pipelines.projection.soft_projection import project_soft


def attach_previous(sentence: Sentence) -> Sentence:
    """Attach every word to the one before it, the first to the root ("attach left", "modify previous")."""
    return with_heads(sentence, [NO_HEAD, *range(len(sentence))], ["dep"] * len(sentence))


def attach_next(sentence: Sentence) -> Sentence:
    """Attach every word to the one after it, the last to the root ("attach right", "modify next")."""
    return with_heads(sentence, [NO_HEAD, *range(2, len(sentence) + 1), ROOT], ["dep"] * len(sentence))


FOLDS, EPOCHS = 3, 8


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Measurements of the demo."""

    alignment: AlignmentScores  # our aligner, run on the sample alone, against manual links
    projection: ProjectionCounts  # projected English trees against the German gold trees
    scores: dict[str, AttachmentScores]  # of each system on all German sentences, by cross-validation


def run_demo(corpora: Path, *, seed: int) -> DemoResult:
    """Project the sample's English trees to German, train on them, and test on held-out German trees."""
    english, german, links = (corpora / name for name in ("en.conllu", "de.conllu", "en-de.pharaoh"))
    for path in (english, german, links):
        if not path.is_file():
            raise UsageError(f"found no {path}; name the folder of the sample with --corpora")
    pairs = list(AlignedFiles(str(english), str(german), str(links)))
    # The tasks share no kernels: in the first run, each process compiles half of them.
    alignment = start_task(_alignment_scores, pairs)
    projection = ProjectedTrees(pairs)
    bare = ("lemmas", "xpos", "feats")
    trees = [with_columns(tree, **dict.fromkeys(bare, ("_",) * len(tree))) for tree in projection]
    gold, parsed = list[Sentence](), dict[str, list[Sentence]]()
    for fold in range(FOLDS):
        held_out = [pair.target for pair in pairs[fold::FOLDS]]
        gold += held_out
        rest = [number for number in range(len(pairs)) if number % FOLDS != fold]
        systems = _systems([pairs[i] for i in rest], [trees[i] for i in rest], seed=seed)
        for name, parse in systems.items():
            parsed.setdefault(name, []).extend(map(parse, held_out))
    scores = attachment_scores(gold, list(parsed.values()))
    return DemoResult(alignment(), projection.counts, dict(zip(parsed, scores, strict=True)))


def _alignment_scores(pairs: list[SentencePair]) -> AlignmentScores:
    words = ((pair.source.forms, pair.target.forms) for pair in pairs)
    return alignment_scores((pair.alignment for pair in pairs), align_words(words))


def _systems(
    pairs: list[SentencePair], trees: list[Sentence], *, seed: int
) -> dict[str, Callable[[Sentence], Sentence]]:
    first, second, third = (np.random.default_rng(seed) for _ in range(3))
    selection, training = HardProjectionOptions(), TrainingOptions(epochs=EPOCHS)
    hard, _, _ = train_on_projection(trees, rng=first, selection=selection, training=training)
    of_tags = replace(training, template_set="delexicalised")
    transferred, _ = train_arc_parser([pair.source for pair in pairs], rng=second, options=of_tags)
    soft = project_soft([pairs], priors=[transferred], rng=third)
    return {
        "every word on the previous one": attach_previous,
        "every word on the next one": attach_next,
        "English parser of tags alone": transferred.parse,
        "hard projection": hard.parse,
        "soft projection": soft.parser.parse,
    }
