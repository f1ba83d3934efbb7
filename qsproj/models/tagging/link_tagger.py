"""Tags of one side of a bitext with those of the other as evidence: a verb is linked to a verb.

A tagger trained on a hundred trees is often wrong, the source's rarely. Tags are mixtures over likely links.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qsproj.conventions import Floats, Numbers, Rng, Scores, Weights
from qsproj.corpus.cells import UNSPECIFIED
from qsproj.corpus.editing import with_columns
from qsproj.corpus.sentence import Sentence, SentencePair
from qsproj.errors import UsageError, pluralise
from qsproj.features.joint_templates import link_posteriors
from qsproj.models.packing import joined, packed_weights, unnested, unpack_weights
from qsproj.models.schema import Archive, Arrays, anything, checked, labels, number
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import train_tagger
from qsproj.models.tagging.tagging_parser_training import TAGGER_FOLDS, cross_fitted_tags
from qsproj.training.choices import LEAST_SCALE, SenseExample, SenseRows, SenseWeights, train_senses

SAME = 2.0  # initial score, natural log, of the same tag on the other side
SURE = (0.3, 0.6, 0.9)  # features of links: thresholds of their probability
LEAST_TAG = 1e-9  # lower bound of the tagger's own probabilities
TAGGER = "tagger_"


@dataclass(frozen=True, slots=True, eq=False)
class LinkTagger:
    """A tagger of the target with the tags of linked source words as evidence."""

    tagger: Tagger
    source_tags: tuple[str, ...]
    # Rows by source tag, then by bin of the link's probability and source tag; columns by tag.
    table: SenseWeights

    def tag(self, pair: SentencePair) -> Sentence:
        return self.decided(pair, self.scores(pair.target))

    def tag_alone(self, sentence: Sentence) -> Sentence:
        return self._filled(sentence, self.scores(sentence))

    def decided(self, pair: SentencePair, scores: Scores) -> Sentence:
        return self._filled(pair.target, self._with_evidence(pair, scores))

    def chances(self, pair: SentencePair, scores: Scores) -> Scores:
        """Return the probability of each tag of each target word, float64[n+1, T], by tagger and links."""
        own = self.table.scale * self._with_evidence(pair, scores)
        weights = np.exp(own - own.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def scores(self, sentence: Sentence) -> Scores:
        """Return the tagger's own scores of tags, float64[n+1, T], natural log; row 0 is of the root."""
        return _log_chances(self.tagger.tag_distribution(sentence))

    def of_links(self, source_tags: Sequence[str], chances: Floats) -> Scores:
        """Return the evidence of L links for tags, float64[L, T], natural log; unknown tags give none."""
        numbers = {tag: number for number, tag in enumerate(self.source_tags)}
        tags = np.array([numbers.get(tag, -1) for tag in source_tags], dtype=np.int32)
        said: Scores = self.table.weights[_rows(np.maximum(tags, 0), chances, len(numbers))].sum(axis=1)
        return np.where(tags[:, None] < 0, 0.0, said)

    def _with_evidence(self, pair: SentencePair, scores: Scores) -> Scores:
        return scores + self.table.evidence(link_senses(pair, self.source_tags), len(scores))

    def _filled(self, sentence: Sentence, scores: Scores) -> Sentence:
        best = [self.tagger.tags[number] for number in scores[1:].argmax(axis=1).tolist()]
        tags = [new if tag == UNSPECIFIED else tag for tag, new in zip(sentence.upos, best, strict=True)]
        return with_columns(sentence, upos=tags)

    def to_archive(self) -> Archive:
        header, arrays = joined({"tagger": (TAGGER, self.tagger)})
        own = {"source_tags": list(self.source_tags), "scale": self.table.scale}
        return own | header, arrays | packed_weights("", self.table.weights)

    @staticmethod
    def from_archive(header: dict[str, Any], arrays: Arrays) -> "LinkTagger":
        checked(header, {"source_tags": labels(1), "scale": number(LEAST_SCALE), "tagger": anything})
        tagger = Tagger.from_archive(header["tagger"], unnested(TAGGER, arrays))
        source_tags = tuple(header["source_tags"])
        weights = unpack_weights("", arrays, _no_weights(source_tags, tagger.tags))
        return LinkTagger(tagger, source_tags, SenseWeights(weights, header["scale"]))


def link_senses(pair: SentencePair, source_tags: Sequence[str]) -> SenseRows:
    """Return the source words that each target word may be linked to; those without a tag are left out."""
    numbers = {tag: number for number, tag in enumerate(source_tags)}
    tags = np.array([-1, *(numbers.get(tag, -1) for tag in pair.source.upos)], dtype=np.int32)
    links, chances = pair.alignment.links, link_posteriors(pair.alignment)
    order = np.argsort(links[:, 1], kind="stable")
    order = order[(tags[links[order, 0]] >= 0) & (chances[order] > 0.0)]
    words, of_source, chances = links[order, 1], tags[links[order, 0]], chances[order]
    said = np.bincount(words, weights=chances, minlength=len(pair.target) + 1)
    rows = _rows(of_source, chances, len(source_tags))
    return SenseRows(words.astype(np.int32), chances / np.maximum(said, 1.0)[words], rows)


def _rows(tags: Numbers, chances: Floats, n_tags: int) -> Numbers:
    """Return the rows of links, int32[L, 2]: by source tag, and by bin of link probability and source tag."""
    return np.stack([tags, (1 + np.digitize(chances, SURE)) * n_tags + tags], axis=1).astype(np.int32)


def train_link_tagger(
    pairs: Sequence[SentencePair], *, rng: Rng
) -> tuple[LinkTagger, list[Sentence], list[Scores]]:
    """Train a tagger for the target side of pairs, which has UPOS on every word; UsageError for too few.

    Also returns the targets and scores of tags float64[n+1, T], by a tagger that has not seen them.
    """
    if len(pairs) < TAGGER_FOLDS:
        found, expected = f"{pluralise(len(pairs), 'pair')} to learn tags from", f"at least {TAGGER_FOLDS}"
        raise UsageError(f"found {found}, expected {expected}: each is tagged by a tagger trained on others")
    targets = [pair.target for pair in pairs]
    tagger = train_tagger(targets, rng=rng)
    source_tags = tuple(sorted({tag for pair in pairs for tag in pair.source.upos} - {UNSPECIFIED}))
    scores = [_log_chances(own) for own in cross_fitted_tags(targets, tagger, rng=rng)[0]]
    numbers = {tag: number for number, tag in enumerate(tagger.tags)}
    rights = [np.array([-1, *(numbers[tag] for tag in one.upos)], dtype=np.int32) for one in targets]
    examples = list(map(SenseExample, (link_senses(pair, source_tags) for pair in pairs), scores, rights))
    start = _no_weights(source_tags, tagger.tags)
    for row, tag in enumerate(source_tags):
        if tag in numbers:
            start[row, numbers[tag]] = SAME
    table = train_senses(SenseWeights(start), examples, rng=rng, description="training tags through links")
    trained = LinkTagger(tagger, source_tags, table)
    tagged = [trained.decided(untagged(pair), own) for pair, own in zip(pairs, scores, strict=True)]
    return trained, tagged, scores


def untagged(pair: SentencePair) -> SentencePair:
    return replace(pair, target=with_columns(pair.target, upos=(UNSPECIFIED,) * len(pair.target)))


def _log_chances(chances: Floats) -> Scores:
    return np.vstack([np.zeros(chances.shape[1]), np.log(np.maximum(chances, LEAST_TAG))])


def _no_weights(source_tags: Sequence[str], tags: Sequence[str]) -> Weights:
    return np.zeros(((2 + len(SURE)) * len(source_tags), len(tags)), dtype=np.float32)
