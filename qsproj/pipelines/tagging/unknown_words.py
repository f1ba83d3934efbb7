"""Tags of words that the bitext lacks: words that occur once show how rarely these are of a closed class.

Suffixes of frequent function words otherwise make determiners of adjectives that only raw text has. Where
neighbours begin alike, beginnings show which words agree.

Source: Baayen and Sproat (1996), "Estimating lexical priors for low-frequency morphologically ambiguous
forms".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from qsproj.corpus.characters import lower_form, plain_form
from qsproj.features.hashing import FeatureIndex
from qsproj.features.tagging import class_sets_of, templates_with, word_kind
from qsproj.models.packing import in_half_the_bytes
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.pipelines.tagging.linked_text import LinkedText, word_votes
from qsproj.pipelines.tagging.options import FEW

CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
# Name of the feature of known words.
KNOWN = "known"
# A word of each kind that has letters.
SPELLED = ("a", "A", "AA")
# First letters of neighbours, where they agree: an Arabic adjective has the article of its noun, +1.3 UPOS.
AGREEMENT = ("prefix2-1 & prefix2", "prefix2 & prefix2+1")


def link_features(sentences: Sequence[Sequence[str]], *, classes: int) -> FeatureExtractor:
    """Return the features of taggers learned through links, with this many word classes of the sentences."""
    sets = class_sets_of(sentences, lower=classes)
    templates = templates_with(tuple(sets))
    return FeatureExtractor((*templates, *AGREEMENT) if alike(sentences) >= FEW else templates, sets)


def alike(sentences: Iterable[Sequence[str]]) -> float:
    """Return the share of different neighbours of three letters or more that begin with the same two.

    6.3% in Arabic; .8 to 2.0% in the other New Testaments at hand, where such features lose .1 UPOS.
    """
    same = [
        one[:2] == other[:2]
        for forms in sentences
        for one, other in pairwise(map(lower_form, forms))
        if min(len(one), len(other)) > 2 and one[0].isalpha() and other[0].isalpha() and one != other
    ]
    return float(np.mean(same)) if same else 0.0


def prior_of_unknown(text: LinkedText) -> NDArray[np.float64]:
    """Return the prior of each tag of unknown words, float64[T]: natural log, at most 0; 0 for open classes.

    It is the share of votes of words that occur once over the share of votes of all words.
    """
    words = word_votes(text, 0.0)
    once, every = (votes.sum(axis=0) + 1.0 for votes in (words.votes[words.counts == 1], words.votes))
    log_ratio = np.log(once / once.sum()) - np.log(every / every.sum())
    return np.where(np.isin(text.tags, list(CLOSED)), np.minimum(log_ratio, 0.0), 0.0)


def with_prior_of_unknown(tagger: Tagger, known: Iterable[str], prior: NDArray[np.float64]) -> Tagger:
    """Return a tagger that adds ``prior`` float64[T] to the potentials of words not in ``known`` in any case.

    Features fire where a word is in a list, not where it is in none: all words of letters get the prior,
    and known words lose it again.
    """
    kinds_of_words = set(map(word_kind, SPELLED))
    words = {lower_form(form): 0 for form in known if word_kind(plain_form(form)) in kinds_of_words}
    old = tagger.extractor
    extractor = FeatureExtractor((*old.templates, KNOWN), {**old.class_sets, KNOWN: words})
    kinds = extractor.keys(SPELLED)[:, old.templates.index("kind")]
    of_known = extractor.keys(tuple(words)[:1])[:, -1]
    index = FeatureIndex(np.union1d(tagger.index.keys, np.concatenate([kinds, of_known])))
    weights = np.zeros((len(index.keys), len(tagger.tags)), dtype=np.float32)
    weights[np.searchsorted(index.keys, tagger.index.keys)] = tagger.weights
    for keys, sign in ((kinds, 1.0), (of_known, -1.0)):
        weights[np.searchsorted(index.keys, keys)] += np.float32(sign) * prior.astype(np.float32)
    return replace(tagger, extractor=extractor, index=index, weights=in_half_the_bytes(weights))
