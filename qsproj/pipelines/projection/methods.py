"""Table of the methods of projection for the command line and the API."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
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
    hints: tuple[str, ...] = ()
    if treebank:
        again, rng = (np.random.default_rng(seed or 0) for _ in range(2))
        target = (pair.target for pairs in sources for pair in pairs)
        both = list(zip(treebank, sources, strict=True))
        priors, *_ = source_priors(both, also, unshared=unshared, target=target, rng=again, draws=draws)
    elif prior:
        priors = tuple(map(load_prior, prior))
    else:
        priors = (translated_prior(conventional, rng=rng, draws=draws),)
        hints = (NO_TREEBANK,)
    soft = project_soft(conventional, priors=priors, rng=rng, options=options, annotated=annotated)
    return replace(soft, report=(*soft.report, *hints))


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
    projection = projected.HardProjectionOptions(**given)
    return project_hard(*sources, rng=rng, projection=projection, training=training)


def _em(
    function: str, usual: DmvOptions | QgOptions, sources: Sources, *, rng: np.random.Generator, **given: Any
) -> Projected:
    """Train a grammar by a function of em_projection; ``usual``: its options, where none are given."""
    from qsproj.pipelines.projection import em_projection

    own = {"run": given.pop("run")} if "run" in given else {}
    if function == "project_hard_em":
        own["projection"] = ProjectedArcs(**{name: given.pop(name) for name in ARCS if name in given})
    training = replace(usual, **{name: value for name, value in given.items() if value is not None})
    found: Projected = getattr(em_projection, function)(*sources, rng=rng, training=training, **own)
    return found


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
    "hard-em": Method(
        "a DMV, projected arcs given, the rest imputed by EM",
        (*ARCS, *EM_RUN),
        partial(_em, "project_hard_em", projected.EM_FROM_ARCS),
    ),
    "qg": Method(
        "a DMV, learned through source trees and links by EM",
        (*EM_RUN, "min_linked"),
        partial(_em, "project_qg", QgOptions()),
    ),
    "em": Method(
        "a DMV, learned from tags alone",
        (*EM, *RUN),
        partial(_em, "project_tags_only", projected.EM_FROM_TAGS),
    ),
}
DEFAULT_METHOD = next(iter(METHODS))
