"""Frequent words that links hardly reach, or contradict.

Function words without a translation are linked to whatever is left: Wolof *di*, an auxiliary, to *and*.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from qsproj.conventions import Mask
from qsproj.corpus.characters import lower_form
from qsproj.features.tagging import BOUNDARY_CLASS, RARE_CLASS, Classes
from qsproj.models.tagging.tagger import TagWords
from qsproj.pipelines.tagging.linked_text import LinkedText
from qsproj.pipelines.tagging.options import HALF, TagProjectionOptions
from qsproj.pipelines.tagging.type_dictionary import type_shares
from qsproj.pipelines.tagging.votes import Sets, Shares, Words, normalised, summed, words_of

# Most untranslated words have one of these tags.
UNTRANSLATED = frozenset({"AUX", "DET", "PRON"})
# Conjunctions are translated: a rarely linked word with links to *and* is no conjunction (Wolof *di*), unless
# they have this share of its votes (German *aber*).
TRANSLATED = "CCONJ"
SURELY_TRANSLATED = 0.75
# Words with similar neighbours may be this many times rarer than frequent ones, and vote in positions where
# they occur at least ENOUGH times.
RARER = 10
ENOUGH = 10


def by_position(text: LinkedText, options: TagProjectionOptions) -> LinkedText:
    """Return the text with a type of its own for each rarely linked word before each tag."""
    words = words_of(text, options.frequent)
    rare = rarely_linked(text, words, options)
    if text.first is not None:
        of_first, decided = _first_translation(text, text.first, options)
        rare = np.where(decided, rarely_linked(of_first, words_of(of_first, options.frequent), options), rare)
    at = rare[words.of_types[text.types]]
    n_places = len(text.tags) + 1
    named, numbers = np.unique(
        text.types[at].astype(np.int64) * n_places + _next_tags(text, words)[at], return_inverse=True
    )
    types = text.types.copy()
    types[at] = len(text.vocabulary) + numbers
    forms = (text.vocabulary[one] for one in (named // n_places).tolist())
    return replace(text, types=types, vocabulary=(*text.vocabulary, *forms))


def shares_of_types(
    text: LinkedText, allowed: Sets, classes: Classes, options: TagProjectionOptions
) -> tuple[Shares, Mask]:
    """Return the shares of tags in the votes of each type, and which are weights: those of function words.

    ``text``: with types :func:`by_position`. ``classes``: those of lower-cased words. Of several translations
    the first decides for frequent words that it has votes for: treebanks differ in the tags of function
    words, so that words get tags of several conventions.
    """
    words = words_of(text, options.frequent)
    after = _next_tags(text, words)
    shares, weighted = with_function_tags(text, allowed, after, classes, options)
    if text.first is None:
        return shares, weighted
    of_first, decided = _first_translation(text, text.first, options)
    by_first, weighted_by_first = with_function_tags(of_first, allowed, after, classes, options)
    decided = decided[words.of_types] & by_first.any(axis=1)
    return np.where(decided[:, None], by_first, shares), np.where(decided, weighted_by_first, weighted)


def _first_translation(
    text: LinkedText, votes: NDArray[np.float32], options: TagProjectionOptions
) -> tuple[LinkedText, Mask]:
    """Return the text with the votes of its first translation, and the words that these decide, bool[W]."""
    of_first = replace(text, votes=votes, first=None)
    words = words_of(of_first, options.frequent)
    return of_first, words.frequent & words.votes.any(axis=1)


def with_function_tags(
    text: LinkedText,
    allowed: Sets,
    after: NDArray[np.int64],
    classes: Classes,
    options: TagProjectionOptions,
) -> tuple[Shares, Mask]:
    """Return the shares of types, and which of them are weights: those of rarely linked words.

    ``after``: the tag after each word. Rarely linked words may be AUX, DET and PRON, beside the tags that
    their links bring. Each counts as much as among the votes of the words that are well linked before the
    same tag and have the most similar neighbours: most links of Spanish *se* are to auxiliaries, but it
    stands where *me*, *nos* and *te* do. Where no word is, it counts as much as in the other positions.
    Words whose links agree on a tag keep their shares, however few the links. Tags not in ``allowed``
    bool[V, T] get 0.
    """
    words = words_of(text, options.frequent)
    named, group = np.unique(words.of_types[text.types] * (len(text.tags) + 1) + after, return_inverse=True)
    word, place = np.divmod(named, len(text.tags) + 1)
    counts = np.bincount(group)
    votes = summed(text.votes, group, len(named))
    rare = rarely_linked(text, words, options)[word]
    known = (counts >= ENOUGH) & (words.counts[word] >= options.frequent * len(text.types) / RARER)
    sure = known & ~_few_votes(votes, counts, options)
    rows = np.cumsum(known) - 1
    contexts = _contexts(text, np.where(known, rows, -1)[group], classes)
    own = normalised(words.votes)[word]
    function, translated = (np.isin(text.tags, list(tags)) for tags in (UNTRANSLATED, {TRANSLATED}))
    tags = ((function & (own > 0.0)) | (~translated & (own >= options.least))).astype(np.float64)
    weights = np.zeros_like(votes)
    for one in np.flatnonzero(rare & known).tolist():
        others = np.flatnonzero(sure & (place == place[one]))
        likeness = contexts[rows[others]] @ contexts[rows[one]]
        similar = others[np.argsort(-likeness, kind="stable")[: options.similar]]
        company = normalised(votes[similar]).sum(axis=0)
        if company.any():
            weights[one] = tags[one] * company if (tags[one] * company).any() else tags[one]
    weights = normalised(weights)
    elsewhere = summed(weights * counts[:, None], word, len(words.counts))[word]
    for fallback in (elsewhere, tags):
        weights = np.where(weights.any(axis=1, keepdims=True), weights, normalised(fallback))
    of_types = np.zeros(len(allowed), dtype=np.int64)
    weighted = np.zeros(len(allowed), dtype=np.bool_)
    of_types[text.types] = group
    weighted[text.types] = rare[group]
    weights = normalised(weights[of_types] * allowed)
    return np.where(weighted[:, None], weights, type_shares(text, allowed)), weighted


def rarely_linked(text: LinkedText, words: Words, options: TagProjectionOptions) -> Mask:
    """Return the frequent words with few votes per occurrence and no majority tag, bool[W]; no signs."""
    # In 600 pairs of news all words are rarely linked: .15 to .23 votes a word, in Testaments .49 to .71.
    enough_links = words.votes.sum() >= options.rarely_linked * len(text.types)
    few = _few_votes(words.votes, words.counts, options)
    spelled = np.zeros_like(words.frequent)
    spelled[words.of_types] = [any(map(str.isalpha, form)) for form in text.vocabulary]
    enough = [SURELY_TRANSLATED if tag == TRANSLATED else options.agreeing for tag in text.tags]
    agree = (normalised(words.votes) >= enough).any(axis=1)
    return words.frequent & spelled & few & ~agree & enough_links


def _few_votes(votes: NDArray[np.float64], counts: NDArray[np.int64], options: TagProjectionOptions) -> Mask:
    """Return which rows have few votes per occurrence, compared with all rows."""
    return votes.sum(axis=1) * counts.sum() < options.rarely_linked * votes.sum() * counts


def _next_tags(text: LinkedText, words: Words) -> NDArray[np.int64]:
    """Return the tag after each word, int64[N]: the likeliest by that word's links, else by its form.

    T at the end of a sentence.
    """
    usual = words.votes.argmax(axis=1)[words.of_types[text.types]]
    linked = text.votes.sum(axis=1) > HALF
    tags = np.roll(np.where(linked, text.votes.argmax(axis=1), usual), -1)
    tags[text.starts[1:] - 1] = len(text.tags)
    return tags


def _contexts(text: LinkedText, rows: NDArray[np.int64], classes: Classes) -> NDArray[np.float64]:
    """Return the roots of the chances of the classes of previous and next words, by row, float64[R, C].

    ``rows``: the row that each word of the text counts for; none if negative.
    """
    of_types = np.array([classes.get(lower_form(form), RARE_CLASS) for form in text.vocabulary])
    place = of_types[text.types]
    size = max(classes.values(), default=RARE_CLASS) + 1
    before, after = np.roll(place, 1), np.roll(place, -1)
    before[text.starts[:-1]] = after[text.starts[1:] - 1] = BOUNDARY_CLASS
    counts = np.zeros((rows.max() + 1, 2 * size))
    for neighbour in (before, size + after):
        np.add.at(counts, (rows[rows >= 0], neighbour[rows >= 0]), 1.0)
    return np.sqrt(normalised(counts))


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


def contradictions(
    text: LinkedText, tag_words: TagWords, sentences: Sequence[int], options: TagProjectionOptions
) -> list[Contradiction]:
    """Return frequent words whose tags in ``sentences`` contradict their links, the commonest first."""
    words = words_of(text, options.frequent)
    given: dict[int, Counter[str]] = {}
    for sentence in sentences:
        of_sentence = words.of_types[text.types[text.words_of(sentence)]]
        for word, tag in zip(of_sentence.tolist(), tag_words(text.sentences[sentence]), strict=True):
            if words.frequent[word]:
                given.setdefault(word, Counter())[tag] += 1
    names = dict(zip(words.of_types.tolist(), map(lower_form, text.vocabulary), strict=True))
    shares = normalised(words.votes)
    found = []
    for word, counts in given.items():
        best = int(shares[word].argmax())
        tag, count = min(counts.items(), key=lambda one: (-one[1], one[0]))
        if tag != text.tags[best] and shares[word, best] >= HALF and count > HALF * counts.total():
            linked = text.tags[best], float(shares[word, best])
            share = count / counts.total()
            found.append(Contradiction(names[word], int(words.counts[word]), linked, (tag, share)))
    return sorted(found, key=lambda one: (-one.count, one.word))
