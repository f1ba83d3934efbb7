"""The projected parsers, annotated sentences and test sentences of few_trees.py.

PUD: the parser is projected through the bitext from English alone; sentences 1-600 are annotated, the others tested.
LinES and ParTUT: the bitext is the parallel treebank itself, with gold English trees and links trained on it alone. Its
last sentences are tested and not part of the bitext; the annotated sentences are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from qsproj.alignment.aligners import align_words
from qsproj.corpus.conllu import read_conllu
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.parser import load_tags
from qsproj.models.tagging.tagger import Tagger
from qsproj.pipelines.projection.methods import SoftProjectionOptions
from scripts.experiments.transfer.by_tags import GOLD_TAGS, Part
from scripts.experiments.transfer.soft_parsers import SoftParsers, load, project, trees_of
from scripts.experiments.transfer.stages import NAMES, TAGGER_TREEBANKS, Stages

ANNOTATED_OF_PUD, TESTED, DRAWS = 600, 300, 2
PROJECTION = SoftProjectionOptions(sentences=2000)

Trees = Sequence[Sentence]


@dataclass(frozen=True)
class Material:
    """A projected parser with its training trees, and gold trees.

    Attributes
    ----------
    parser : ArcParser
    projected, pool : sequence of Sentence
        Those that it learned from; those that may be annotated.
    test : Part
    draws : tuple of sequence of Sentence
        The pool in one order or several: the first ones are annotated.
    """

    parser: ArcParser
    projected: Trees
    pool: Trees
    test: Part
    draws: tuple[Trees, ...]


@dataclass(frozen=True)
class Pud:
    """A language of PUD."""

    stages: Stages
    language: str

    @property
    def data(self) -> list[Path]:
        treebanks = map(self.stages.lab.treebank_path, TAGGER_TREEBANKS[self.language])
        return [*self.parsers.bitext, *treebanks, self.stages.lab.pud_path(self.language)]

    @property
    def parsers(self) -> SoftParsers:
        return SoftParsers(self.stages, self.language)

    def material(self, tags: str) -> Material:
        """Return the material, with gold or predicted tags."""
        made = self.parsers.projected()
        tagger = load_tags(self.stages.tagger(self.language))
        trees = words_and_tags(self.stages.lab.pud(self.language))
        pool = tagged(trees[:ANNOTATED_OF_PUD], tags, tagger)
        test = Part(trees[ANNOTATED_OF_PUD:], tagger)
        return Material(load(made), trees_of(made), pool, test, (pool,))


@dataclass(frozen=True)
class ParallelTreebank:
    """The training files of a parallel treebank; for Italian, a tagger is made of its other files."""

    stages: Stages
    language: str
    room: str

    def path(self, language: str, part: str = "train") -> Path:
        return self.stages.lab.data / self.room / f"{language}-{part}.conllu.gz"

    @property
    def data(self) -> list[Path]:
        return [self.path("en"), self.path(self.language), *self.of_tagger()]

    def of_tagger(self) -> list[Path]:
        """Return the treebanks that the tagger learns from."""
        if self.language in TAGGER_TREEBANKS:
            return list(map(self.stages.lab.treebank_path, TAGGER_TREEBANKS[self.language]))
        return [self.path(self.language, part) for part in ("dev", "test")]

    def tagger(self) -> Tagger:
        name = f"{self.room}.{self.language}.tagger"
        return load_tags(self.stages.tagger_of(name, self.language, self.of_tagger(), raw=False))

    def material(self, tags: str) -> Material:
        """Return the material, with gold or predicted tags on the target side."""
        tagger = self.tagger()
        source, target = (words_and_tags(read_conllu(self.path(side))) for side in ("en", self.language))
        held_out = min(TESTED, len(target) // 3)
        pool = tagged(target[:-held_out], tags, tagger)
        sides = list(zip(source[:-held_out], pool, strict=True))
        links = align_words([(one.forms, other.forms) for one, other in sides], threshold=0.15)
        made = self.stages.lab.cache.file(
            f"{self.room}.{self.language}.parser",
            partial(
                project,
                pairs=[SentencePair(*pair, of) for pair, of in zip(sides, links, strict=True)],
                options=PROJECTION,
            ),
            options={"tags": tags},
            data=self.data,
            experiment=Path(__file__),
        )
        orders = (np.random.default_rng(draw).permutation(len(pool)) for draw in range(DRAWS))
        draws = tuple([pool[place] for place in order.tolist()] for order in orders)
        return Material(load(made), trees_of(made), pool, Part(target[-held_out:], tagger), draws)


def words_and_tags(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return sentences without lemmas, XPOS and FEATS, which projected parsers do not read."""
    return [
        with_columns(one, **{column: ["_"] * len(one) for column in ("lemmas", "xpos", "feats")})
        for one in sentences
    ]


def tagged(trees: Trees, tags: str, tagger: Tagger) -> Trees:
    """Return trees with gold tags or the tagger's."""
    return trees if tags == GOLD_TAGS else list(map(tagger.tag, trees))


Setting = Pud | ParallelTreebank


def settings(stages: Stages) -> dict[str, Setting]:
    """Return all settings by name."""
    return {
        **{name: Pud(stages, language) for language, name in NAMES.items()},
        "Swedish LinES": ParallelTreebank(stages, "sv", "lines"),
        "Italian ParTUT": ParallelTreebank(stages, "it", "partut"),
    }
