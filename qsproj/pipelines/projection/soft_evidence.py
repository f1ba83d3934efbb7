"""What parsed translations say of the arcs of a sentence: evidence between 0 and 1 for every arc."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import NO_HEAD, ROOT, Scores
from qsproj.corpus.sentence import Alignment, Sentence, SentencePair
from qsproj.evaluation.calibration import stated_confidences
from qsproj.models.qg_dmv.qg_dmv import QgDmv
from qsproj.pipelines.projection.soft_grammar import weighed
from qsproj.pipelines.translations import Translations

UNLABELLED = "_"


def link_strengths(alignment: Alignment) -> NDArray[np.float64]:
    """Return how far each source word stands for each target word, float64[m+1, n+1] in 0..1.

    The weight of a link times its share in the weights of all links of either word: a word that is linked
    twice is worth half a link each time, so that one-to-one links count most. The root stands for the root.
    """
    weights = np.zeros((alignment.n_source + 1, alignment.n_target + 1))
    links = alignment.links
    weights[links[:, 0], links[:, 1]] = 1.0 if alignment.weights is None else alignment.weights
    # The tiny number is for words without links, whose rows and columns stay zero.
    tiny = np.finfo(np.float64).tiny
    of_source = weights / np.maximum(weights.sum(axis=1, keepdims=True), tiny)
    of_target = weights / np.maximum(weights.sum(axis=0, keepdims=True), tiny)
    strengths: NDArray[np.float64] = weights * of_source * of_target
    strengths[ROOT, ROOT] = 1.0
    return strengths


def source_arcs(source: Sentence) -> Scores:
    """Return the arcs of a parsed sentence, float64[m+1, m+1], weighted by ``ArcProb`` where MISC has it."""
    arcs = np.zeros((len(source) + 1, len(source) + 1))
    words = np.flatnonzero(source.heads[1:] != NO_HEAD) + 1
    confidences = stated_confidences(source, name="source")
    arcs[source.heads[words], words] = np.where(np.isnan(confidences), 1.0, confidences)[words]
    return arcs


def arc_evidence(pair: SentencePair) -> Scores:
    """Return how strongly the links carry a source arc over to each target arc, float64[n+1, n+1] in 0..1.

    The source arc's probability times the strengths of the links at its two ends, summed over the source
    arcs.

    *Source*: direct projection (thesis 4.5) with its links and arcs weighted.
    """
    strengths = link_strengths(pair.alignment)
    evidence = strengths.T @ source_arcs(pair.source) @ strengths
    np.fill_diagonal(evidence, 0.0)
    evidence[:, ROOT] = 0.0
    clipped: Scores = np.minimum(evidence, 1.0)
    return clipped


def pooled_evidence(translations: Translations, grammars: tuple[QgDmv, ...] = ()) -> Scores:
    """Return how strongly all translations together speak for each target arc, float64[n+1, n+1].

    The evidence of all added up, 1 at most, each weighed by its grammar where there are any. On dev files the
    mean, which makes room for what a translation does not say, was worse than one translation alone; the
    largest was as good as the sum.
    """
    carried = [arc_evidence(pair) for pair in translations]
    if grammars:
        carried = [weighed(*each) for each in zip(carried, grammars, translations, strict=True)]
    pooled: Scores = np.minimum(np.sum(carried, axis=0), 1.0)
    return pooled
