"""Link noise model: the chance of a link's tag given the tag of its word.

The first tagger has not seen the links of a word itself, so its tags and the links are two witnesses. How
they go together shows how far to believe a link.

Source: learning how projected tags err: Fang and Cohn (2016), "Learning when to trust distant supervision",
who learn it from tagged sentences.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.votes import Sets, Shares, normalised

# float64[T, T]: p(tag of a link | tag of its word), axes [tag of the word, tag of the link].
Channel = NDArray[np.float64]


def learn_channel(text: LinkedText, sets: Sets, tagger: Tagger, sentences: Iterable[int]) -> Channel:
    """Estimate the channel from a tagger's expected tags of linked words, within their sets."""
    n_tags = len(text.tags)
    # No link is impossible.
    joint = np.eye(n_tags) + 1.0 / n_tags
    for sentence in sentences:
        words = text.words_of(sentence)
        expected = tagger.distribution_within(text.sentences[sentence], sets[text.types[words]])
        joint += expected.T @ normalised(text.votes[words].astype(np.float64))
    return normalised(joint)


def channel_evidence(
    text: LinkedText, weights: Shares | Sets, channel: Channel, sentences: Sequence[int]
) -> LogEvidence:
    """Return the link evidence of the words of sentences, float32[M, T], natural log.

    ``weights`` [V, T]: of the tags of types. 0 for the best tag of the word. Votes below 1 leave doubt
    whether a word has a link at all.
    """
    places = text.places(sentences)
    votes = text.votes[places].astype(np.float64)
    likelihood = normalised(votes) @ channel.T
    certainty = np.minimum(votes.sum(axis=1, keepdims=True), 1.0)
    highest = np.maximum(likelihood.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):
        logs = np.log(weights[text.types[places]] * ((1.0 - certainty) + certainty * likelihood / highest))
    evidence: LogEvidence = (logs - logs.max(axis=1, keepdims=True)).astype(np.float32)
    return evidence
