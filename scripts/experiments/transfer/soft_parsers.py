"""Priors and parsers of soft projection, each trained once, for projection.py and few_trees.py.

They equal the results of `qsproj project` on a parsed source, a tagged target and their links; parsers with the same
prior share it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.pairs.aligned import AlignedFiles
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.arc.arc_training import train_arc_parser
from qsproj.models.arc.training_options import TrainingOptions
from qsproj.models.storage import load_model_of
from qsproj.pipelines.projection.methods import SoftProjectionOptions
from qsproj.pipelines.projection.priors import PRIOR_EPOCHS, SOURCE_TREES, join_priors, translated_prior
from qsproj.pipelines.projection.soft_projection import project_soft
from scripts.experiments.harness.cache import said
from scripts.experiments.transfer.stages import Stages

Parsers = Sequence[ArcParser]


@dataclass(frozen=True)
class SoftParsers:
    """The parsers of a target language trained on English and a bitext."""

    stages: Stages
    language: str

    @property
    def bitext(self) -> list[Path]:
        """The files of the parsed source, the tagged target, and the links."""
        stages, language = self.stages, self.language
        return [stages.parsed_english(language), stages.tagged(language, language), stages.links(language)]

    def pairs(self) -> AlignedFiles:
        return AlignedFiles(*map(str, self.bitext))

    def translated(self) -> list[ArcParser]:
        """Return the prior of English alone: parsers of its trees, their words translated by the links."""
        return listed_in(self._translated())

    def _translated(self) -> Path:
        return self._kept(
            "translated", lambda: [translated_prior([self.pairs()], rng=np.random.default_rng(1))]
        )

    def untranslated(self) -> list[ArcParser]:
        """Return a parser of the English trees that reads tags alone."""

        def make() -> Parsers:
            english = [pair.source for pair in islice(self.pairs(), SOURCE_TREES)]
            options = TrainingOptions(
                template_set="delexicalised", epochs=PRIOR_EPOCHS, projective=True, single_root=True
            )
            return [train_arc_parser(english, rng=np.random.default_rng(1), options=options)[0]]

        return listed_in(self._kept("tags", make))

    def projected(self) -> Path:
        """Project a parser from English alone, by the options of `qsproj project`; see :func:`project`."""
        priors = self.translated()
        return self.stages.lab.cache.file(
            f"{self.language}.English.soft.parser",
            lambda path: project(path, self.pairs(), priors=priors),
            options={"soft": "English"},
            data=self.bitext,
            experiment=Path(__file__),
        )

    def took(self) -> dict[str, float]:
        """Return the processor seconds of the last steps of the main job, of English alone."""
        return {
            "train the prior": said(self._translated())["cpu"],
            "project": said(self.projected())["cpu"],
        }

    def _kept(self, name: str, make: Callable[[], Parsers]) -> Path:
        """Train the missing parsers; return the path of a list of their files."""

        def write(path: Path) -> dict[str, float]:
            start = time.process_time()
            files = []
            for number, parser in enumerate(make(), start=1):
                files.append(f"{name}-{number}.parser")
                parser.save(path.with_name(files[-1]))
            path.write_text("\n".join(files), encoding="utf-8")
            return {"cpu": time.process_time() - start}

        return self.stages.lab.cache.file(
            f"{self.language}.{name}.priors",
            write,
            options={"priors": name},
            data=self.bitext,
            experiment=Path(__file__),
        )


def project(
    path: Path,
    pairs: Iterable[SentencePair],
    *,
    priors: Parsers = (),
    options: SoftProjectionOptions | None = None,
) -> dict[str, Any]:
    """Write a projected parser and its training trees; return its resources and report."""
    start, rng = time.process_time(), np.random.default_rng(1)
    priors = priors or [translated_prior([pairs], rng=rng)]
    projection = project_soft([pairs], priors=priors, rng=rng, options=options)
    write_conllu(projection.trees(), trees_beside(path))
    projection.parser.save(path)
    return {"cpu": time.process_time() - start, "said": list(projection.report)}


def trees_beside(path: Path) -> Path:
    """Return the path of the training trees of a projected parser."""
    return path.with_name("trees.conllu")


def trees_of(path: Path) -> list[Sentence]:
    return list(read_conllu(trees_beside(path)))


def listed_in(path: Path) -> list[ArcParser]:
    """Load the parsers that a file lists."""
    return [load(path.with_name(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def load(path: Path) -> ArcParser:
    return load_model_of(path, ArcParser, expected="a parser", remedy="remove it")


def prior_alone(members: Parsers) -> ArcParser:
    """Return the initial parser of soft projection."""
    return join_priors(members, projective=True)
