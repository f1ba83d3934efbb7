"""Link noise model: the chance of a link's tag given the tag of its word, for each frequent type.

The first tagger has not seen the links of a word itself. Where its tags and the links of a type go together,
the links carry information; where links bring the same tags whatever the word is, they carry none.

Source: learning how projected tags err: Fang and Cohn (2016), "Learning when to trust distant supervision",
who learn it from tagged sentences.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.votes import Sets, normalised

# Types with fewer occurrences share one channel, which is also the prior of the others, at PRIOR_COUNT.
RAREST = 20
PRIOR_COUNT = 10.0
# Minimum total vote of a word to be counted in the channel.
LEAST_VOTE = 0.1
# Block sizes, which bound memory.
BLOCK_SENTENCES = 1024
BLOCK_WORDS = 1 << 16
# Least weight of the assumption that a word's links are uninformative.
DOUBT = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class LinkChannel:
    """Noisy channel from the tag of a word to the tags of its links.

    ``rows`` int32[V]: channel of each type, 0 for the one shared by rare types. ``chances``
    float64[C, T, T]: p(tag of a link | tag of the word), axes [channel, word tag, link tag].
    """

    rows: NDArray[np.int32]
    chances: NDArray[np.float64]


def learn_channel(text: LinkedText, sets: Sets, tagger: Tagger, sentences: Iterable[int]) -> LinkChannel:
    """Estimate the channel from a tagger's expected tags of linked words, within their sets.

    O(words T^2) time; 8 T^2 bytes of memory for each type that is not rare.
    """
    chosen = list(sentences)
    counts = np.bincount(text.types[text.places(chosen)], minlength=len(text.vocabulary))
    rows = np.zeros(len(counts), dtype=np.int32)
    often = np.nonzero(counts >= RAREST)[0]
    rows[often] = np.arange(1, len(often) + 1)
    n_tags = len(text.tags)
    joint = np.zeros((len(often) + 1, n_tags * n_tags))
    for first in range(0, len(chosen), BLOCK_SENTENCES):
        block = chosen[first : first + BLOCK_SENTENCES]
        places = text.places(block)
        expected = np.concatenate([expected_tags(text, sets, tagger, s) for s in block])
        votes = text.votes[places]
        heard = votes.sum(axis=1) > LEAST_VOTE
        brought = normalised(votes[heard].astype(np.float64))
        pairs = (expected[heard][:, :, None] * brought[:, None, :]).reshape(-1, n_tags * n_tags)
        of_type = rows[text.types[places[heard]]]
        member = sparse.csr_array(
            (np.ones(len(of_type)), (of_type, np.arange(len(of_type)))), shape=(len(joint), len(of_type))
        )
        joint += member @ pairs
    by_tag = joint.reshape(-1, n_tags, n_tags)
    shared = by_tag.sum(axis=0) + np.eye(n_tags)
    shared /= shared.sum(axis=1, keepdims=True)
    by_tag += PRIOR_COUNT * shared
    by_tag[0] = shared
    return LinkChannel(rows, by_tag / by_tag.sum(axis=2, keepdims=True))


def expected_tags(text: LinkedText, sets: Sets, tagger: Tagger, sentence: int) -> NDArray[np.float64]:
    """Return the tag posteriors of a sentence's words within their types' sets, float64[n, T]."""
    allowed = sets[text.types[text.words_of(sentence)]]
    return tagger.distribution_within(text.sentences[sentence], allowed)


def channel_evidence(
    text: LinkedText, sets: Sets, channel: LinkChannel, sentences: Sequence[int]
) -> LogEvidence:
    """Return the link evidence of the words of sentences, float32[M, T], natural log.

    -inf outside the set of the type, 0 for the best tag of the word.
    """
    places = text.places(sentences)
    evidence = np.empty((len(places), len(text.tags)), dtype=np.float32)
    for first in range(0, len(evidence), BLOCK_WORDS):
        block = places[first : first + BLOCK_WORDS]
        votes, types = text.votes[block].astype(np.float64), text.types[block]
        likelihood = np.einsum("ns,nys->ny", normalised(votes), channel.chances[channel.rows[types]])
        certainty = (1.0 - DOUBT) * np.minimum(votes.sum(axis=1, keepdims=True), 1.0)
        highest = np.maximum(likelihood.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        with np.errstate(divide="ignore"):
            logs = np.log(sets[types]) + np.log((1.0 - certainty) + certainty * likelihood / highest)
        evidence[first : first + BLOCK_WORDS] = logs - logs.max(axis=1, keepdims=True)
    return evidence
