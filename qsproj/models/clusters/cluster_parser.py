"""The first-order parser with hidden clusters: cluster scores, exact tree inference, and a labeller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Heads, Scores
from qsproj.corpus.sentence import Sentence
from qsproj.errors import unknown_name
from qsproj.models.arc.first_order import FirstOrderParser, parts_from
from qsproj.models.clusters.cluster_scorer import ClusterScorer, summed_out
from qsproj.models.tree_inference import DECODERS, MAX_Z


@dataclass(frozen=True)
class ClusterParser(FirstOrderParser[ClusterScorer]):
    """A trained first-order parser, each arc of which is in one of some hidden clusters.

    *Source*: Smith and Smith 2007, 5; thesis 3.2.5.
    """

    def cluster_scores(self, sentence: Sentence) -> NDArray[np.float64]:
        """Return the score of every arc in every cluster, float64[n+1, n+1, C], natural log.

        Raises
        ------
        SentenceLengthError
            When the sentence has more than MAX_WORDS words.
        """
        return self.scorer.cluster_scores(self.scorer.features(self.encode(sentence)))

    def scores(self, sentence: Sentence) -> Scores:
        """Return arc scores float64[n+1, n+1], natural log, clusters summed out; raises as above."""
        return summed_out(self.cluster_scores(sentence))[0]

    def arc_probabilities(self, sentence: Sentence) -> Scores:
        """Return the posterior probability of every arc, float64[n+1, n+1]; columns 1..n sum to one."""
        self.scorer.check_tagged(sentence)
        return self.inference.infer(self.scores(sentence))[1]

    def heads(self, cluster_scores: NDArray[np.float64], *, decode: str = "mbr") -> Heads:
        """Return the best tree under scores float64[n+1, n+1, C].

        Parameters
        ----------
        decode : str
            ``map``: the most probable tree, clusters summed out; ``mbr``: that of most expected right heads;
            ``max-z``: the tree that is most probable together with its clusters.

        Raises
        ------
        UsageError
            When ``decode`` is none of these.
        """
        if decode == MAX_Z:
            return self.inference.best(cluster_scores.max(axis=2))
        if decode not in DECODERS:
            raise unknown_name("decoder", decode, [*DECODERS, MAX_Z])
        return self.inference.decode(summed_out(cluster_scores)[0], decode)

    def parse(self, sentence: Sentence, *, decode: str = "mbr", confidence: bool = False) -> Sentence:
        """Return the sentence with heads and relations; with ``confidence``, ``ArcProb=`` in MISC.

        Raises
        ------
        SentenceLengthError, UsageError
            As :meth:`cluster_scores` and :meth:`heads`.
        UntaggedError
            When no word has a tag, and the parser reads tags.
        """
        self.scorer.check_tagged(sentence)
        return next(self.parse_all([sentence], decode=decode, confidence=confidence))

    def parse_all(
        self, sentences: Iterable[Sentence], *, decode: str = "mbr", confidence: bool = False
    ) -> Iterator[Sentence]:
        """Parse sentences one after the other, also such as have no tags among others that have."""
        for sentence in sentences:
            encoded = self.encode(sentence)
            scores = self.scorer.cluster_scores(self.scorer.features(encoded))
            marginals = self.inference.infer(summed_out(scores)[0])[1] if confidence else None
            yield self.attached(
                sentence, self.heads(scores, decode=decode), encoded=encoded, probabilities=marginals
            )

    @staticmethod
    def described(header: Mapping[str, Any]) -> dict[str, Any]:
        """Return what ``qsproj info`` tells of a model with this header."""
        return {**FirstOrderParser.described(header), "clusters": header["scorer"]["clusters"]}

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ClusterParser:
        """Rebuild what :meth:`to_archive` gave."""
        return ClusterParser(*parts_from(header, arrays, ClusterScorer))
