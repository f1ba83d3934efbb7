"""A pair's TAG variables made ready: what their scores are made of, and the weights that make them.

The score of a tag is what the tagger says of it, less what the sum over all trees grows by under it: a parser
says how likely trees are given tags, not how likely tags are. The score of an arc with the tags of its words
is what the parser scores it more than under the best tags. The score of a link with the tag of its target
word is what the table of the tagger (:mod:`qsproj.models.tagging.link_tagger`) says of the tag more than of
the best one, and weights of the tags of both words, learned with those of the other factors. Each of these
four parts has a scale of its own, which is learned, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Scores
from qsproj.corpus.sentence import SentencePair
from qsproj.features.joint_templates import link_posteriors, tag_buckets, word_hashes
from qsproj.kernels.features.sparse_gradient import score_rows
from qsproj.models.joint.tags.choices import TagChoices
from qsproj.models.joint.tags.tagged_arcs import TaggedArcs
from qsproj.models.joint.tags.variables import TagScores, TagVariables
from qsproj.models.tagging.link_tagger import LinkTagger

# What has a scale: the tagger, the growth of the sum over trees, arcs with tags, the tagger's table of links.
N_TAG_SCALES = 4
TagScales = tuple[float, ...]
NEUTRAL: TagScales = (1.0,) * N_TAG_SCALES

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTags:
    """What the scores of a pair's TAG variables are made of.

    ``tagger``, ``trees`` float64[U, K]: what the tagger says of each tag against the first one, natural log,
        0 where there is none; and minus what the sum over trees grows by.
    ``arcs`` float64[F, K, K]: what the parser says of arcs under other tags.
    ``links`` float64[L, K]: what the tagger's table says of links with tags against the first one.
    ``buckets`` int32[L * K, T]: features of links with tags.
    """

    tagger: Values
    trees: Values
    arcs: Values
    links: Values
    buckets: NDArray[np.int32]

    def scores(self, scales: TagScales, weights: Values) -> TagScores:
        """Score the tags and their factors by scales and weights of features."""
        tagger, trees, arcs, links = scales
        learned = score_rows(self.buckets, weights).reshape(self.links.shape)
        return TagScores(
            words=tagger * self.tagger + trees * self.trees,
            arcs=arcs * self.arcs,
            links=links * self.links + learned,
        )

    def slopes(self, by_score: TagScores) -> Values:
        """Return derivatives by the scales, float64[4], of what has these derivatives by the scores."""
        parts = (
            (by_score.words, self.tagger),
            (by_score.words, self.trees),
            (by_score.arcs, self.arcs),
            (by_score.links, self.links),
        )
        return np.array([float((slopes * values).sum()) for slopes, values in parts])


def prepared_tags(
    pair: SentencePair,
    tagger: LinkTagger,
    choices: TagChoices,
    tagged: TaggedArcs,
    variables: TagVariables,
    marginals: Scores,
) -> PreparedTags:
    """Gather what the scores of TAG variables are made of.

    ``marginals`` float64[n+1, n+1]: probability of each arc under the tags that the sentence has, by the
    first order.
    """
    links = pair.alignment.links[variables.links]
    source_tags = word_hashes(pair.source).tags[links[:, 0]]
    posteriors = link_posteriors(pair.alignment)[variables.links]
    names = [choices.tags[u] for u in variables.linked.tolist()]
    n_tags = choices.scores.shape[1]
    return PreparedTags(
        tagger=np.where(choices.possible, choices.scores, 0.0),
        trees=-tagged.growth(choices, marginals),
        arcs=tagged.scores,
        links=_by_table(tagger, pair, links, posteriors, names, n_tags),
        buckets=tag_buckets(names, source_tags, posteriors, n_tags),
    )


def _by_table(
    tagger: LinkTagger,
    pair: SentencePair,
    links: NDArray[np.int32],
    posteriors: Values,
    names: list[tuple[str, ...]],
    n_tags: int,
) -> Values:
    """Return what the tagger's table says of links with tags against the first one, float64[L, K]."""
    said = tagger.of_links([pair.source.upos[s - 1] for s in links[:, 0].tolist()], posteriors)
    numbers = {tag: number for number, tag in enumerate(tagger.tagger.tags)}
    columns = [[numbers[tag] for tag in (*row, *row[:1] * (n_tags - len(row)))] for row in names]
    own = np.take_along_axis(said, np.array(columns, dtype=np.int64).reshape(-1, n_tags), axis=1)
    relative: Values = own - own[:, :1]
    return relative
