"""Table of the methods of projection for the command line and the API."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.dmv.dmv_options import QgOptions
from qsproj.pipelines.projection import projected
from qsproj.pipelines.projection.projected import Projected, ProjectedArcs
from qsproj.pipelines.treebank_weights import Treebank

# Re-iterable sentence pairs of each source with its target. All methods but one take a single source.
Sources: TypeAlias = Sequence[Iterable[SentencePair]]

ARCS = ("completion", "min_weight", "min_attached")
SOFT = ("strength", "sentences", "share")
EM = ("iterations", "start", "max_words", "punctuation")
# Command options that make up the :class:`qsproj.models.checkpoint.EMRun` passed to a method as ``run``.
RUN = ("checkpoint", "resume", "jobs", "backend", "scheduler")
EM_RUN = (*EM, "sibling_pairs", *RUN)

# Hint for soft projection; gain: docs/guides/projecting.md.
NO_TREEBANK = (
    "the prior is learned from the trees of the bitext; give the source's gold trees as well: --treebank"
)


def _soft(
    sources: Sources,
    *,
    rng: np.random.Generator,
    prior: Sequence[str] = (),
    treebank: Sequence[Sequence[Treebank]] = (),
    also: Sequence[Treebank] = (),
    draws: int | None = None,
    seed: int | None = None,
    annotated: Sequence[Sentence] = (),
    nonprojective: bool = False,
    **given: Any,
) -> Projected:
    """Return the parser that a bootstrap trains from the same files, if ``treebank`` has its treebanks."""
    from qsproj.pipelines.projection.priors import load_prior, source_priors, translated_prior
    from qsproj.pipelines.projection.soft_projection import project_soft
    from qsproj.pipelines.tagging.conventions import Conventional, unshared_conventions

    if annotated and not any(map(has_tree, annotated)):
        raise NothingToLearnError("no usable annotated sentence; is the HEAD column empty?")
    options = projected.SoftProjectionOptions(**given, projective=not nonprojective)
    unshared = unshared_conventions(chain.from_iterable(sources))
    draws = draws or projected.DRAWS
    conventional = [Conventional(pairs, unshared) for pairs in sources]
    if treebank:
        priors = source_priors(
            list(zip(treebank, sources, strict=True)),
            also,
            unshared=unshared,
            target=(pair.target for pairs in sources for pair in pairs),
            rng=np.random.default_rng(seed or 0),
            draws=draws,
        )[0].members
        rng = np.random.default_rng(seed or 0)
    elif prior:
        priors = tuple(map(load_prior, prior))
    else:
        priors = (translated_prior(conventional, rng=rng, draws=draws),)
    found = project_soft(conventional, priors=priors, rng=rng, options=options, annotated=annotated)
    hints = () if treebank or prior else (NO_TREEBANK,)
    return replace(found, report=(*found.report, *hints))


def _hard(
    sources: Sources,
    *,
    rng: np.random.Generator,
    nonprojective: bool = False,
    epochs: int = projected.HARD_EPOCHS,
    **given: Any,
) -> Projected:
    from qsproj.models.arc.training_options import TrainingOptions
    from qsproj.pipelines.projection.hard_projection import project_hard

    training = TrainingOptions(epochs=epochs, projective=not nonprojective)
    return project_hard(
        *sources, rng=rng, projection=projected.HardProjectionOptions(**given), training=training
    )


def _em(
    train: Callable[..., Projected], usual: Any, sources: Sources, *, rng: np.random.Generator, **given: Any
) -> Projected:
    """Train a grammar by EM; ``usual``: its options, where none are given."""
    own = {name: given.pop(name) for name in ("run", "projection") if name in given}
    training = replace(usual, **{name: value for name, value in given.items() if value is not None})
    return train(*sources, rng=rng, training=training, **own)


def _hard_em(sources: Sources, **given: Any) -> Projected:
    from qsproj.pipelines.projection.em_projection import project_hard_em

    arcs = ProjectedArcs(**{name: given.pop(name) for name in ARCS if name in given})
    return _em(project_hard_em, projected.EM_FROM_ARCS, sources, projection=arcs, **given)


def _qg(sources: Sources, **given: Any) -> Projected:
    from qsproj.pipelines.projection.em_projection import project_qg

    return _em(project_qg, QgOptions(), sources, **given)


def _tags_only(sources: Sources, **given: Any) -> Projected:
    from qsproj.pipelines.projection.em_projection import project_tags_only

    return _em(project_tags_only, projected.EM_FROM_TAGS, sources, **given)


class Method(NamedTuple):
    """A method of projection: its summary, options and function."""

    summary: str
    reads: tuple[str, ...]  # options not shared by all methods, by their names on the command line
    project: Callable[..., Projected]  # takes the sources, ``rng``, and those of ``reads`` that are given


# The default method comes first.
METHODS: dict[str, Method] = {
    "soft": Method(
        "starts from other languages' parsers, adjusted by projected arcs",
        ("prior", "treebank", "also", "draws", "seed", *SOFT, "annotated", "nonprojective"),
        _soft,
    ),
    "hard": Method(
        "arcs through links, and a parser trained on them",
        (*ARCS, "max_sentences", "nonprojective", "epochs"),
        _hard,
    ),
    "hard-em": Method("a DMV, projected arcs given, the rest imputed by EM", (*ARCS, *EM_RUN), _hard_em),
    "qg": Method(
        "a DMV, learned through source trees and links by EM",
        (*EM_RUN, "min_linked"),
        _qg,
    ),
    "em": Method(
        "a DMV, learned from tags alone",
        (*EM, *RUN),
        _tags_only,
    ),
}
DEFAULT_METHOD = next(iter(METHODS))
