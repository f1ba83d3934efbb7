"""Hard projection: a parsed source, a tagged target and word links in, a parser of the target out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from qsproj.conventions import NO_HEAD
from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError
from qsproj.models.arc_parser import ArcParser
from qsproj.models.arc_training import TrainingOptions, TrainingReport, train_arc_parser
from qsproj.pipelines.hard_projection import ProjectionCounts, project_tree
from qsproj.pipelines.projected import Projected
from qsproj.progress import track


@dataclass(frozen=True, slots=True, kw_only=True)
class HardProjectionOptions:
    """Which projected trees a parser is trained on.

    Attributes
    ----------
    min_attached : float
        Share of the words of a sentence that must have a head; 1 trains on whole trees only (thesis
        4.6.3.3), less on partial trees, the rest of which is summed out.
    max_sentences : int or None
        Train on this many at most: the densest ones, the earlier of equals.
    """

    min_attached: float = 0.8
    max_sentences: int | None = 20000


@dataclass(frozen=True, slots=True)
class Projection:
    """What came out: every target sentence with what was projected, and the counts."""

    trees: list[Sentence]
    counts: ProjectionCounts


def project_treebank(pairs: Iterable[SentencePair], *, completion: str = "none") -> Projection:
    """Project the tree of every pair; see :func:`project_tree`.

    Raises
    ------
    UsageError
        When not one source sentence has a head.
    """
    trees: list[Sentence] = []
    counts = ProjectionCounts()
    parsed = False
    for pair in track(pairs, "projecting", unit="pair"):
        parsed = parsed or bool(np.any(pair.source.heads[1:] != NO_HEAD))
        tree, more = project_tree(pair, completion=completion)
        trees.append(tree)
        counts += more
    if not parsed:
        raise UsageError("no source sentence has a head; parse the source first (qsproj parse)")
    return Projection(trees, counts)


def densest(trees: Iterable[Sentence], *, min_attached: float, max_sentences: int | None) -> list[Sentence]:
    """Choose the trees in which enough words have a head, the densest first where there are too many.

    The order of the chosen trees is that of the input.
    """
    shares = [(float(np.mean(tree.heads[1:] != NO_HEAD)), tree) for tree in trees if len(tree)]
    chosen = [(index, share) for index, (share, _) in enumerate(shares) if share >= max(min_attached, 1e-9)]
    if max_sentences is not None and len(chosen) > max_sentences:
        chosen = sorted(chosen, key=lambda entry: (-entry[1], entry[0]))[:max_sentences]
    return [shares[index][1] for index, _ in sorted(chosen)]


def train_on_projection(
    trees: Iterable[Sentence],
    *,
    rng: np.random.Generator,
    selection: HardProjectionOptions,
    training: TrainingOptions,
) -> tuple[ArcParser, TrainingReport, int]:
    """Train a parser on the projected trees that are dense enough; return also how many these were.

    Raises
    ------
    UsageError
        When none is.
    """
    chosen = densest(trees, min_attached=selection.min_attached, max_sentences=selection.max_sentences)
    if not chosen:
        raise UsageError(
            f"no projected tree has heads for {100 * selection.min_attached:g}% of its words; "
            "lower --min-attached, or align with --symmetrize grow-diag for more links"
        )
    parser, report = train_arc_parser(chosen, rng=rng, options=training)
    return parser, report, len(chosen)


def project_hard(
    pairs: Iterable[SentencePair],
    *,
    rng: np.random.Generator,
    completion: str,
    selection: HardProjectionOptions,
    training: TrainingOptions,
    trees: str | None = None,
) -> Projected:
    """Project arcs through links and train a parser on what is dense enough.

    Parameters
    ----------
    pairs : iterable of SentencePair
        The source with trees, the target with tags.
    completion : str
        A name in :data:`qsproj.pipelines.hard_projection.COMPLETIONS`.
    trees : path or None
        Where to write the projected trees, whole and partial.

    Raises
    ------
    UsageError
        When no source sentence has a head, or no projected tree is dense enough.
    """
    projection = project_treebank(pairs, completion=completion)
    if trees:
        write_conllu(projection.trees, trees)
    parser, report, used = train_on_projection(
        projection.trees, rng=rng, selection=selection, training=training
    )
    return Projected(
        parser,
        (
            *projection.counts.summary(),
            f"trained on {used} sentences: {report.summary(parser.inference)}",
        ),
    )
