"""The first-order parser: an arc scorer, exact tree inference, and a labeller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads, Scores
from qsproj.corpus.editing import with_arc_probabilities, with_heads
from qsproj.corpus.sentence import Sentence, check_sentence
from qsproj.errors import unknown_name
from qsproj.features.atoms import EncodedSentence
from qsproj.models.arc.arc_scorer import ArcScorer
from qsproj.models.arc.labeller import Labeller
from qsproj.models.storage import Made, save_model
from qsproj.models.tree_inference import DECODERS, TreeInference

KIND = "arc-parser"
BLOCK = 32


@dataclass(frozen=True)
class ArcParser:
    """A trained first-order dependency parser.

    Attributes
    ----------
    scorer : ArcScorer
    labeller : Labeller or None
        None when the training data had no relations.
    inference : TreeInference
        Which trees are possible: projective or all, one root or several.
    temperature : float
        Arc scores are divided by it before probabilities are reported; 1 as trained. Trees are decoded
        from the scores as they are, for which they were learned.
    """

    scorer: ArcScorer
    labeller: Labeller | None
    inference: TreeInference
    temperature: float = 1.0

    def scores(self, sentence: Sentence) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log, as learned: not divided by the temperature.

        Raises
        ------
        SentenceLengthError
            When the sentence has more than MAX_WORDS words: time grows with the cube of the length.
        """
        return self._scores(self._encode(sentence))

    def _encode(self, sentence: Sentence) -> EncodedSentence:
        check_sentence(sentence)
        return self.scorer.encode(sentence)

    def _scores(self, encoded: EncodedSentence) -> Scores:
        return self.scorer.scores(self.scorer.features(encoded))

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior probability of every arc, float64[n+1, n+1]; columns 1..n sum to one."""
        return self.inference.infer(self.scores(sentence) / self.temperature)[1]

    def heads(self, scores: Scores, *, decode: str = "mbr") -> Heads:
        """Return the best tree: the most probable one (``map``), or most expected right heads (``mbr``).

        Raises
        ------
        UsageError
            When ``decode`` is not one of DECODERS.
        """
        if decode == "map":
            return self.inference.best(scores)
        if decode == "mbr":
            return self.inference.best(self.inference.infer(scores)[1])
        raise unknown_name("decoder", decode, list(DECODERS))

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC."""
        return next(self.parse_all([sentence], decode=decode, confidence=confidence))

    def parse_all(
        self, sentences: Iterable[Sentence], *, decode: str = "mbr", confidence: bool = False
    ) -> Iterator[Sentence]:
        """Parse sentences one after the other, a fifth faster than each for itself.

        BLOCK of them at a time are scored, then decoded, then labelled, so that each table of weights is read
        while it is in the cache.

        Raises
        ------
        SentenceLengthError
            When the sentence last taken from ``sentences`` is too long.
        """
        remaining = iter(sentences)
        while block := [(sentence, self._encode(sentence)) for sentence in islice(remaining, BLOCK)]:
            scores = [self._scores(encoded) for _, encoded in block]
            trees = [self.heads(matrix, decode=decode) for matrix in scores]
            for (sentence, encoded), matrix, heads in zip(block, scores, trees, strict=True):
                relations = self.labeller.label(encoded, heads) if self.labeller else ("dep",) * len(sentence)
                parsed = with_heads(sentence, heads, relations)
                yield self._with_confidence(parsed, matrix) if confidence else parsed

    def _with_confidence(self, parsed: Sentence, scores: Scores) -> Sentence:
        """Add the probability of each arc to MISC."""
        marginals = self.inference.infer(scores / self.temperature)[1]
        chosen = marginals[parsed.heads[1:], np.arange(1, len(parsed.heads))]
        return with_arc_probabilities(parsed, chosen)

    def save(self, path: str | Path, *, made: Made | None = None) -> None:
        """Write the model to a file, with how it was ``made``; see :mod:`qsproj.models.storage`."""
        save_model(path, KIND, *self.to_archive(), made=made)

    def to_archive(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return header and arrays."""
        header, arrays = self.scorer.to_archive()
        label_header, label_arrays = self.labeller.to_archive() if self.labeller else (None, {})
        return {
            "scorer": header,
            "labeller": label_header,
            "projective": self.inference.projective,
            "single_root": self.inference.single_root,
            "temperature": self.temperature,
        }, {**arrays, **label_arrays}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ArcParser:
        """Rebuild what :meth:`to_archive` gave."""
        labels = header["labeller"]
        return ArcParser(
            ArcScorer.from_archive(header["scorer"], arrays),
            Labeller.from_archive(labels, arrays) if labels else None,
            TreeInference(projective=header["projective"], single_root=header["single_root"]),
            header["temperature"],
        )
