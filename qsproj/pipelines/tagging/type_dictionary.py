"""Type dictionary: the tags that each word type may have, from votes, script and lexicon; unknown words.

A single link is weak evidence: it may be wrong, and translations change the part of speech. All links of a
type together determine its possible tags. The chain model learns from context which of these a word has.
Words that occur once show how rarely unknown ones are of a closed class; without this prior, adjectives with
the suffixes of determiners are tagged DET. Prefix features are used if neighbours often share prefixes.

Sources: after Taeckstroem, Das, McDonald, Petrov and Nivre (2013), who intersect token and type constraints;
Baayen and Sproat (1996), "Estimating lexical priors for low-frequency morphologically ambiguous forms".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from qsproj.conventions import Floats, Mask, Rng
from qsproj.corpus.characters import lower_form, plain_form
from qsproj.corpus.language.lexicon import WordTags
from qsproj.features.hashing import FeatureIndex
from qsproj.features.tagging import class_sets_of, templates_with, word_kind
from qsproj.models.packing import in_half_the_bytes
from qsproj.models.tagging.tagger import FeatureExtractor, Tagger
from qsproj.pipelines.tagging.linked_text import LinkedText, normalised, numbered, summed, word_votes
from qsproj.pipelines.tagging.options import ENDING, FEW, HARDLY, PRIOR_VOTES
from qsproj.pipelines.tagging.script_rules import ScriptRules

DROPPED = 3  # letters that a stem drops; it keeps at least ENDING
CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
KNOWN = "known"  # name of the feature of known words
SPELLED = ("a", "A", "AA")  # a word of each kind that has letters
# First letters of neighbours, where they agree: an Arabic adjective has the article of its noun, +1.3 UPOS.
AGREEMENT = ("prefix2-1 & prefix2", "prefix2 & prefix2+1")


def allowed_tags(
    vocabulary: Sequence[str], tags: Sequence[str], lexicon: WordTags, rules: ScriptRules | None = None
) -> Mask:
    """Return the tags that script and lexicon allow each type, bool[V, T]; the lexicon takes precedence."""
    rules = rules or ScriptRules.of(vocabulary)
    allowed = np.zeros((len(vocabulary), len(tags)), dtype=np.bool_)
    for form, row in zip(vocabulary, allowed, strict=True):
        found = lexicon.get(plain_form(form)) or lexicon.get(lower_form(form)) or rules.allowed(form, tags)
        row[:] = [tag in found for tag in tags] if found else True
    return allowed


def stem(form: str) -> str:
    """Return an approximate stem: the beginning of the form, lower-cased."""
    lower = lower_form(form)
    return lower[: max(ENDING, len(lower) - DROPPED)]


def type_shares(text: LinkedText, allowed: Mask) -> Floats:
    """Return the shares of tags in the votes of each type, float64[V, T]; rows without votes are 0.

    Tags not in ``allowed`` bool[V, T] get 0. Rare forms are smoothed with those that are the same in lower
    case, and those of the same stem.
    """
    counts = summed(text.votes, text.types, len(allowed)) * allowed
    alike = np.zeros_like(counts)
    for name in (lower_form, stem):
        groups, names = numbered(map(name, text.vocabulary))
        alike += normalised(summed(counts, groups, len(names)))[groups]
    return normalised(counts + PRIOR_VOTES * alike * allowed)


def corrected_shares(shares: Floats, text: LinkedText, known: Mapping[str, Mapping[str, int]]) -> Floats:
    """Return the shares corrected by ``known``, the tag counts of each word in tagged sentences."""
    # The shares of links count as one occurrence, so tagged words overrule them.
    result = shares.copy()
    columns = {tag: column for column, tag in enumerate(text.tags)}
    for form, row in zip(text.vocabulary, result, strict=True):
        for tag, count in known.get(form, known.get(lower_form(form), {})).items():
            row[columns[tag]] += count
    return normalised(result)


def with_seen_tags(allowed: Mask, text: LinkedText, known: Mapping[str, Mapping[str, int]]) -> Mask:
    """Return the allowed tags, and those of words in tagged sentences; see :func:`corrected_shares`."""
    return allowed | (corrected_shares(np.zeros(allowed.shape), text, known) > 0.0)


def type_weights(shares: Floats, allowed: Mask, weighted: Mask, *, least: float) -> Floats:
    """Return the weight of each tag of each type, float64[V, T]: 1 for shares of at least ``least``, else 0.

    If a type has no such share, all allowed tags have weight 1. The weights of ``weighted`` types are their
    shares relative to the highest, without those below HARDLY.
    """
    weights = (shares >= least).astype(np.float64)
    unknown = ~weights.any(axis=1)
    weights[unknown] = allowed[unknown]
    kept = np.where(shares >= HARDLY, shares, 0.0)
    weighted = weighted & kept.any(axis=1)
    weights[weighted] = kept[weighted] / kept[weighted].max(axis=1, keepdims=True)
    return weights


def link_features(sentences: Sequence[Sequence[str]], *, classes: int, rng: Rng) -> FeatureExtractor:
    """Return the features of taggers learned through links, with this many word classes of the sentences."""
    sets = class_sets_of(sentences, lower=classes, rng=rng)
    templates = templates_with(tuple(sets))
    return FeatureExtractor(
        (*templates, *AGREEMENT) if prefix_agreement(sentences) >= FEW else templates, sets
    )


def link_features_of(tagger: Tagger) -> FeatureExtractor:
    """Return the features of a tagger without that of :func:`with_prior_of_unknown`."""
    names, sets = tagger.extractor.templates, tagger.extractor.class_sets
    kept = {name: classes for name, classes in sets.items() if name != KNOWN}
    return FeatureExtractor(tuple(name for name in names if name != KNOWN), kept)


def prefix_agreement(sentences: Iterable[Sequence[str]]) -> float:
    """Return the share of different neighbours of three letters or more with the same first two letters.

    6.3% in Arabic; .8 to 2.0% in the other New Testaments at hand, where such features lose .1 UPOS.
    """
    same = [
        one[:2] == other[:2]
        for forms in sentences
        for one, other in pairwise(map(lower_form, forms))
        if min(len(one), len(other)) > 2 and one[0].isalpha() and other[0].isalpha() and one != other
    ]
    return float(np.mean(same)) if same else 0.0


def prior_of_unknown(text: LinkedText) -> Floats:
    """Return the prior of each tag of unknown words, float64[T]: natural log, at most 0; 0 for open classes.

    It is the share of votes of words that occur once over the share of votes of all words.
    """
    words = word_votes(text, 0.0)
    once, every = (votes.sum(axis=0) + 1.0 for votes in (words.votes[words.counts == 1], words.votes))
    log_ratio = np.log(once / once.sum()) - np.log(every / every.sum())
    return np.where(np.isin(text.tags, list(CLOSED)), np.minimum(log_ratio, 0.0), 0.0)


def with_listed_tags(tagger: Tagger, lexicon: WordTags, known: Mapping[str, Mapping[str, int]]) -> Tagger:
    """Return a tagger that gives words of a lexicon no other tags, but ``known`` ones of tagged sentences."""
    return replace(tagger, listed={form: (*tags, *known.get(form, {})) for form, tags in lexicon.items()})


def with_prior_of_unknown(tagger: Tagger, known: Iterable[str], prior: Floats) -> Tagger:
    """Return a tagger that adds ``prior`` float64[T] to the potentials of words not in ``known`` in any case.

    As no feature fires for unknown words alone, all words with letters get the prior, and known ones lose it.
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
