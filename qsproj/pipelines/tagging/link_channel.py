"""Belief in the links of each word: what they bring, given the tag that the context tells.

Spanish *se* is often linked to an English auxiliary, whatever it is; *att* in Swedish is linked to a particle
where it is one. Whether a word's own links say anything is seen by a tagger that has not listened to them:
where its tags and the links of a type go together, links are believed, where they do not, they are not.

Source: ours; a channel from tags to projected tags for all words together is in Fang and Cohn (2016).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.tag_evidence import Sets, normalised

# Types that occur less often share one channel; it counts as much as so many occurrences in that of others.
RAREST = 20
PRIOR_COUNT = 10.0
# Words whose links weigh less than this all together say nothing of the channel.
LEAST_VOTE = 0.1
# So many sentences are counted at a time.
BLOCK_SENTENCES = 1024
BLOCK_WORDS = 1 << 16
# However sure its links: so much of their word remains in doubt.
DOUBT = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class LinkChannel:
    """The tags that links bring to words of each tag.

    ``rows`` int32[V] is the channel of each type, 0 the one that rare types share; ``chances``
    float64[C, T, T] p(tag that a link brings | tag of the word), the latter first.
    """

    rows: NDArray[np.int32]
    chances: NDArray[np.float64]


def learn_channel(text: LinkedText, sets: Sets, tagger: Tagger, sentences: Iterable[int]) -> LinkChannel:
    """Count the links of words by the tags that a tagger expects of them within their sets.

    O(words T^2) time; 8 T^2 bytes of memory for each type that is not rare.
    """
    chosen = list(sentences)
    counts = np.bincount(
        np.concatenate([text.types[text.words_of(s)] for s in chosen]), minlength=len(text.vocabulary)
    )
    rows = np.zeros(len(counts), dtype=np.int32)
    often = np.nonzero(counts >= RAREST)[0]
    rows[often] = np.arange(1, len(often) + 1)
    n_tags = len(text.tags)
    joint = np.zeros((len(often) + 1, n_tags * n_tags))
    for first in range(0, len(chosen), BLOCK_SENTENCES):
        block = chosen[first : first + BLOCK_SENTENCES]
        places = np.concatenate([np.arange(w.start, w.stop) for w in map(text.words_of, block)])
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
    """Return the posteriors of the tags of a sentence's words within their types' sets, float64[n, T]."""
    allowed = sets[text.types[text.words_of(sentence)]]
    return tagger.distribution_within(text.sentences[sentence], allowed)


def channel_evidence(text: LinkedText, sets: Sets, channel: LinkChannel) -> LogEvidence:
    """Return the evidence of each word, float32[N, T], natural logs: -inf outside its set, 0 at best."""
    evidence = np.empty(text.votes.shape, dtype=np.float32)
    for first in range(0, len(evidence), BLOCK_WORDS):
        block = slice(first, first + BLOCK_WORDS)
        votes, types = text.votes[block].astype(np.float64), text.types[block]
        likelihood = np.einsum("ns,nys->ny", normalised(votes), channel.chances[channel.rows[types]])
        certainty = (1.0 - DOUBT) * np.minimum(votes.sum(axis=1, keepdims=True), 1.0)
        highest = np.maximum(likelihood.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        with np.errstate(divide="ignore"):
            logs = np.log(sets[types]) + np.log((1.0 - certainty) + certainty * likelihood / highest)
        evidence[block] = logs - logs.max(axis=1, keepdims=True)
    return evidence
