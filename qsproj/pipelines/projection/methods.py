"""Projection methods: their options with defaults, the result that they share, and a table of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from qsproj.conventions import Rng
from qsproj.corpus.sentence import Sentence, SentencePair, has_tree
from qsproj.errors import NothingToLearnError
from qsproj.models.dmv.dmv_options import DmvOptions, QgOptions
from qsproj.models.spec import CheckedOptions, option_field
from qsproj.pipelines.treebanks import TagCount, Treebank

if TYPE_CHECKING:  # it imports numba, and help of the options should not wait for it
    from qsproj.models.parser import Parser
    from qsproj.models.tagging.tagger import Tagger


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedArcs(CheckedOptions):
    """Choice of projected arcs and of training sentences.

    ``completion``: a name in :data:`qsproj.pipelines.projection.hard_projection.COMPLETIONS`.
    ``min_attached``: 1 for complete trees only (thesis 4.6.3.3); missing arcs are summed out or imputed.
    """

    completion: str = option_field("none", known=("completion", ("none", "hwa")))
    min_weight: float = option_field(0.5, least=0.0, most=1.0)  # of links to follow, if they have weights
    min_attached: float = option_field(0.8, least=0.0, most=1.0)  # share of words with heads in a sentence


USUAL_ARCS = ProjectedArcs()
DRAWS = 6  # passes over the trees of the prior, each translated anew


@dataclass(frozen=True, slots=True, kw_only=True)
class HardProjectionOptions(ProjectedArcs):
    """Options of the method ``hard``."""

    max_sentences: int = option_field(20000, least=1)  # to train on, the densest


# Words to learn from: up to 1.6 LAS better than 112,000 (Swedish dev), .5 than 300,000; more gain nothing.
ENOUGH_WORDS = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftProjectionOptions(CheckedOptions):
    """Options of soft projection."""

    strength: float = option_field(
        1.5, least=0.0, help="natural log of the likelihood ratio of an arc with certain evidence"
    )
    sentences: int | None = option_field(
        None, least=1, help=f"learn from the N best pairs (default: as many as have {ENOUGH_WORDS:,} words)"
    )
    epochs: int = option_field(2, least=1)  # passes over the pairs
    l2: float = option_field(100.0, least=0.0)  # pull towards the prior
    # Factor of the learned difference from the prior's scores.
    share: float = option_field(
        0.75, least=0.0, most=2.0, help="weight of evidence from links relative to the prior"
    )
    projective: bool = True


HARD_EPOCHS = 5  # of the method ``hard``
# Training of the DMV in the methods ``em`` and ``hard-em``.
EM_FROM_TAGS = DmvOptions()
EM_FROM_ARCS = DmvOptions(
    start="trees", keep_heads=True, iterations=1, max_words=40, sibling_pairs=QgOptions().sibling_pairs
)


@dataclass(frozen=True, slots=True)
class Projected:
    """A parser of the target language, with a report and its trees."""

    parser: "Parser"
    report: tuple[str, ...]  # lines for the user
    trees: Callable[[], Iterable[Sentence]]  # complete or partial trees of the targets; reads the pairs again
    learned_from: Sequence[Sentence] = ()  # training sentences with trees, if the method has selected them


def with_trees_and_tags(pairs: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield the pairs; at the end, a notice of target words without tags.

    NothingToLearnError when no source word had a head, or no target word a tag.
    """
    parsed, tags = False, TagCount()
    for pair in pairs:
        parsed = parsed or has_tree(pair.source)
        tags.add(pair.target)
        yield pair
    if not parsed:
        raise NothingToLearnError("no source sentence has a head; parse the source first (qsproj parse)")
    if tags.untagged == tags.words:
        raise NothingToLearnError("no target word has a UPOS tag; tag the target first (qsproj tag)")
    tags.note("the target")


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
    rng: Rng,
    prior: Sequence[str] = (),
    treebank: Sequence[Sequence[Treebank]] = (),
    also: Sequence[Treebank] = (),
    tagger: "Tagger | None" = None,
    draws: int | None = None,
    seed: int | None = None,
    annotated: Sequence[Sentence] = (),
    nonprojective: bool = False,
    **given: Any,
) -> Projected:
    """Return the parser that a bootstrap trains from the same files, if ``treebank`` has its treebanks."""
    from qsproj.pipelines.projection.priors import load_prior, source_priors, translated_prior
    from qsproj.pipelines.projection.soft_projection import project_soft
    from qsproj.pipelines.tagging.conventions import REFLEXIVE, ReannotatedPairs, unshared_conventions

    if annotated and not any(map(has_tree, annotated)):
        raise NothingToLearnError("no annotated sentence has a head; is the HEAD column empty?")
    options = SoftProjectionOptions(**given, projective=not nonprojective)
    unshared = tagger.unshared if tagger else None
    if unshared is None:
        unshared = unshared_conventions(chain.from_iterable(sources))
    draws = draws or DRAWS
    reannotated = [ReannotatedPairs(pairs, unshared) for pairs in sources]
    hints: tuple[str, ...] = ()
    if treebank:
        again, rng = (np.random.default_rng(seed or 0) for _ in range(2))
        target = (pair.target for pairs in sources for pair in pairs)
        both = list(zip(treebank, sources, strict=True))
        priors, *_ = source_priors(both, also, unshared=unshared, target=target, rng=again, draws=draws)
    elif prior:
        priors = tuple(map(load_prior, prior))
    else:
        priors = (translated_prior(reannotated, rng=rng, draws=draws),)
        hints = (NO_TREEBANK,)
    expletives = REFLEXIVE in unshared
    soft = project_soft(
        reannotated, priors=priors, rng=rng, options=options, annotated=annotated, expletives=expletives
    )
    return replace(soft, report=(*soft.report, *hints))


def _hard(
    sources: Sources, *, rng: Rng, nonprojective: bool = False, epochs: int = HARD_EPOCHS, **given: Any
) -> Projected:
    from qsproj.models.arc.training_options import TrainingOptions
    from qsproj.pipelines.projection.hard_projection import project_hard

    training = TrainingOptions(epochs=epochs, projective=not nonprojective)
    return project_hard(*sources, rng=rng, projection=HardProjectionOptions(**given), training=training)


def _em(
    function: str, usual: DmvOptions | QgOptions, sources: Sources, *, rng: Rng, **given: Any
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
        "other languages' parsers, adjusted by projected arcs",
        ("prior", "treebank", "also", "tagger", "draws", "seed", *SOFT, "annotated", "nonprojective"),
        _soft,
    ),
    "hard": Method(
        "a parser trained on arcs through links",
        (*ARCS, "max_sentences", "nonprojective", "epochs"),
        _hard,
    ),
    "hard-em": Method(
        "a DMV trained on arcs that EM completes",
        (*ARCS, *EM_RUN),
        partial(_em, "project_hard_em", EM_FROM_ARCS),
    ),
    "qg": Method(
        "a DMV trained on source trees and links",
        (*EM_RUN, "min_linked"),
        partial(_em, "project_qg", QgOptions()),
    ),
    "em": Method("a DMV trained on tags", (*EM, *RUN), partial(_em, "project_tags_only", EM_FROM_TAGS)),
}
DEFAULT_METHOD = next(iter(METHODS))
