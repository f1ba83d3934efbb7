"""PUD as a text in five languages, each a source of the others: sentence pairs and their links, for soft.py.

The source trees are gold; the target has the tagger's UPOS, and its trees are not read. Links between English and a
language with a bitext are learned from the bitext and PUD together. Two other languages are linked through English,
Turkish from PUD alone, by our aligner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.conllu import read_conllu, write_conllu
from qsproj.corpus.formats import read_alignments
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair, make_alignment
from scripts.experiments.transfer.stages import Stages

LANGUAGES = ("en", "de", "es", "sv", "tr")
TRAINED_ON = 600
# Candidates below are not worth the time.
LEAST_WEIGHT = 0.05


@dataclass(frozen=True)
class ParallelTrees:
    """Sentences 1-600 of PUD."""

    stages: Stages
    read: dict[Path, list[Sentence]] = field(default_factory=dict)

    def trees(self, language: str) -> list[Sentence]:
        return self._first(self.stages.lab.pud_path(language))

    def tagged(self, language: str) -> list[Sentence]:
        return self._first(self.stages.tagged_pud(language))

    def _first(self, path: Path) -> list[Sentence]:
        if path not in self.read:
            self.read[path] = list(islice(read_conllu(path), TRAINED_ON))
        return self.read[path]

    def pairs(self, source: str, target: str) -> list[SentencePair]:
        sides = self.trees(source), self.tagged(target), self.links(source, target)
        return [SentencePair(*pair) for pair in zip(*sides, strict=True)]

    def links(self, source: str, target: str) -> list[Alignment]:
        """Return the links of all pairs, aligned when they are first asked for."""
        if source not in ("en", "tr"):
            steps = self.links("en", source), self.links("en", target)
            return [through_english(*pair) for pair in zip(*steps, strict=True)]
        if source == "en":
            path = self.aligned_with_bitext(target)
        else:
            path = self.aligned(f"pud600.tr-{target}", [self.text("tr"), self.text(target)])
        sentences = zip(self.trees(source), self.trees(target), strict=True)
        sizes = [(len(one), len(other)) for one, other in sentences]
        return list(islice(read_alignments(path, sizes=iter(sizes)), TRAINED_ON))

    def files(self, source: str, target: str) -> list[Path]:
        """Return the files that the pairs come from."""
        lab = self.stages.lab
        return [lab.pud_path(source), self.stages.tagged_pud(target), lab.pud_path("en")]

    def text(self, language: str) -> Path:
        """Write the words of a language."""

        def write(path: Path) -> None:
            write_conllu(self.trees(language), path)

        source = [self.stages.lab.pud_path(language)]
        return self.stages.lab.cache.file(
            f"pud600.{language}.conllu", write, data=source, experiment=Path(__file__)
        )

    def aligned_with_bitext(self, target: str) -> Path:
        """Align English and another language, PUD before the bitext."""
        sides = [
            self.stages.joined(
                f"pud600+en-{target}.{side}.conllu", [self.text(side), self.stages.tagged(target, side)]
            )
            for side in ("en", target)
        ]
        return self.aligned(f"pud600+en-{target}", sides)

    def aligned(self, name: str, sides: Sequence[Path]) -> Path:
        """Run the aligner."""
        return self.stages.stage(f"{name}.pharaoh", "align", *sides, "--weights", "--threshold", "0.15")


def through_english(first: Alignment, second: Alignment) -> Alignment:
    """Link words that are linked to the same English words, by the products of the probabilities, summed.

    Both alignments are of the same English sentence, which is their source.
    """
    weights = np.minimum(link_matrix(first).T @ link_matrix(second), 1.0)
    links = np.argwhere(weights > LEAST_WEIGHT)
    return make_alignment(first.n_target, second.n_target, links, weights=weights[links[:, 0], links[:, 1]])


def link_matrix(alignment: Alignment) -> NDArray[np.float64]:
    """Return the weights of links as float64[source + 1, target + 1]."""
    matrix = np.zeros((alignment.n_source + 1, alignment.n_target + 1))
    matrix[alignment.links[:, 0], alignment.links[:, 1]] = alignment.weights
    return matrix
