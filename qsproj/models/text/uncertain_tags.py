"""Parsing under uncertain tags: arc scores averaged over tag sequences that are drawn from the tagger.

One wrong tag misleads a parser wherever features read it: most of all an auxiliary taken for a verb. The mean
over sequences lets each count for as much as the tagger believes in it and the parser can make sense of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from qsproj.conventions import Scores
from qsproj.corpus.columns import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence
from qsproj.models.arc.arc_parser import ArcParser
from qsproj.models.tagging.tagger import Tagger

Tags = tuple[str, ...]

# Sequences are drawn from the tagger's posterior to this power: as it is, a long sentence hardly ever gets
# its best tags. Each counts by that power of exp(-H), H the entropy of its trees. On development files of
# German, Spanish and Swedish, with taggers learned through links, draws from the posterior as it is cost .6
# UAS in the mean, and all of exp(-H) costs .2.
SHARPNESS = 1.6
TRUST_IN_TREES = 0.5


def draw_tags(tagger: Tagger, sentence: Sentence, draws: int, *, retag: bool = False) -> dict[Tags, int]:
    """Return tag sequences drawn from the tagger's sharpened posterior, and how often each was drawn.

    The words alone decide what is drawn: the same sentence always gets the same sequences, wherever it stands
    and in whichever process.

    Parameters
    ----------
    sentence : Sentence
        Tags that it has stay in all sequences, unless ``retag``.
    draws : int
        How many are drawn.
    """
    words = "\t".join(sentence.forms).encode("utf-8", "surrogatepass")
    rng = np.random.default_rng(int.from_bytes(blake2b(words, digest_size=8).digest(), "little"))
    drawn = tagger.draw(sentence.forms, draws, rng, sharpness=SHARPNESS)
    if retag:
        return dict(Counter(drawn))
    own = sentence.upos
    return dict(
        Counter(
            tuple(tag if known == UNSPECIFIED else known for known, tag in zip(own, tags, strict=True))
            for tags in drawn
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """What a parser makes of a sentence under several tag sequences.

    Attributes
    ----------
    scores : float64[n+1, n+1]
        Weighted mean of the arc scores, natural log.
    tags : tuple of str
        For each word the one with the most weight in all sequences.
    """

    scores: Scores
    tags: Tags


def read_by(parser: ArcParser, sentence: Sentence, sequences: dict[Tags, int]) -> Readings:
    """Average a parser's arc scores over tag sequences.

    A sequence weighs as often as it was drawn, times exp(-H / 2) for the entropy H, in nats, of the trees
    that the parser finds under it: a wrong tag, as of an auxiliary without a verb, leaves no tree that stands
    out.
    *Source*: ours; the weighted mean of log potentials is a product of experts.
    """
    scores = [parser.scores(with_columns(sentence, upos=tags)) for tags in sequences]
    entropies = np.array([tree_entropy(parser, matrix) for matrix in scores])
    weights = np.array(list(sequences.values())) * np.exp(TRUST_IN_TREES * (entropies.min() - entropies))
    weights /= weights.sum()
    mean: Scores = np.tensordot(weights, np.array(scores), axes=1)
    return Readings(mean, _weightiest(sequences, weights.tolist()))


def _weightiest(sequences: Iterable[Tags], weights: list[float]) -> Tags:
    """Return for each word the tag with the most weight in all sequences; of equals the one found first."""
    chosen = []
    for tags in zip(*sequences, strict=True):
        votes: dict[str, float] = {}
        for tag, weight in zip(tags, weights, strict=True):
            votes[tag] = votes.get(tag, 0.0) + weight
        chosen.append(max(votes, key=votes.__getitem__))
    return tuple(chosen)


def tree_entropy(parser: ArcParser, scores: Scores) -> float:
    """Return the entropy in nats of the trees under arc scores, at the parser's temperature."""
    tempered = scores / parser.temperature
    log_z, marginals = parser.inference.infer(tempered)
    possible = marginals > 0.0
    return max(log_z - float(marginals[possible] @ tempered[possible]), 0.0)
