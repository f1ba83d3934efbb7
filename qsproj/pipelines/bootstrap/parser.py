"""Train priors and parsers of the target."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import read_all
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.errors import pluralise
from qsproj.models.tagging.tagger import load_tagger
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.projection.priors import load_prior
from qsproj.pipelines.projection.projected import SoftProjectionOptions
from qsproj.pipelines.projection.soft_projection import project_soft
from qsproj.pipelines.projection.source_priors import TranslatedTreebanks, source_priors
from qsproj.pipelines.tagging.conventions import Conventional


@dataclass(frozen=True, slots=True)
class Source:
    """A source language: its treebanks, and its pairs with the target, tagged on both sides."""

    treebanks: tuple[str, ...]
    pairs: AlignedFiles


@stage("prior", version=10)
def train_priors(
    paths: Sequence[Path],
    *,
    sources: Sequence[Source],
    others: Sequence[str],
    unshared: Sequence[str],
    draws: int,
    seed: int,
) -> StageReport:
    """Train the priors of a target (:func:`source_priors`)."""
    prior, words = source_priors(
        [TranslatedTreebanks(source.treebanks, source.pairs) for source in sources],
        others,
        unshared=unshared,
        target=read_all([source.pairs.target for source in sources]),
        rng=np.random.default_rng(seed),
        draws=draws,
    )
    for member, path in zip(prior.members, paths, strict=True):
        member.save(path)
    voters = (
        f"{pluralise(len(prior.members), 'parser')} from {pluralise(words, 'word')}: {draws} of translated "
        f"words, {len(prior.others)} of tags alone"
    )
    return StageReport(line="; ".join((voters, *prior.report)), figures={"words": words})


@stage("parser", version=13, files=(".model", ".trees.conllu"))
def project(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    priors: Sequence[str],
    draws: int,
    annotated: Sequence[str],
    unshared: Sequence[str],
    tagger: str,
    options: SoftProjectionOptions,
    seed: int,
) -> StageReport:
    """Train the parser of the target on projected evidence and priors; also write its training trees.

    ``priors``: as many as ``draws``, then those that vote beside each. ``unshared``: conventions of the
    sources that do not hold in the target. ``tagger``: of the target; it provides lemmas and features of the
    words of these trees.
    """
    members = [load_prior(path, reads_words=True) for path in priors]
    projected = project_soft(
        [Conventional(pairs, unshared) for pairs in corpora],
        priors=[(drawn, *members[draws:]) for drawn in members[:draws]],
        rng=np.random.default_rng(seed),
        options=options,
        annotated=list(read_all(annotated)),
    )
    describe = partial(load_tagger(tagger).with_morphology, anew=True)
    write_conllu(map(describe, projected.learned_from), paths[1])
    projected.parser.save(paths[0])
    return StageReport(line="; ".join(projected.report), figures={})


def prior_files(others: Sequence[str], *, draws: int) -> list[str]:
    """Return the file suffixes of :func:`train_priors`, one for each prior."""
    return [f".{number}.model" for number in range(1, draws + (3 if others else 1))]
