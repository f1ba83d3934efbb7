"""Type-level tag sets and token-level evidence from the votes of links.

A single link is weak evidence: it may be wrong, and translations change the part of speech. All links of a
type together determine its possible tags. The chain model learns from context which of these a word has.

Source: after Taeckstroem, Das, McDonald, Petrov and Nivre (2013), who intersect token and type constraints.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qsproj.corpus.language.lexicon import WordTags
from qsproj.models.tagging.tagger import Tagger
from qsproj.models.tagging.tagger_training import LogEvidence
from qsproj.pipelines.tagging.linked_text import LinkedText, numbered

SIGNS = frozenset({"PUNCT", "SYM"})
NUMERAL = frozenset({"NUM"})
PROPER_NOUN = "PROPN"
# Prior counts from the lower-cased form, and from all forms with the same stem, in the shares of a form.
LOWER_CASED = 2.0
OF_STEM = 2.0
# A stem drops the last ENDING letters, but keeps at least SHORTEST_STEM.
ENDING = 3
SHORTEST_STEM = 4

Shares = NDArray[np.float64]
Sets = NDArray[np.bool_]


def allowed_tags(vocabulary: Sequence[str], tags: Sequence[str], lexicon: WordTags) -> Sets:
    """Return the tags that script and lexicon allow each type, bool[V, T]; the lexicon takes precedence."""
    allowed = tags_by_script(vocabulary, tags)
    for form, row in zip(vocabulary, allowed, strict=True):
        listed = lexicon.get(form) or lexicon.get(form.lower())
        if listed:
            row[:] = [tag in listed for tag in tags]
    return allowed


def tags_by_script(vocabulary: Sequence[str], tags: Sequence[str]) -> NDArray[np.bool_]:
    """Return the tags that the script allows each type, bool[V, T].

    Types made of signs alone are PUNCT or SYM, and no others are PUNCT; digits with or without signs between
    are NUM; in scripts with capitals, lower-case words are not PROPN. Rules that leave none of ``tags`` are
    skipped.
    """
    allowed = np.zeros((len(vocabulary), len(tags)), dtype=np.bool_)
    for form, row in zip(vocabulary, allowed, strict=True):
        found = allowed_by_script(form, tags)
        row[:] = [tag in found for tag in tags] if found else True
    return allowed


def allowed_by_script(form: str, tags: Sequence[str]) -> frozenset[str]:
    """Return the tags of ``tags`` that the script allows a word, possibly none."""
    categories = {unicodedata.category(character) for character in form}
    if all(category[0] in "PSZ" for category in categories):
        return SIGNS.intersection(tags)
    # 20, 1,5 and 10:30 are numbers; 20. may be an ordinal.
    if form[-1].isdecimal() and all(category == "Nd" or category[0] == "P" for category in categories):
        return NUMERAL.intersection(tags)
    others = frozenset(tags) - {"PUNCT"}
    return others - {PROPER_NOUN} if form.islower() else others


def stem(form: str) -> str:
    """Return an approximate stem: the beginning of the form, lower-cased."""
    return form.lower()[: max(SHORTEST_STEM, len(form) - ENDING)]


def type_shares(text: LinkedText, mass: NDArray[np.float32], allowed: Sets, *, stems: bool = False) -> Shares:
    """Return the shares of tags in the ``mass`` float32[N, T] of each type's words, float64[V, T].

    Each row adds up to 1, or is all 0 for a type without mass. Tags not in ``allowed`` bool[V, T] get 0. Rare
    forms are smoothed with all forms that are the same in lower case and, with ``stems``, that share a stem.
    """
    counts = summed(mass, text.types, len(allowed)) * allowed
    leaning = LOWER_CASED * _pooled(counts, map(str.lower, text.vocabulary))
    if stems:
        leaning += OF_STEM * _pooled(counts, map(stem, text.vocabulary))
    return normalised(counts + leaning * allowed)


# A frequent word makes up at least one in FREQUENT words of a text, and occurs at least OFTEN times.
FREQUENT = 1000
OFTEN = 100
# Votes per occurrence, relative to the mean of all words, below which a frequent word counts as untranslated.
# Of 45 words of German, Spanish, Swedish, Czech, Ukrainian, Wolof, Armenian and Italian with less than .2
# votes, where .5 to .7 are usual, 15 are auxiliaries, 11 determiners, 9 pronouns, none a conjunction, and the
# majority tag of their links is right for 19; of 829 with .45 or more for 651.
WEAKLY_LINKED = 0.4
# Mean votes per word below which all words are weakly linked, and none is treated so: from 600 pairs .15
# (Chinese) and .23 (Turkish), from 1,800 and more .49 to .68.
LINKED = 0.4
# Links are believed where one tag has share SAID of a word's votes and the word has HEARD of the mean votes.
# Of 46 weakly linked words of ten New Testaments 17 have such a tag: German *aber* CCONJ .85, Italian *gli*
# DET .85, Gothic *þan* ADV .89; it is right for all but Wolof *ga*. For half of the other words the first tag
# is wrong.
SAID = 0.75
HEARD = 0.1
# Prior weights of the frequent tags of weakly linked words, weight of any other tag, and power of the shares
# of votes, which are mostly noise: at a power of a third two sources made Wolof *di* DET, one AUX.
OF_WEAKLY_LINKED = {"AUX": 0.3, "DET": 0.3, "PRON": 0.3, "ADV": 0.05, "PART": 0.05}
OF_OTHERS = 0.005
BELIEVED = 0.1


def function_word_prior(text: LinkedText, shares: Shares) -> Shares:
    """Return the shares of types, with a function-word prior on weakly linked words.

    Words without translations are linked to each other: Wolof *di*, an auxiliary, to *and*. The chain model
    decides between AUX, DET and PRON. Words whose links agree on a tag keep their shares.
    """
    words = _words(text)
    weak = _weakly_linked(text, words)
    # Without signs, whose links to PUNCT or SYM are right.
    spelled = [any(map(str.isalpha, form)) for form in text.vocabulary]
    rows = weak[words.of_types] & spelled
    weights = np.array([OF_WEAKLY_LINKED.get(tag, OF_OTHERS) for tag in text.tags])
    result = shares.copy()
    result[rows] = normalised(shares[rows] ** BELIEVED * weights)
    return result


def _weakly_linked(text: LinkedText, words: "_Words") -> NDArray[np.bool_]:
    """Return the frequent words with few votes per occurrence and no majority tag, bool[W]."""
    mean = words.votes.sum() / len(text.types)
    if mean < LINKED:
        return np.zeros_like(words.frequent)
    heard = words.votes.sum(axis=1) / (mean * words.counts)
    agree = (normalised(words.votes).max(axis=1) >= SAID) & (heard >= HEARD)
    return words.frequent & (heard < WEAKLY_LINKED) & ~agree


# Number of distributional neighbours of a weakly linked word, and how many of them must share a tag; rarest
# neighbour (one in RARE_COMPANY words), and least share of the tag in the word's own votes. Most links of
# Spanish *se* are to auxiliaries; its neighbours are *nos*, *me*, *te*, and two fifths of its links are PRON.
COMPANY = 4
ALIKE = 3
RARE_COMPANY = 10_000
LEAST_OWN = 0.3


def distributional_tags(text: LinkedText, shares: Shares) -> Shares:
    """Return the shares of types, with those of weakly linked words multiplied by distributional evidence.

    Their few links belong to the words around them. Contexts are the previous and next word: frequent words
    by form, others by tag. The word's shares and the votes of the words with the most similar contexts are
    multiplied as if independent. Contexts do not help in Czech, where *se* stands in the places of *be*.
    """
    own_words = _words(text)
    words, counts, votes, frequent = own_words
    weak = _weakly_linked(text, own_words)
    at = words[text.types]
    if not weak.any():
        return shares
    own, edge = normalised(votes), len(text.tags) + int(frequent.sum())
    place = np.where(frequent, len(text.tags) + np.cumsum(frequent) - 1, votes.argmax(axis=1))[at]
    before, after = np.roll(place, 1), np.roll(place, -1)
    before[text.starts[:-1]] = after[text.starts[1:] - 1] = edge
    company = np.zeros((len(counts), 2 * edge + 2))
    np.add.at(company, (np.tile(at, 2), np.concatenate([before, edge + 1 + after])), 1.0)
    like = np.flatnonzero(~weak & (votes.sum(axis=1) > 0.0) & (counts * RARE_COMPANY >= len(at)))
    roots = np.sqrt(normalised(company))
    result = shares.copy()
    for word in np.flatnonzero(weak).tolist():
        nearest = like[np.argsort(-(roots[like] @ roots[word]), kind="stable")[:COMPANY]]
        [(tag, alike)] = Counter(votes[nearest].argmax(axis=1).tolist()).most_common(1)
        if alike >= ALIKE and own[word, tag] >= LEAST_OWN:
            result[words == word] = normalised(shares[words == word] * own[nearest].sum(axis=0))
    return result


# Majority, of links for one tag and of occurrences tagged otherwise, that makes a contradiction.
MOST = 0.5


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A frequent word whose usual tag differs from that of its links, with the shares of both."""

    word: str
    count: int
    linked: tuple[str, float]
    given: tuple[str, float]

    def __str__(self) -> str:
        (linked, believed), (given, share) = self.linked, self.given
        return f"{self.word} {linked} {100 * believed:.0f}%, tagged {given} {100 * share:.0f}%"


def contradictions(text: LinkedText, tagger: Tagger, sentences: Sequence[int]) -> list[Contradiction]:
    """Return frequent words whose tags in ``sentences`` contradict their links, the commonest first."""
    words = _words(text)
    given: dict[int, Counter[str]] = {}
    for sentence in sentences:
        of_sentence = words.of_types[text.types[text.words_of(sentence)]]
        for word, tag in zip(of_sentence.tolist(), tagger.tag_words(text.sentences[sentence]), strict=True):
            if words.frequent[word]:
                given.setdefault(word, Counter())[tag] += 1
    names = dict(zip(words.of_types.tolist(), text.vocabulary, strict=True))
    shares = normalised(words.votes)
    found = []
    for word, counts in given.items():
        best = int(shares[word].argmax())
        tag, count = min(counts.items(), key=lambda one: (-one[1], one[0]))
        if tag != text.tags[best] and shares[word, best] >= MOST and count > MOST * counts.total():
            linked = text.tags[best], float(shares[word, best])
            share = count / counts.total()
            found.append(Contradiction(names[word].lower(), int(words.counts[word]), linked, (tag, share)))
    return sorted(found, key=lambda one: (-one.count, one.word))


class _Words(NamedTuple):
    """The W lower-cased words of a text."""

    of_types: NDArray[np.int64]  # int64[V], the word of each type
    counts: NDArray[np.int64]  # int64[W]
    votes: NDArray[np.float64]  # float64[W, T]
    frequent: NDArray[np.bool_]  # bool[W]


def _words(text: LinkedText) -> _Words:
    of_types, n_words = numbered(form.lower() for form in text.vocabulary)
    at = of_types[text.types]
    counts = np.bincount(at, minlength=n_words)
    votes = summed(text.votes, at, n_words)
    return _Words(of_types, counts, votes, counts >= max(len(at) / FREQUENT, OFTEN))


def summed(rows: NDArray[np.floating], groups: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the rows, [N, T], of each group, float64[n_groups, T]: faster than add.at."""
    sums = np.empty((n_groups, rows.shape[1]))
    for column in range(rows.shape[1]):
        sums[:, column] = np.bincount(groups, rows[:, column], minlength=n_groups)
    return sums


def _pooled(counts: NDArray[np.float64], names: Iterable[str]) -> NDArray[np.float64]:
    """Return for each type the tag shares in the pooled counts of its name, float64[V, T]."""
    group, n_groups = numbered(names)
    return normalised(summed(counts, group, n_groups))[group]


def corrected(shares: Shares, text: LinkedText, known: Mapping[str, Mapping[str, int]]) -> Shares:
    """Return the shares corrected by ``known``, the tag counts of each word in tagged sentences.

    The shares of links count as one occurrence, so tagged words overrule them.
    """
    result = shares.copy()
    columns = {tag: column for column, tag in enumerate(text.tags)}
    for form, row in zip(text.vocabulary, result, strict=True):
        for tag, count in known.get(form, known.get(form.lower(), {})).items():
            row[columns[tag]] += count
    return normalised(result)


def type_sets(shares: Shares, allowed: Sets, *, least: float) -> Sets:
    """Return the tags of each type with a share of at least ``least``, bool[V, T]; if none, all allowed."""
    sets = shares >= least
    unknown = ~sets.any(axis=1)
    sets[unknown] = allowed[unknown]
    return sets


def set_evidence(text: LinkedText, sets: Sets, sentences: Sequence[int]) -> LogEvidence:
    """Return the evidence of the words of sentences, float32[M, T]: 0 for tags in a type's set, else -inf."""
    weights = np.where(sets, np.float32(0.0), np.float32(-np.inf))
    return weights[text.types[text.places(sentences)]]


def normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows divided by their sums; rows of zeros are unchanged."""
    sums = counts.sum(axis=1, keepdims=True)
    quotients = np.zeros_like(counts)
    np.divide(counts, sums, out=quotients, where=sums > 0.0)
    return quotients


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
