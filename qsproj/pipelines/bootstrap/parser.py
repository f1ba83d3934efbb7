"""Train priors and parsers of the target."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qsproj.corpus.conllu import write_conllu
from qsproj.corpus.formats import read_all
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import SentencePair
from qsproj.errors import pluralise
from qsproj.pipelines.bootstrap.workspace import StageReport, stage
from qsproj.pipelines.projection.priors import load_prior, source_priors
from qsproj.pipelines.projection.projected import SoftProjectionOptions
from qsproj.pipelines.projection.soft_projection import project_soft
from qsproj.pipelines.tagging.conventions import Annotation, Conventional
from qsproj.pipelines.treebank_weights import read_treebanks


@dataclass(frozen=True, slots=True)
class Source:
    """A source language: its treebanks, and its pairs with the target, tagged on both sides."""

    treebanks: tuple[str, ...]
    pairs: AlignedFiles


# The pairs of each bitext that the prior stage has read, which the parser stage reads again.
PairsRead = dict[AlignedFiles, list[SentencePair]]
# Largest bitext whose pairs are kept in memory.
MOST_KEPT = 20_000


def noted(files: AlignedFiles, read: PairsRead) -> Iterator[SentencePair]:
    """Yield the pairs; store them in ``read`` at their end, unless they are too many."""
    pairs = list[SentencePair]()
    for number, pair in enumerate(files, start=1):
        if number <= MOST_KEPT:
            pairs.append(pair)
        else:
            pairs.clear()
        yield pair
    if pairs:
        read[files] = pairs


@stage("prior", version=16)
def train_priors(
    paths: Sequence[Path],
    *,
    sources: Sequence[Source],
    others: Sequence[str],
    unshared: Mapping[str, Annotation],
    draws: int,
    seed: int,
    read: PairsRead,
) -> StageReport:
    of_sources = [(read_treebanks(source.treebanks), noted(source.pairs, read)) for source in sources]
    target = read_all([source.pairs.target for source in sources])
    rng = np.random.default_rng(seed)
    prior, words = source_priors(
        of_sources, read_treebanks(others), unshared=unshared, target=target, rng=rng, draws=draws
    )
    for member, path in zip(prior.members, paths, strict=True):
        member.save(path)
    of_tags = f", {len(prior.members) - 1} of tags alone" if others else ""
    line = f"1 parser of translated words{of_tags}, from {pluralise(words, 'word')}"
    return StageReport(line="; ".join((line, *prior.report)), figures={"words": words})


@stage("parser", version=26, files=(".model", ".trees.conllu"))
def project(
    paths: Sequence[Path],
    *,
    corpora: Sequence[AlignedFiles],
    priors: Sequence[str],
    unshared: Mapping[str, Annotation],
    options: SoftProjectionOptions,
    seed: int,
    read: PairsRead,
) -> StageReport:
    """Train the parser of the target on projected evidence and priors; also write its training trees.

    ``unshared``: conventions of the sources that do not hold in the target.
    """
    voters = [load_prior(path, reads_words=True) for path in priors]
    pairs = [Conventional(read.pop(one, one), unshared) for one in corpora]
    projected = project_soft(pairs, priors=voters, rng=np.random.default_rng(seed), options=options)
    write_conllu(projected.learned_from, paths[1])
    projected.parser.save(paths[0])
    return StageReport(line="; ".join(projected.report), figures={})


def prior_files(others: Sequence[str]) -> list[str]:
    return [f".{number}.model" for number in range(1, 4 if others else 2)]
